import { getEventListeners } from 'node:events'
import { CampaignClient, type CampaignClientOptions, CampaignError } from 'campaign-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { onAbort } from '../../src/shared/timers.ts'
import { type Operation, operation, operations } from '../contract/operations.ts'
import { immediateRejection, rejection, settle } from './fake-time.ts'
import { hanging, lost, refusal, respond, type Step, scriptedFetch } from './scripted-fetch.ts'

const read = operation('getCampaignPoints')
const award = operation('rewardWallet')
const success = respond(200, { success: true, data: read.data })
const ignoresSignal: Step = () => new Promise(() => undefined)

function clientOf(options: Partial<CampaignClientOptions>): CampaignClient {
  return new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'token',
    webhookRegistrationPath: 'webhooks',
    ...options,
  })
}

const unhandled = vi.fn()
const warnings = vi.fn()

beforeEach(() => {
  unhandled.mockReset()
  warnings.mockReset()
  process.on('unhandledRejection', unhandled)
  process.on('warning', warnings)
})

afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  // Node emits both events after the current turn.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', unhandled)
  process.off('warning', warnings)
  expect(unhandled).not.toHaveBeenCalled()
  expect(warnings).not.toHaveBeenCalled()
})

const reasons: readonly [string, unknown][] = [
  ['an error', new Error('the user has left')],
  ['a string', 'enough'],
  ['an object', { because: 'of this' }],
  ['null', null],
  ['false', false],
]

interface Stage {
  readonly at: string
  /** Starts a call, which is at the stage after all microtasks. */
  readonly start: (of: Operation, signal: AbortSignal) => Promise<unknown>
}

const stages: readonly Stage[] = [
  {
    at: 'while the token is fetched',
    start: (of, signal) =>
      of.run(clientOf({ accessToken: () => new Promise(() => undefined), fetch: scriptedFetch(success).fetch }), {
        signal,
      }),
  },
  {
    at: 'during an attempt',
    start: (of, signal) => of.run(clientOf({ fetch: scriptedFetch(hanging).fetch }), { signal }),
  },
  {
    at: 'during an attempt of a fetch that ignores its signal',
    start: (of, signal) => of.run(clientOf({ fetch: scriptedFetch(ignoresSignal).fetch }), { signal }),
  },
  {
    at: 'during the body',
    start: (of, signal) => {
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) })
      return of.run(clientOf({ fetch: scriptedFetch(() => new Response(body)).fetch }), { signal })
    },
  },
  {
    at: 'during the wait before a retry',
    start: (of, signal) =>
      of.run(clientOf({ fetch: scriptedFetch(refusal(429, { 'retry-after': '20' }), success).fetch }), { signal }),
  },
  {
    at: 'while the token is renewed after a 401',
    start: (of, signal) => {
      const accessToken = vi
        .fn<() => Promise<string>>()
        .mockResolvedValueOnce('first')
        .mockReturnValue(new Promise(() => undefined))
      return of.run(clientOf({ accessToken, fetch: scriptedFetch(refusal(401)).fetch }), { signal })
    },
  },
]

describe.each(stages)('an abort $at', ({ at, start }) => {
  beforeEach(() => {
    vi.useFakeTimers()
  })

  test.each(reasons)('rejects immediately with the abort reason itself: %s', async (_, reason) => {
    const controller = new AbortController()
    const call = start(award, controller.signal)
    call.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(5)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort(reason)
    expect(await immediateRejection(call)).toBe(reason)
  })

  test('without a reason rejects with an AbortError, and leaves no listener and no timer', async () => {
    const controller = new AbortController()
    const call = start(read, controller.signal)
    call.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(5)
    controller.abort()
    const reason = await immediateRejection(call)
    expect(reason).toBe(controller.signal.reason)
    expect(reason).toHaveProperty('name', 'AbortError')
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    // A pending token source keeps its 30 s timer, which does not keep the process alive.
    expect(vi.getTimerCount()).toBe(at.includes('token') ? 1 : 0)
  })
})

describe('an abort before the call', () => {
  test.each(operations)('$name sends nothing and asks for no token', async (of) => {
    const reason = new Error('too late')
    const accessToken = vi.fn(() => 'token')
    const { fetch, sent } = scriptedFetch(success)
    const call = of.run(clientOf({ accessToken, fetch }), { signal: AbortSignal.abort(reason) })
    expect(await call.catch((error: unknown) => error)).toBe(reason)
    expect(sent).toHaveLength(0)
    expect(accessToken).not.toHaveBeenCalled()
  })
})

