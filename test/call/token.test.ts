import { inspect } from 'node:util'
import {
  AccessTokenError,
  CampaignClient,
  type CampaignClientOptions,
  TimeoutError,
  UnauthorizedError,
} from 'campaign-client'
import { SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { clientInternals } from '../../src/shared/client-internals.ts'
import { operation } from '../contract/operations.ts'
import { immediateRejection, rejection, settle } from './fake-time.ts'
import { hanging, refusal, respond, type Step } from './scripted-fetch.ts'
import { scriptedTransports } from './scripted-transports.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const KEY = new TextEncoder().encode('a key of at least thirty-two bytes')
const read = operation('getCampaignPoints')
const award = operation('rewardWallet')
const record = operation('recordActionValue')
const success = respond(200, { success: true, data: read.data })

/** A source of signed tokens. The caller signs them first, because signing takes real time. */
function sourceOf(...tokens: readonly string[]) {
  let calls = 0
  return vi.fn(async () => tokens[Math.min(calls++, tokens.length - 1)] as string)
}

let serial = 0
/** Signs a JWT that expires in a number of seconds, or has no `exp`. */
async function jwt(expiresInSeconds?: number): Promise<string> {
  const token = new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).setJti(String(++serial))
  if (expiresInSeconds !== undefined) token.setExpirationTime(Math.floor(Date.now() / 1000) + expiresInSeconds)
  return token.sign(KEY)
}

/** Returns an unsigned JWT with any payload. */
function unsigned(payload: unknown): string {
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')
  return `${encode({ alg: 'none' })}.${encode(payload)}.`
}

function clientOf(options: Partial<CampaignClientOptions>): CampaignClient {
  return new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'token', ...options })
}

const sentTokens = (sent: readonly { readonly authorization: string }[]): string[] =>
  sent.map(({ authorization }) => authorization.replace('Bearer ', ''))

/** Accepts one token and refuses all others. */
const acceptsOnly =
  (token: () => string): Step =>
  (request) =>
    request.authorization === `Bearer ${token()}` ? success(request) : refusal(401)(request)

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

const unhandled = vi.fn()

beforeEach(() => {
  unhandled.mockReset()
  process.on('unhandledRejection', unhandled)
  vi.useFakeTimers({ now: NOW })
})

afterEach(async () => {
  vi.useRealTimers()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})

