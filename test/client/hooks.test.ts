import { runInNewContext } from 'node:vm'
import type {
  CampaignClient,
  ClientHooks,
  EndEvent,
  InvalidResponseEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
} from 'campaign-client'
import { ServiceError, UnexpectedResponseError } from 'campaign-client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { settle } from '../call/fake-time.ts'
import { whenIdle } from '../call/real-connections.ts'
import { hanging, lost, refusal, respond, type Step, scriptedFetch } from '../call/scripted-fetch.ts'
import { scriptedTransports } from '../call/scripted-transports.ts'
import { operation } from '../contract/operations.ts'
import { clientWith, rejection } from './stub-service.ts'

const HOOKS = ['onRequest', 'onResponse', 'onRetry', 'onInvalidResponse'] as const satisfies (keyof ClientHooks)[]
const valid = respond(200, { success: true, data: { used_by: ['ada'] } })
const invalid = respond(200, { success: true, data: { used_by: 'ada' } })
const request = { code: 'WELCOME', pid: 'demo' }

beforeEach(() => {
  // No waits between attempts.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.restoreAllMocks()
})

describe.each(scriptedTransports())('over $name', ({ script }) => {
  /** Returns all events of a call with the names of their hooks, in order. */
  async function eventsOf(steps: readonly [Step, ...Step[]], run = operation('getInviteCode').run) {
    const events: [string, unknown][] = []
    const hooks = Object.fromEntries(HOOKS.map((name) => [name, (event: unknown) => events.push([name, event])]))
    const client = clientWith({
      ...script(...steps).via,
      hooks,
      maxRetries: 2,
      responseValidation: 'report',
    })
    const result = await run(client).catch((error: unknown) => error)
    return { events, result }
  }

  describe('the hooks are called', () => {
    const callId: string = expect.any(String)
    const first: RequestEvent = { callId, operation: 'getInviteCode', method: 'GET', path: 'code', attempt: 1 }
    const answered = { durationMs: expect.any(Number), headers: expect.any(Object) }

    it('for a request and its response', async () => {
      const { events } = await eventsOf([valid])
      expect(events).toEqual([
        ['onRequest', first],
        ['onResponse', { ...first, ...answered, status: 200 }],
      ])
      const [, { durationMs, headers }] = events[1] as [string, ResponseEvent]
      expect(durationMs).toBeGreaterThanOrEqual(0)
      expect(headers).toEqual({ 'content-type': 'application/json' })
    })

    it('with the method and the configured path of a write', async () => {
      const { events } = await eventsOf([respond(200, { success: true })], operation('registerWebhook').run)
      expect(events[0]).toEqual([
        'onRequest',
        { callId, operation: 'registerWebhook', method: 'POST', path: 'webhooks', attempt: 1 },
      ])
    })

    it('for an error response', async () => {
      const { events, result } = await eventsOf([refusal(404)])
      expect(events.map(([name]) => name)).toEqual(['onRequest', 'onResponse'])
      expect(events[1]?.[1]).toMatchObject({ status: 404 })
      expect(result).toHaveProperty('status', 404)
    })

    it('for each retry with its wait and error', async () => {
      const { events, result } = await eventsOf([refusal(503, { 'retry-after': '0' }), lost, valid])
      expect(result).toEqual({ used_by: ['ada'] })
      const second = { ...first, attempt: 2 }
      const third = { ...first, attempt: 3 }
      expect(events).toEqual([
        ['onRequest', first],
        ['onResponse', { ...first, ...answered, status: 503 }],
        ['onRetry', { ...first, delayMs: 0, error: expect.objectContaining({ code: 'service_error', status: 503 }) }],
        ['onRequest', second],
        [
          'onRetry',
          { ...second, delayMs: 0, error: expect.objectContaining({ code: 'network', systemCode: 'ECONNRESET' }) },
        ],
        ['onRequest', third],
        ['onResponse', { ...third, ...answered, status: 200 }],
      ])
      const [, { error }] = events[2] as [string, RetryEvent]
      expect(error).toBeInstanceOf(ServiceError)
    })

    it('for the last failure, but without onRetry', async () => {
      const { events } = await eventsOf([refusal(503)])
      expect(events.filter(([name]) => name === 'onRequest')).toHaveLength(3)
      expect(events.filter(([name]) => name === 'onRetry')).toHaveLength(2)
    })

    it('only if a request is sent', async () => {
      const { events } = await eventsOf([valid], (client) => client.getInviteCode({ code: '', pid: '' }))
      expect(events).toEqual([])
    })

    it('for data that does not fit its schema, which the call returns unchanged', async () => {
      const { events, result } = await eventsOf([invalid])
      expect(result).toEqual({ used_by: 'ada' })
      const event: InvalidResponseEvent = {
        callId,
        operation: 'getInviteCode',
        status: 200,
        issues: [{ path: ['data', 'used_by'], message: 'expected array, received string' }],
      }
      expect(events.at(-1)).toEqual(['onInvalidResponse', event])
      expect(events.map(([name]) => name)).toEqual(['onRequest', 'onResponse', 'onInvalidResponse'])
    })
  })

  describe('callId', () => {
    it('is the same in all events of a call and differs between calls', async () => {
      const ids: string[] = []
      const addId = ({ callId }: { callId: string }) => ids.push(callId)
      const hooks = { onRequest: addId, onResponse: addId, onRetry: addId, onInvalidResponse: addId, onEnd: addId }
      const client = clientWith({
        ...script(refusal(503), invalid).via,
        hooks,
        maxRetries: 1,
        responseValidation: 'report',
      })
      await client.getInviteCode(request)
      expect(ids).toHaveLength(7)
      expect(new Set(ids).size).toBe(1)
      await client.getInviteCode(request)
      expect(new Set(ids).size).toBe(2)
    })
  })

  describe('onEnd is called exactly once', () => {
    const reason = new Error('enough')
    const award = { address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'r-1', xp: 1 }

    async function endOf(
      steps: readonly [Step, ...Step[]],
      run: (client: CampaignClient) => Promise<unknown>,
      onRetry?: ClientHooks['onRetry'],
    ) {
      const onEnd = vi.fn()
      const client = clientWith({ ...script(...steps).via, hooks: { onEnd, onRetry }, maxRetries: 1 })
      const result = await run(client).catch((error: unknown) => error)
      expect(onEnd).toHaveBeenCalledTimes(1)
      const [event] = onEnd.mock.calls[0] as [EndEvent]
      expect(event.durationMs).toBeGreaterThanOrEqual(0)
      expect(event.callId).toEqual(expect.any(String))
      return { event, result }
    }

    it('after success, with the number of attempts', async () => {
      const { event } = await endOf([refusal(503), valid], (client) => client.getInviteCode(request))
      expect(event).toMatchObject({ operation: 'getInviteCode', attempts: 2 })
      expect(event).not.toHaveProperty('error')
      expect(event).not.toHaveProperty('outcome')
    })

    it('after a failure, with the error that the call rejects with', async () => {
      const { event, result } = await endOf([lost], (client) => client.rewardWallet(award))
      expect(event).toMatchObject({ operation: 'rewardWallet', attempts: 2, outcome: 'unknown' })
      expect(event.error).toBe(result)
    })

    it('after an invalid argument, with 0 attempts', async () => {
      const { event, result } = await endOf([lost], (client) => client.rewardWallet({ ...award, xp: Number.NaN }))
      expect(event).toMatchObject({ attempts: 0, outcome: 'not_applied' })
      expect(event.error).toBe(result)
    })

    it('after an abort before the first request', async () => {
      const signal = AbortSignal.abort(reason)
      const { event, result } = await endOf([hanging], (client) => client.rewardWallet(award, { signal }))
      expect(result).toBe(reason)
      expect(event).toMatchObject({ error: reason, attempts: 0, outcome: 'not_applied' })
    })

    it('after an abort during an attempt', async () => {
      const { event, result } = await endOf([hanging], (client) => abortInFlight(client, reason))
      expect(result).toBe(reason)
      expect(event).toMatchObject({ error: reason, attempts: 1, outcome: 'unknown' })
    })

    const abortInFlight = async (client: CampaignClient, why: unknown): Promise<unknown> => {
      const aborter = new AbortController()
      const call = client.rewardWallet(award, { signal: aborter.signal })
      await whenIdle()
      aborter.abort(why)
      return call
    }

    describe('after an abort whose reason is the error of another call,', () => {
      let otherError: unknown
      beforeEach(async () => {
        otherError = await rejection(clientWith().getInviteCode({ code: '', pid: 'demo' }))
        expect(otherError).not.toHaveProperty('outcome')
      })

      it('during an attempt', async () => {
        const { event, result } = await endOf([hanging], (client) => abortInFlight(client, otherError))
        expect(result).toBe(otherError)
        expect(event).toMatchObject({ error: otherError, attempts: 1, outcome: 'unknown' })
      })

      it.each<[string, Step, 'not_applied' | 'unknown']>([
        ['a 503', respond(503, {}, { 'retry-after': '20' }), 'unknown'],
        ['a 429', respond(429, {}, { 'retry-after': '20' }), 'not_applied'],
      ])('during a wait after %s', async (_, step, outcome) => {
        const aborter = new AbortController()
        const { event, result } = await endOf(
          [step],
          (client) => client.rewardWallet(award, { signal: aborter.signal }),
          // Runs after the wait has begun.
          () => setImmediate(() => aborter.abort(otherError)),
        )
        expect(result).toBe(otherError)
        expect(event).toMatchObject({ error: otherError, attempts: 1, outcome })
      })
    })
  })

  describe("responseValidation: 'report'", () => {
    const reporting = (step: Step, hooks: ClientHooks = {}) =>
      clientWith({ ...script(step).via, responseValidation: 'report', hooks })

    it('transforms data that fits its schema', async () => {
      const quest = { id: 'q', name: 'Q', actions: [], xp: 1, xp_mul: '1.5', deps: [] }
      const onInvalidResponse = vi.fn()
      const client = reporting(
        respond(200, { success: true, data: { id: 'd', name: 'D', actions: [], quests: [quest] } }),
        {
          onInvalidResponse,
        },
      )
      expect((await client.getCampaignInfo({ pid: 'd' })).quests[0]?.xp_mul).toBe(1.5)
      expect(onInvalidResponse).not.toHaveBeenCalled()
    })

    it('works without a hook', async () => {
      expect(await reporting(invalid).getInviteCode(request)).toEqual({ used_by: 'ada' })
    })

    it.each<[string, Step]>([
      ['a body that is not JSON', () => new Response('<h1>hi</h1>')],
      ['a body without an envelope', respond(200, {})],
      ['a redirect', () => new Response(null, { status: 302, headers: { location: '/' } })],
    ])('still rejects after %s', async (_, step) => {
      const onInvalidResponse = vi.fn()
      expect(await rejection(reporting(step, { onInvalidResponse }).getInviteCode(request))).toBeInstanceOf(
        UnexpectedResponseError,
      )
      expect(onInvalidResponse).not.toHaveBeenCalled()
    })

    it('still rejects after an error response', async () => {
      expect(await rejection(reporting(refusal(400)).getInviteCode(request))).toHaveProperty('code', 'bad_request')
    })

    it("is not the default: 'throw' calls no hook", async () => {
      const onInvalidResponse = vi.fn()
      const client = clientWith({ ...script(invalid).via, hooks: { onInvalidResponse } })
      expect(await rejection(client.getInviteCode(request))).toBeInstanceOf(UnexpectedResponseError)
      expect(onInvalidResponse).not.toHaveBeenCalled()
    })
  })

  describe('a hook', () => {
    const failing: [string, () => unknown][] = [
      [
        'throws',
        () => {
          throw new Error('the logger is down')
        },
      ],
      [
        'throws undefined',
        () => {
          throw undefined
        },
      ],
      ['rejects', async () => Promise.reject(new Error('the logger is down'))],
      ['rejects with the promise of another realm', () => runInNewContext('Promise.reject(new Error())')],
      [
        'returns a thenable that throws',
        () => ({
          // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable.
          get then() {
            throw new Error('the logger is down')
          },
        }),
      ],
      ['never settles', () => new Promise(() => undefined)],
    ]

    it.each(failing)('that %s does not fail the call and leaves no unhandled rejection', async (_, fail) => {
      const rejections: unknown[] = []
      const onRejection = (reason: unknown) => rejections.push(reason)
      process.on('unhandledRejection', onRejection)
      try {
        const hook = vi.fn(fail)
        const hooks = Object.fromEntries([...HOOKS, 'onEnd'].map((name) => [name, hook]))
        const { via } = script(refusal(503), invalid)
        const client = clientWith({ ...via, hooks, maxRetries: 1, responseValidation: 'report' })
        expect(await client.getInviteCode(request)).toEqual({ used_by: 'ada' })
        expect(hook).toHaveBeenCalledTimes(7)
        // Node reports unhandled rejections after all microtasks.
        await new Promise((resolve) => setImmediate(resolve))
        expect(rejections).toEqual([])
      } finally {
        process.off('unhandledRejection', onRejection)
      }
    })

    it('of a Proxy that throws does not fail the call', async () => {
      let isBroken = false
      const hooks = new Proxy(
        { onEnd: () => undefined },
        {
          get(target, name) {
            if (isBroken) throw new Error('the logger is down')
            return Reflect.get(target, name)
          },
        },
      )
      const client = clientWith({ ...script(refusal(503), valid).via, hooks, maxRetries: 1 })
      isBroken = true
      expect(await client.getInviteCode(request)).toEqual({ used_by: ['ada'] })
    })

    it('that changes its event does not change the request or other events', async () => {
      const onRequest = (event: RequestEvent) => {
        Object.assign(event, { operation: 'updateUser', method: 'POST', path: '/', attempt: 7 })
      }
      const seen: ResponseEvent[] = []
      const { via, sent } = script(valid)
      await clientWith({ ...via, hooks: { onRequest, onResponse: (event) => seen.push(event) } }).getInviteCode(request)
      expect(sent[0]?.method).toBe('GET')
      expect(seen).toEqual([
        expect.objectContaining({ operation: 'getInviteCode', method: 'GET', path: 'code', attempt: 1 }),
      ])
    })

    it('may be a method of a class instance with other fields', async () => {
      class Base {
        readonly seen: string[] = []
      }
      class Tracer extends Base implements ClientHooks {
        readonly #prefix = 'saw '
        onRequest({ operation }: RequestEvent): void {
          this.seen.push(this.#prefix + operation)
        }
      }
      const hooks = new Tracer()
      await clientWith({ ...script(valid).via, hooks }).getInviteCode(request)
      expect(hooks.seen).toEqual(['saw getInviteCode'])
      class Wrong {
        onRequest = 'not a function'
      }
      expect(() => clientWith({ hooks: new Wrong() as never })).toThrow('hooks.onRequest must be a function')
    })

    it('with an unknown name is refused, even in an object of another realm', () => {
      for (const hooks of [
        { onRequests: () => undefined },
        Object.assign(Object.create(null), { onRequests: () => undefined }),
        runInNewContext('({ onRequests() {} })'),
      ]) {
        expect(() => clientWith({ hooks })).toThrow('hooks.onRequests is not an option')
      }
    })
  })
})

it('callId is unique across copies of the package', async () => {
  const ids = new Set<string>()
  for (let copy = 0; copy < 3; copy++) {
    vi.resetModules()
    const { CampaignClient } = await import('campaign-client')
    const { fetch } = scriptedFetch(valid)
    const hooks: ClientHooks = { onEnd: ({ callId }) => ids.add(callId) }
    const client = new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'token', fetch, hooks })
    await client.getInviteCode(request)
    await client.getInviteCode(request)
  }
  expect(ids.size).toBe(6)
})