describe('an abort in a callback:', () => {
  test('in the token source, nothing is sent', async () => {
    const controller = new AbortController()
    const { fetch, sent } = scriptedFetch(success)
    const accessToken = (): string => {
      controller.abort('from the source')
      return 'token'
    }
    const call = award.run(clientOf({ fetch, accessToken }), { signal: controller.signal })
    expect(await call.catch((error: unknown) => error)).toBe('from the source')
    expect(sent).toHaveLength(0)
  })

  test('in onRequest, nothing is sent, and onEnd reports 0 attempts', async () => {
    const controller = new AbortController()
    const { fetch, sent } = scriptedFetch(success)
    const onEnd = vi.fn()
    const hooks = { onRequest: () => controller.abort('from onRequest'), onEnd }
    const call = award.run(clientOf({ fetch, hooks }), { signal: controller.signal })
    expect(await call.catch((error: unknown) => error)).toBe('from onRequest')
    expect(sent).toHaveLength(0)
    expect(onEnd).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ attempts: 0, outcome: 'not_applied' }))
  })

  test.each([
    ['before a wait', refusal(429, { 'retry-after': '20' })],
    ['before a retry without a wait', refusal(429, { 'retry-after': '0' })],
  ])('in onRetry %s, no other attempt is sent', async (_, step) => {
    const controller = new AbortController()
    const { fetch, sent } = scriptedFetch(step)
    const hooks = { onRetry: () => controller.abort('from onRetry') }
    const call = award.run(clientOf({ fetch, hooks }), { signal: controller.signal })
    expect(await call.catch((error: unknown) => error)).toBe('from onRetry')
    expect(sent).toHaveLength(1)
  })

  test('in fetch, the call rejects with the abort reason, not with the error of fetch', async () => {
    const controller = new AbortController()
    const { fetch, sent } = scriptedFetch(() => {
      controller.abort('from fetch')
      throw new Error('something else')
    })
    const call = award.run(clientOf({ fetch }), { signal: controller.signal })
    expect(await call.catch((error: unknown) => error)).toBe('from fetch')
    expect(sent).toHaveLength(1)
  })
})

describe("the abort reason for a partner's fetch", () => {
  class WithoutText {
    toString(): never {
      throw new Error('no text')
    }
  }
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const nonErrors: readonly [string, unknown][] = [
    ['a revoked Proxy', proxy],
    ['a symbol', Symbol('enough')],
    ['a string', 'enough'],
    ['null', null],
    ['a number', 0],
    ['a function', () => 'enough'],
    ['an object whose toString throws', new WithoutText()],
    ['an object without a prototype', Object.create(null)],
    ['an object whose toStringTag ends with Error', { [Symbol.toStringTag]: 'MyError' }],
  ]

  /** A `fetch` that logs its abort reason. */
  function loggingFetch() {
    const logged: string[] = []
    const reasons: unknown[] = []
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => {
          const reason: unknown = init.signal?.reason
          reasons.push(reason)
          logged.push(`aborted: ${reason}`)
          reject(reason)
        })
      })
    return { fetch, logged, reasons }
  }

  test.each(nonErrors)('is an error even if the caller aborts with %s', async (_, reason) => {
    vi.useFakeTimers()
    const { fetch, logged, reasons } = loggingFetch()
    const controller = new AbortController()
    let isReason: boolean | undefined
    // Compare here, because some of these reasons cannot be printed by a failed assertion.
    const call = award.run(clientOf({ fetch }), { signal: controller.signal }).catch((error: unknown) => {
      isReason = Object.is(error, reason)
    })
    await vi.advanceTimersByTimeAsync(5)
    controller.abort(reason)
    await call
    expect(isReason).toBe(true)
    expect(reasons).toEqual([expect.objectContaining({ name: 'AbortError' })])
    expect(reasons[0]).toBeInstanceOf(Error)
    expect(logged).toEqual(['aborted: AbortError: This operation was aborted'])
  })

  test("is the caller's reason if that reason is an error", async () => {
    vi.useFakeTimers()
    const { fetch, reasons } = loggingFetch()
    const mine = [new Error('mine'), new DOMException('mine', 'QuotaExceededError')]
    for (const reason of mine) {
      const controller = new AbortController()
      const call = award.run(clientOf({ fetch }), { signal: controller.signal })
      call.catch(() => undefined)
      await vi.advanceTimersByTimeAsync(5)
      controller.abort(reason)
      expect(await immediateRejection(call)).toBe(reason)
      expect(reasons.pop()).toBe(reason)
    }
  })

  test.each([{ timeoutMs: 50, maxRetries: 0 }, { totalTimeoutMs: 50 }])(
    'is a TimeoutError after a timeout: %j',
    async (limits) => {
      vi.useFakeTimers()
      const { fetch, reasons, logged } = loggingFetch()
      expect(await rejection(award.run(clientOf({ fetch, ...limits })))).toHaveProperty('code', 'timeout')
      const timeoutError = { name: 'TimeoutError', message: expect.stringContaining('due to timeout') }
      expect(reasons).toEqual([expect.objectContaining(timeoutError)])
      expect(reasons[0]).toBeInstanceOf(Error)
      expect(logged[0]).toMatch(/^aborted: TimeoutError/)
    },
  )
})