describe.each(scriptedTransports())('over $name', ({ script }) => {
  describe('a token is cached', () => {
    test('until 30 s before its exp', async () => {
      const accessToken = sourceOf(await jwt(3600), await jwt(7200))
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      await settle(read.run(client))
      vi.setSystemTime(NOW + 3_569_999)
      await settle(read.run(client))
      expect(accessToken).toHaveBeenCalledTimes(1)
      vi.setSystemTime(NOW + 3_570_000)
      await settle(read.run(client))
      expect(accessToken).toHaveBeenCalledTimes(2)
      const [first, second, third] = sentTokens(sent)
      expect(second).toBe(first)
      expect(third).not.toBe(first)
    })

    test('for one call only if it expires within 30 s', async () => {
      const accessToken = sourceOf(await jwt(29))
      const { via } = script(success)
      const client = clientOf({ ...via, accessToken })
      for (let call = 0; call < 3; call++) expect((await settle(read.run(client))).status).toBe('fulfilled')
      expect(accessToken).toHaveBeenCalledTimes(3)
    })

    test.each([
      ['no exp', unsigned({ sub: 'partner' })],
      ['an exp that is a string', unsigned({ exp: '1767323045' })],
      ['an exp that is null', unsigned({ exp: null })],
      ['an exp after the last date', unsigned({ exp: 1e300 })],
      ['an exp of -1e400', `eyJhbGciOiJub25lIn0.${Buffer.from('{"exp":-1e400}').toString('base64url')}.`],
      ['a payload that is not an object', unsigned([1])],
      ['no payload', 'eyJhbGciOiJub25lIn0..'],
      ['no parts', 'opaque-token'],
      ['parts that are not base64url', 'a!b.c!d.e!f'],
    ])('until a 401 if it has %s', async (_, token) => {
      const accessToken = vi.fn(() => token)
      const { via } = script(success, success, refusal(401), success)
      const client = clientOf({ ...via, accessToken })
      await settle(read.run(client))
      vi.setSystemTime(NOW + 10 * 365 * 86_400_000)
      await settle(read.run(client))
      expect(accessToken).toHaveBeenCalledTimes(1)
      expect((await settle(read.run(client))).status).toBe('fulfilled')
      expect(accessToken).toHaveBeenCalledTimes(2)
    })

    test('during the retries of a call, and renewed if it expires during a wait', async () => {
      const accessToken = sourceOf(await jwt(40), await jwt(80))
      const { via, sent } = script(refusal(429, { 'retry-after': '5' }), refusal(429, { 'retry-after': '10' }), success)
      await settle(read.run(clientOf({ ...via, accessToken })))
      const [first, second, third] = sentTokens(sent)
      expect(second).toBe(first)
      expect(third).not.toBe(first)
      expect(accessToken).toHaveBeenCalledTimes(2)
    })

    test.each(['getUserProgress', 'rewardWallet'] as const)('without surrounding white space: %s', async (name) => {
      const { via, sent } = script(success)
      await settle(operation(name).run(clientOf({ ...via, accessToken: async () => '\n\t the-token \r\n' })))
      await settle(operation(name).run(clientOf({ ...via, accessToken: '  the-token\n' })))
      expect(sentTokens(sent)).toEqual(['the-token', 'the-token'])
    })
  })

  describe('a source', () => {
    test('is not called before the first call', () => {
      const accessToken = vi.fn(() => 'token')
      clientOf({ accessToken })
      expect(accessToken).not.toHaveBeenCalled()
    })

    test('is called once for concurrent calls', async () => {
      const accessToken = vi.fn(() => new Promise<string>((resolve) => setTimeout(() => resolve('shared'), 100)))
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      const calls = Array.from({ length: 64 }, () => read.run(client))
      await vi.advanceTimersByTimeAsync(50)
      calls.push(award.run(client))
      for (const call of calls) expect((await settle(call)).status).toBe('fulfilled')
      expect(accessToken).toHaveBeenCalledTimes(1)
      expect(new Set(sentTokens(sent))).toEqual(new Set(['shared']))
    })

    test('is not shared between clients', async () => {
      const accessToken = vi.fn(() => 'token')
      const { via } = script(success)
      await settle(read.run(clientOf({ ...via, accessToken })))
      await settle(read.run(clientOf({ ...via, accessToken })))
      expect(accessToken).toHaveBeenCalledTimes(2)
    })

    test('is called once after concurrent 401 responses', async () => {
      let valid = 'token-1'
      let calls = 0
      const accessToken = vi.fn(async () => `token-${++calls}`)
      const { via, sent } = script(acceptsOnly(() => valid))
      const client = clientOf({ ...via, accessToken })
      await settle(read.run(client))
      valid = 'token-2'
      const results = Array.from({ length: 20 }, () => read.run(client))
      for (const call of results) expect((await settle(call)).status).toBe('fulfilled')
      expect(accessToken).toHaveBeenCalledTimes(2)
      expect(sent).toHaveLength(41)
    })

    test('is not called again after a late 401 for the old token', async () => {
      let calls = 0
      const accessToken = vi.fn(async () => `token-${++calls}`)
      let answerSlowCall = (): void => undefined
      const quickIsDone = new Promise<void>((resolve) => {
        answerSlowCall = resolve
      })
      const late: Step = async (request) => {
        await quickIsDone
        return refusal(401)(request)
      }
      const { via, sent } = script(late, refusal(401), success)
      const client = clientOf({ ...via, accessToken })
      const slow = read.run(client)
      // Uses real time: fake time would wait for all busy connections.
      await read.run(client)
      answerSlowCall()
      expect((await settle(slow)).status).toBe('fulfilled')
      expect(sentTokens(sent)).toEqual(['token-1', 'token-1', 'token-2', 'token-2'])
      expect(accessToken).toHaveBeenCalledTimes(2)
    })

    test('is called again by the next call after a 401 if maxRetries is 0', async () => {
      let calls = 0
      const accessToken = vi.fn(() => `token-${++calls}`)
      const { via, sent } = script(acceptsOnly(() => 'token-2'))
      const client = clientOf({ ...via, accessToken, maxRetries: 0 })
      expect(await rejection(award.run(client))).toMatchObject({ code: 'unauthorized', outcome: 'not_applied' })
      expect(sent).toHaveLength(1)
      expect((await settle(award.run(client))).status).toBe('fulfilled')
      expect(sentTokens(sent)).toEqual(['token-1', 'token-2'])
    })

    test('is called again by the next call after a second 401', async () => {
      let calls = 0
      const { via, sent } = script(acceptsOnly(() => 'token-3'))
      const client = clientOf({ ...via, accessToken: () => `token-${++calls}` })
      expect(await rejection(read.run(client))).toBeInstanceOf(UnauthorizedError)
      expect((await settle(read.run(client))).status).toBe('fulfilled')
      expect(sentTokens(sent)).toEqual(['token-1', 'token-2', 'token-3'])
    })
  })

  describe('the arguments of a source', () => {
    test('are a signal and forceRefresh, and `this` is undefined', async () => {
      const seen: unknown[] = []
      function accessToken(this: unknown, ...given: unknown[]): string {
        seen.push(this, ...given)
        return 'token'
      }
      await settle(read.run(clientOf({ accessToken, ...script(success).via })))
      expect(seen).toEqual([undefined, { signal: expect.any(AbortSignal), forceRefresh: false }])
    })

    /** A source over a cache, as an identity library has. It counts its calls, and how often it bypassed the cache. */
    function cachingSource() {
      let issued = 0
      let cachedToken: string | undefined
      const forced: boolean[] = []
      const accessToken = ({ forceRefresh }: { forceRefresh: boolean }): string => {
        forced.push(forceRefresh)
        if (forceRefresh || cachedToken === undefined) cachedToken = `token-${++issued}`
        return cachedToken
      }
      return { accessToken, forced }
    }

    test('forceRefresh is true after the newest token was refused, so a cached token is replaced', async () => {
      const { accessToken, forced } = cachingSource()
      const { via, sent } = script(success, refusal(401), success, refusal(403), success)
      const client = clientOf({ ...via, accessToken })
      for (let call = 0; call < 4; call++) await settle(read.run(client))
      expect(sentTokens(sent)).toEqual(['token-1', 'token-1', 'token-2', 'token-2', 'token-2'])
      expect(forced).toEqual([false, true])
    })

    test('forceRefresh stays true until the source has given another token', async () => {
      const seen: boolean[] = []
      const accessToken = ({ forceRefresh }: { forceRefresh: boolean }): string => {
        if (seen.push(forceRefresh) === 2) throw new Error('the vault is sealed')
        return 'token'
      }
      const { via } = script(refusal(401), success)
      const client = clientOf({ ...via, accessToken })
      expect(await rejection(read.run(client))).toBeInstanceOf(AccessTokenError)
      await settle(read.run(client))
      expect(seen).toEqual([false, true, true])
    })
  })

  describe('a source that fails', () => {
    const thrown = new Error('vault is sealed')
    const failures: [string, () => unknown, RegExp][] = [
      [
        'throws',
        () => {
          throw thrown
        },
        /source failed.*vault is sealed/,
      ],
      ['rejects', () => Promise.reject(thrown), /source failed.*vault is sealed/],
      ['rejects with a string', () => Promise.reject('sealed'), /source failed.*sealed/],
      ['rejects with nothing', () => Promise.reject(), /source failed/],
      ['throws null', () => Promise.reject(null), /source failed/],
      [
        'throws an object that cannot be read',
        () => {
          const { proxy, revoke } = Proxy.revocable({}, {})
          revoke()
          throw proxy
        },
        /source failed/,
      ],
      ['returns an empty string', () => '', /an empty string/],
      ['returns white space', async () => ' \n ', /an empty string/],
      ['returns undefined', () => undefined, /type undefined/],
      ['returns null', async () => null, /no token|null|type object/],
      ['returns a number', () => 42, /type number/],
      ['returns an object', async () => ({ access_token: 'token-in-an-object' }), /type object/],
      ['returns two lines', () => 'secret-line\nx-evil: 1', /unusable string.*line breaks/],
      ['returns a header', () => 'Bearer secret-line', /unusable string.*"Bearer "/],
      ['returns inner white space', () => 'secret-line and more', /white space/],
      ['returns characters that a header cannot contain', () => 'secret-line-ü', /unusable string/],
      ['returns a NUL', () => 'secret-line\0', /unusable string/],
    ]

    test.each(failures)('%s: AccessTokenError, and nothing is sent', async (_, source, message) => {
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken: source as () => string })
      const error = await immediateRejection(award.run(client))
      expect(error).toBeInstanceOf(AccessTokenError)
      expect(error).toMatchObject({ code: 'access_token', operation: 'rewardWallet', outcome: 'not_applied' })
      expect((error as AccessTokenError).message).toMatch(message)
      expect(inspect(error, { showHidden: true, depth: 9 })).not.toMatch(/secret-line|token-in-an-object/)
      expect(sent).toHaveLength(0)
    })

    test.each([
      ['nothing', undefined],
      ['an error without a message', new Error()],
    ])('with %s has a message without details', async (_, reason) => {
      const error = await immediateRejection(read.run(clientOf({ accessToken: () => Promise.reject(reason) })))
      expect(error.message).toBe('getCampaignPoints: the access token source failed')
    })

    test('has its error as the cause, without other fields', async () => {
      const carried = Object.assign(new Error('vault is sealed'), {
        code: 'E_SEALED',
        request: { password: 'hunter2' },
      })
      const error = await immediateRejection(read.run(clientOf({ accessToken: () => Promise.reject(carried) })))
      expect((error as AccessTokenError).cause).toMatchObject({ message: 'vault is sealed', code: 'E_SEALED' })
      expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain('hunter2')
    })

    test('is not retried; the next call calls it again', async () => {
      const accessToken = vi.fn<() => Promise<string>>().mockRejectedValueOnce(thrown).mockResolvedValue('token')
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      expect(await immediateRejection(read.run(client))).toBeInstanceOf(AccessTokenError)
      expect(accessToken).toHaveBeenCalledTimes(1)
      expect((await settle(read.run(client))).status).toBe('fulfilled')
      expect(sent).toHaveLength(1)
    })

    test('fails all waiting calls, each with an error of its own operation', async () => {
      const accessToken = vi.fn(() => Promise.reject(thrown))
      const client = clientOf({ accessToken })
      const errors = await Promise.all([read, award, record].map((of) => immediateRejection(of.run(client))))
      expect(errors).toMatchObject([
        { code: 'access_token', operation: 'getCampaignPoints' },
        { code: 'access_token', operation: 'rewardWallet', outcome: 'not_applied' },
        { code: 'access_token', operation: 'recordActionValue', outcome: 'not_applied' },
      ])
      expect(errors[0]).not.toHaveProperty('outcome')
      expect(accessToken).toHaveBeenCalledTimes(1)
    })

    test('after a 401 fails the call with its own error', async () => {
      const accessToken = vi.fn<() => Promise<string>>().mockResolvedValueOnce('token').mockRejectedValue(thrown)
      const { via, sent } = script(refusal(401))
      const error = await immediateRejection(record.run(clientOf({ ...via, accessToken })))
      expect(error).toMatchObject({ code: 'access_token', outcome: 'not_applied' })
      expect(sent).toHaveLength(1)
    })
  })

  describe('a source that is slow or never settles', () => {
    const stuck = (): Promise<string> => new Promise(() => undefined)

    test('fails after the total timeout; a write is not applied', async () => {
      const { via, sent } = script(success)
      const startedAt = performance.now()
      const error = await rejection(record.run(clientOf({ ...via, accessToken: stuck, totalTimeoutMs: 5000 })))
      expect(error).toBeInstanceOf(TimeoutError)
      expect(error).toMatchObject({
        scope: 'total',
        timeoutMs: 5000,
        outcome: 'not_applied',
        message: 'recordActionValue: the access token source took longer than totalTimeoutMs (5000 ms)',
      })
      expect(performance.now() - startedAt).toBe(5000)
      expect(sent).toHaveLength(0)
    })

    test('leaves the rest of the total timeout to the attempt', async () => {
      const accessToken = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('token'), 800))
      const { via } = script(hanging)
      const startedAt = performance.now()
      const client = clientOf({ ...via, accessToken, totalTimeoutMs: 1000 })
      expect(await rejection(read.run(client))).toMatchObject({ scope: 'total', timeoutMs: 1000 })
      expect(performance.now() - startedAt).toBe(1000)
    })

    /** A source whose calls settle when the test decides. */
    function slowSource() {
      const finish: ((token: string) => void)[] = []
      const accessToken = vi.fn(() => new Promise<string>((resolve) => finish.push(resolve)))
      return { accessToken, finish }
    }

    test('fails the call that made the request after 30 s, aborts its signal, and is called again by the next call', async () => {
      const signals: AbortSignal[] = []
      const accessToken = vi.fn(({ signal }: { signal: AbortSignal }) => {
        signals.push(signal)
        return signals.length === 1 ? stuck() : Promise.resolve('token')
      })
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      const failure = record.run(client).catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(29_999)
      expect(signals.map(({ aborted }) => aborted)).toEqual([false])
      await vi.advanceTimersByTimeAsync(1)
      const error = await failure
      expect(error).toBeInstanceOf(AccessTokenError)
      expect((error as Error).message).toContain('gave no token within 30 s')
      expect(error).toHaveProperty('outcome', 'not_applied')
      expect(signals[0]?.aborted).toBe(true)
      expect(signals[0]?.reason).toMatchObject({ name: 'TimeoutError' })
      expect(sent).toHaveLength(0)
      expect((await settle(read.run(client))).status).toBe('fulfilled')
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
      expect(vi.getTimerCount()).toBe(0)
    })

    test('is called a second time by a call that has waited 10 s for the request of another call', async () => {
      const { accessToken, finish } = slowSource()
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      const first = read.run(client).catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(4_000)
      const second = read.run(client)
      await vi.advanceTimersByTimeAsync(9_999)
      expect(accessToken).toHaveBeenCalledTimes(1)
      await vi.advanceTimersByTimeAsync(1)
      expect(accessToken).toHaveBeenCalledTimes(2)
      finish[1]?.('second')
      expect(await second).toEqual(read.data)
      expect(await read.run(client)).toEqual(read.data)
      expect(sentTokens(sent)).toEqual(['second', 'second'])
      await vi.advanceTimersByTimeAsync(16_000)
      expect(await first).toBeInstanceOf(AccessTokenError)
    })

    test('has at most two requests under way, and calls that find two wait for the newer one', async () => {
      const { accessToken, finish } = slowSource()
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      const calls = Array.from({ length: 5 }, () => read.run(client).catch((error: unknown) => error))
      await vi.advanceTimersByTimeAsync(12_000)
      const late = read.run(client)
      await vi.advanceTimersByTimeAsync(16_000)
      expect(accessToken).toHaveBeenCalledTimes(2)
      finish[1]?.('newer')
      expect(await late).toEqual(read.data)
      for (const call of calls.slice(1)) expect(await call).toEqual(read.data)
      expect(new Set(sentTokens(sent))).toEqual(new Set(['newer']))
      await vi.advanceTimersByTimeAsync(2_000)
      expect(await calls[0]).toBeInstanceOf(AccessTokenError)
    })

    test('is called by a call that joined a request just before it was abandoned', async () => {
      const { accessToken, finish } = slowSource()
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      const first = read.run(client).catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(25_000)
      const second = read.run(client)
      await vi.advanceTimersByTimeAsync(4_999)
      expect(accessToken).toHaveBeenCalledTimes(1)
      await vi.advanceTimersByTimeAsync(1)
      expect(await first).toBeInstanceOf(AccessTokenError)
      expect(accessToken).toHaveBeenCalledTimes(2)
      finish[1]?.('own')
      expect(await second).toEqual(read.data)
      expect(sentTokens(sent)).toEqual(['own'])
    })

    test('that obeys its signal fails only the call that made the request', async () => {
      const accessToken = vi
        .fn<(options: { signal: AbortSignal }) => Promise<string>>()
        .mockResolvedValue('token')
        .mockImplementationOnce(
          ({ signal }) =>
            new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        )
      const { via } = script(success)
      const client = clientOf({ ...via, accessToken })
      const first = read.run(client).catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(25_000)
      const second = read.run(client)
      await vi.advanceTimersByTimeAsync(5_000)
      expect(await first).toBeInstanceOf(AccessTokenError)
      expect(await second).toEqual(read.data)
    })

    test('does not keep the process alive', async () => {
      vi.useRealTimers()
      const timers = vi.spyOn(globalThis, 'setTimeout')
      const { signal, abort } = abortable()
      const call = read.run(clientOf({ accessToken: stuck }), { signal })
      abort()
      await expect(call).rejects.toBe(signal.reason)
      const renewal = timers.mock.calls.findIndex(([, ms]) => ms === 30_000)
      const timer = timers.mock.results[renewal]?.value as NodeJS.Timeout
      timers.mockRestore()
      expect(timer.hasRef()).toBe(false)
      clearTimeout(timer)
    })

    test('the token of a slow source is used by later calls, even if all callers aborted', async () => {
      const accessToken = vi.fn(() => new Promise<string>((resolve) => setTimeout(() => resolve('late'), 6000)))
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      const hasty = { totalTimeoutMs: 5000 }
      expect(await rejection(read.run(client, hasty))).toBeInstanceOf(TimeoutError)
      await vi.advanceTimersByTimeAsync(1000)
      expect((await settle(read.run(client, hasty))).status).toBe('fulfilled')
      expect(sentTokens(sent)).toEqual(['late'])
      expect(accessToken).toHaveBeenCalledTimes(1)
    })

    test.each([
      ['abort', (signal: AbortSignal) => ({ signal })],
      ['time out', () => ({ totalTimeoutMs: 100 })],
    ])('callers who %s do not start a second call of the source while another caller waits', async (_, options) => {
      const { accessToken, finish } = slowSource()
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      const patient = read.run(client)
      for (let caller = 0; caller < 40; caller++) {
        const controller = new AbortController()
        const hasty = read.run(client, options(controller.signal)).catch(() => undefined)
        await vi.advanceTimersByTimeAsync(150)
        controller.abort()
        await hasty
      }
      expect(accessToken).toHaveBeenCalledTimes(1)
      finish[0]?.('shared')
      expect((await settle(patient)).status).toBe('fulfilled')
      expect(sentTokens(sent)).toEqual(['shared'])
    })

    test('a pending source call without callers is used by the next call', async () => {
      const { accessToken, finish } = slowSource()
      const { via, sent } = script(success)
      const client = clientOf({ ...via, accessToken })
      const { signal, abort } = abortable()
      const hasty = Array.from({ length: 40 }, () => read.run(client, { signal }).catch(() => undefined))
      await vi.advanceTimersByTimeAsync(5)
      abort()
      await Promise.all(hasty)
      const next = Array.from({ length: 40 }, () => read.run(client))
      await vi.advanceTimersByTimeAsync(5)
      expect(accessToken).toHaveBeenCalledTimes(1)
      finish[0]?.('first')
      for (const call of next) expect((await settle(call)).status).toBe('fulfilled')
      expect(new Set(sentTokens(sent))).toEqual(new Set(['first']))
    })

    /** A client with an abandoned source call and a second one in flight. */
    async function abandoned(steps: readonly [Step, ...Step[]] = [success]) {
      const { accessToken, finish } = slowSource()
      const { via, sent } = script(...steps)
      const client = clientOf({ ...via, accessToken, maxRetries: 0 })
      const first = read.run(client).catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(30_000)
      expect(await first).toBeInstanceOf(AccessTokenError)
      const second = read.run(client).catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(5)
      return { client, second, finish, sent, accessToken }
    }

    test('a token that arrives late does not replace a newer one', async () => {
      const { client, second, finish, sent, accessToken } = await abandoned()
      finish[1]?.('newer')
      await second
      finish[0]?.('older')
      await vi.advanceTimersByTimeAsync(5)
      await settle(read.run(client))
      expect(sentTokens(sent)).toEqual(['newer', 'newer'])
      expect(accessToken).toHaveBeenCalledTimes(2)
    })

    test('a late token is not used after the newer one was refused', async () => {
      const { client, second, finish, sent } = await abandoned([refusal(401), success])
      finish[1]?.('newer')
      await second
      finish[0]?.('older')
      await vi.advanceTimersByTimeAsync(5)
      const next = read.run(client)
      await vi.advanceTimersByTimeAsync(5)
      finish[2]?.('newest')
      await settle(next)
      expect(sentTokens(sent)).toEqual(['newer', 'newest'])
    })

    test('a renewal after a 401 does not join a request that was made before', async () => {
      const expiring = await jwt(40)
      const finish: ((token: string) => void)[] = []
      const forced: boolean[] = []
      const accessToken = ({ forceRefresh }: { forceRefresh: boolean }): string | Promise<string> =>
        forced.push(forceRefresh) === 1 ? expiring : new Promise((resolve) => finish.push(resolve))
      let refuse = (): void => undefined
      const late: Step = async (request) => {
        await new Promise<void>((resolve) => (refuse = resolve))
        return refusal(401)(request)
      }
      const { via, sent } = script(late, success)
      const client = clientOf({ ...via, accessToken })
      const refused = read.run(client)
      await expect.poll(() => sent.length).toBe(1)
      vi.setSystemTime(NOW + 20_000)
      const joined = read.run(client)
      await vi.advanceTimersByTimeAsync(1)
      expect(forced).toEqual([false, false])
      refuse()
      await expect.poll(() => forced).toEqual([false, false, true])
      // The cache of the source still has the refused token.
      finish[0]?.(expiring)
      await vi.advanceTimersByTimeAsync(1)
      expect(sent).toHaveLength(1)
      finish[1]?.('forced')
      for (const call of [refused, joined]) expect((await settle(call)).status).toBe('fulfilled')
      expect(sentTokens(sent)).toEqual([expiring, 'forced', 'forced'])
      expect(forced).toHaveLength(3)
    })

    test('a late token is used until the newer one arrives', async () => {
      const { client, second, finish, sent } = await abandoned()
      finish[0]?.('older')
      await vi.advanceTimersByTimeAsync(5)
      await read.run(client)
      finish[1]?.('newer')
      await second
      await read.run(client)
      expect(sentTokens(sent)).toEqual(['older', 'newer', 'newer'])
    })

    test.each([
      ['fails', () => Promise.reject(new Error('sealed')), AccessTokenError],
      ['is too slow', () => new Promise<never>(() => undefined), TimeoutError],
    ])(
      'a source that %s before rewardWallets has read the identity is an error of rewardWallets',
      async (_, accessToken, type) => {
        const internals = clientInternals(clientOf({ accessToken, totalTimeoutMs: 5_000 }))
        const error = await rejection(internals?.target('rewardWallets', undefined) as Promise<unknown>)
        expect(error).toBeInstanceOf(type)
        expect(error).toMatchObject({ operation: 'rewardWallets', outcome: 'not_applied' })
      },
    )

    test('a source that fails after its call was aborted causes no unhandled rejection', async () => {
      const failing = () => Promise.reject(new Error('late'))
      const internals = clientInternals(clientOf({ accessToken: failing }))
      await expect(internals?.target('rewardWallets', AbortSignal.abort('enough'))).rejects.toBe('enough')
      // vitest reports unhandled rejections after each test.
      await vi.advanceTimersByTimeAsync(1)
    })
  })

  describe('the identity in a token', () => {
    const address = 'https://service.example/api/v1/'
    const targetOf = (accessToken: CampaignClientOptions['accessToken']) =>
      clientInternals(clientOf({ accessToken }))?.target('rewardWallets', undefined)

    test.each([
      ['has its iss and sub', { iss: 'the service', sub: 'acme' }, 'the service', 'acme'],
      ['is null without claims', {}, null, null],
      ['has the digits of a number', { iss: 'the service', sub: 42 }, 'the service', '42'],
      ['is null for claims that are neither strings nor numbers', { iss: { name: 'x' }, sub: ['acme'] }, null, null],
    ])('%s', async (_, claims, issuer, subject) => {
      expect(await targetOf(unsigned(claims))).toEqual({ address, issuer, subject })
    })

    test('is null for a token that is not a JWT', async () => {
      expect(await targetOf('opaque')).toEqual({ address, issuer: null, subject: null })
    })

    test('is read from a cached token without calling the source', async () => {
      const accessToken = sourceOf(await jwt(3600))
      const internals = clientInternals(clientOf({ accessToken }))
      await internals?.target('rewardWallets', undefined)
      await internals?.target('rewardWallets', undefined)
      expect(accessToken).toHaveBeenCalledTimes(1)
    })
  })

  describe('the message of a 401', () => {
    test.each<[string, () => Promise<string>, string]>([
      ['the time when it expired', () => jwt(-60), '; the token had expired at 2026-01-02T03:03:05.000Z'],
      ['the time of this millisecond', () => jwt(0), '; the token had expired at 2026-01-02T03:04:05.000Z'],
      ['no time outside the range of Date', () => jwt(-1e300), '; the token had expired'],
      ['nothing about a valid one', () => jwt(3600), ''],
      ['nothing about one without exp', () => jwt(), ''],
      ['nothing about an opaque one', async () => 'opaque', ''],
    ])('has, about the token, %s', async (_, create, hint) => {
      const token = await create()
      for (const accessToken of [token, () => token]) {
        const { via } = script(refusal(401))
        const error = await immediateRejection(read.run(clientOf({ ...via, accessToken })))
        expect(error.message).toBe(`getCampaignPoints: the service responded with HTTP 401, scripted${hint}`)
      }
    })

    test.each([403, 400, 500])(
      'differs from the message of a %i, which does not mention an expired token',
      async (status) => {
        const { via } = script(refusal(status))
        const client = clientOf({ ...via, accessToken: await jwt(-60), maxRetries: 0 })
        expect(((await immediateRejection(read.run(client))) as Error).message).not.toContain('expired')
      },
    )
  })

  describe('a token that is a string', () => {
    test('is sent again by the next call, even if it was refused or has expired', async () => {
      const token = await jwt(-60)
      const { via, sent } = script(refusal(401), success)
      const client = clientOf({ ...via, accessToken: token })
      await immediateRejection(read.run(client))
      expect((await settle(read.run(client))).status).toBe('fulfilled')
      expect(sentTokens(sent)).toEqual([token, token])
    })
  })
})