it('durationMs is that of the attempt for onResponse, and that of the call with its waits for onEnd', async () => {
  vi.useFakeTimers()
  try {
    vi.advanceTimersByTime(1_000)
    const slow: Step = async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      return valid(request)
    }
    const hooks = { onResponse: vi.fn(), onEnd: vi.fn() }
    const { fetch } = scriptedFetch(refusal(503, { 'retry-after': '7' }), slow)
    await settle(clientWith({ fetch, hooks, maxRetries: 1 }).getInviteCode(request))
    expect(hooks.onResponse.mock.calls).toMatchObject([[{ durationMs: 0 }], [{ durationMs: 3_000 }]])
    expect(hooks.onEnd.mock.calls).toMatchObject([[{ attempts: 2, durationMs: 10_000 }]])
  } finally {
    vi.useRealTimers()
  }
})

it.each([
  ['with hooks', { onEnd: () => undefined }],
  ['without hooks', undefined],
])('%s, a failed call without a rejection handler is an unhandled rejection', async (_, hooks) => {
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  try {
    const rejections = new Promise((resolve) => process.once('unhandledRejection', resolve))
    const { fetch } = scriptedFetch(refusal(503))
    void clientWith({ fetch, maxRetries: 0, ...(hooks && { hooks }) }).getInviteCode(request)
    expect(await rejections).toBeInstanceOf(ServiceError)
  } finally {
    for (const listener of others) process.on('unhandledRejection', listener)
  }
})