describe('a signal that outlives its calls', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })

  test.each([
    ['a success', success],
    ['a refusal', refusal(400)],
    ['retries', lost],
    ['attempt timeouts', hanging],
    ['waits', refusal(429, { 'retry-after': '1' })],
  ])('has no listener after %s', async (_, step) => {
    const { signal } = new AbortController()
    const { fetch } = scriptedFetch(step)
    await settle(read.run(clientOf({ fetch }), { signal }))
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('keeps the listeners that the caller added', async () => {
    const controller = new AbortController()
    const listener = vi.fn()
    controller.signal.addEventListener('abort', listener)
    await settle(read.run(clientOf({ fetch: scriptedFetch(lost).fetch }), { signal: controller.signal }))
    controller.abort()
    expect(listener).toHaveBeenCalledOnce()
  })

  test('has one listener for 64 concurrent calls, and each call rejects with its reason', async () => {
    const controller = new AbortController()
    const client = clientOf({ fetch: scriptedFetch(hanging).fetch })
    const calls = Array.from({ length: 64 }, () => read.run(client, { signal: controller.signal }))
    const settled = Promise.allSettled(calls)
    await vi.advanceTimersByTimeAsync(5)
    // Node warns about a possible leak at 11 listeners.
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    const reason = new Error('all of them')
    controller.abort(reason)
    for (const call of await settled) expect(call).toEqual({ status: 'rejected', reason })
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  test('has no effect if it aborts after its call', async () => {
    const controller = new AbortController()
    const result = await settle(
      read.run(clientOf({ fetch: scriptedFetch(success).fetch }), { signal: controller.signal }),
    )
    controller.abort()
    expect(result).toEqual({ status: 'fulfilled', value: read.data })
  })

  test('aborts only the call it was passed to', async () => {
    const mine = new AbortController()
    let finish: (response: Response) => void = () => undefined
    const { fetch } = scriptedFetch(
      hanging,
      () =>
        new Promise((resolve) => {
          finish = resolve
        }),
    )
    const client = clientOf({ fetch })
    const aborted = read.run(client, { signal: mine.signal })
    const other = read.run(client)
    aborted.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(5)
    mine.abort('mine')
    expect(await immediateRejection(aborted)).toBe('mine')
    finish(Response.json({ success: true, data: read.data }))
    expect(await settle(other)).toEqual({ status: 'fulfilled', value: read.data })
  })
})

describe('signals not created by an AbortController', () => {
  /** A polyfill of the first edition of the standard. */
  class OldSignal extends EventTarget {
    aborted = false
    reason: unknown
    abort(reason: unknown): void {
      this.aborted = true
      this.reason = reason
      this.dispatchEvent(new Event('abort'))
    }
  }
  const asSignal = (signal: OldSignal): AbortSignal => signal as unknown as AbortSignal

  test('of a polyfill end the call when they abort', async () => {
    vi.useFakeTimers()
    const signal = new OldSignal()
    const client = clientOf({ fetch: scriptedFetch(success, hanging).fetch })
    expect((await settle(read.run(client, { signal: asSignal(signal) }))).status).toBe('fulfilled')
    const call = read.run(client, { signal: asSignal(signal) })
    call.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(5)
    signal.abort('old')
    expect(await immediateRejection(call)).toBe('old')
    expect(await rejection(read.run(client, { signal: asSignal(signal) }))).toBe('old')
  })

  test('of a polyfill without reasons reject the call with an AbortError', async () => {
    vi.useFakeTimers()
    const signal = new OldSignal()
    const call = read.run(clientOf({ fetch: scriptedFetch(hanging).fetch }), { signal: asSignal(signal) })
    call.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(5)
    signal.abort(undefined)
    const platformReason = AbortSignal.abort().reason
    for (const reason of [
      await immediateRejection(call),
      await rejection(read.run(clientOf({ fetch: scriptedFetch(success).fetch }), { signal: asSignal(signal) })),
    ]) {
      expect(reason).toBeInstanceOf(DOMException)
      expect(reason).toMatchObject({ name: platformReason.name, message: platformReason.message })
    }
  })

  test('of a polyfill end the wait for a retry or a token', async () => {
    vi.useFakeTimers()
    for (const options of [
      { fetch: scriptedFetch(refusal(429, { 'retry-after': '20' })).fetch },
      { accessToken: () => new Promise<string>(() => undefined) },
    ]) {
      const signal = new OldSignal()
      const call = read.run(clientOf(options), { signal: asSignal(signal) })
      call.catch(() => undefined)
      await vi.advanceTimersByTimeAsync(5)
      signal.abort(undefined)
      expect(await immediateRejection(call)).toHaveProperty('name', 'AbortError')
    }
  })

  test.each(['addEventListener', 'removeEventListener'])(
    'without %s are refused before a request is sent',
    async (name) => {
      const { fetch, sent } = scriptedFetch(success)
      const signal = Object.assign(new OldSignal(), { [name]: undefined })
      const error = await read.run(clientOf({ fetch }), { signal: asSignal(signal) }).catch((reason: unknown) => reason)
      expect(error).toHaveProperty('code', 'invalid_request')
      expect(sent).toHaveLength(0)
    },
  )

  test('of AbortSignal.any and AbortSignal.timeout end the call with their reason', async () => {
    const controller = new AbortController()
    const client = clientOf({ fetch: scriptedFetch(hanging).fetch })
    const call = read.run(client, { signal: AbortSignal.any([controller.signal]) })
    controller.abort('any')
    expect(await call.catch((error: unknown) => error)).toBe('any')

    const signal = AbortSignal.timeout(5)
    const reason = await read.run(client, { signal }).catch((error: unknown) => error)
    expect(reason).toBe(signal.reason)
    expect(reason).toHaveProperty('name', 'TimeoutError')
    expect(reason).not.toBeInstanceOf(CampaignError)
  })
})

describe('onAbort', () => {
  test('all callbacks share one listener, which is removed with the last callback', () => {
    const { signal } = new AbortController()
    const removals = Array.from({ length: 1000 }, () => onAbort(signal, () => undefined))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    const last = removals.pop()
    for (const remove of removals) remove()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    last?.()
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('removing a callback twice does not affect later ones', () => {
    const controller = new AbortController()
    const remove = onAbort(controller.signal, () => undefined)
    remove()
    const callback = vi.fn()
    onAbort(controller.signal, callback)
    remove()
    controller.abort()
    expect(callback).toHaveBeenCalledOnce()
  })

  test('a removed callback is not called, and removing one during an event does not affect the others', () => {
    const controller = new AbortController()
    const removed = vi.fn()
    const callback = vi.fn()
    const remove = onAbort(controller.signal, removed)
    const removals = [onAbort(controller.signal, () => removals[0]?.()), onAbort(controller.signal, callback)]
    remove()
    controller.abort()
    expect(removed).not.toHaveBeenCalled()
    expect(callback).toHaveBeenCalledOnce()
  })

  test('each signal has its own callbacks', () => {
    const [mine, other] = [new AbortController(), new AbortController()]
    const onMine = vi.fn()
    const onOther = vi.fn()
    onAbort(mine.signal, onMine)
    onAbort(other.signal, onOther)
    mine.abort()
    expect(onMine).toHaveBeenCalledOnce()
    expect(onOther).not.toHaveBeenCalled()
  })
})
