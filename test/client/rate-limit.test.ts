import { CampaignClient, type CommonClientOptions, RateLimitError, TimeoutError } from 'campaign-client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { immediateRejection, rejection, settle } from '../call/fake-time.ts'
import { hanging, lost, refusal, respond, type Step, scriptedFetch } from '../call/scripted-fetch.ts'
import { type Scripted, scriptedTransports } from '../call/scripted-transports.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const done = respond(200, { success: true })
const award = { address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'r-1', xp: 10 }
const fakeTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
const clientOf = (via: Scripted['via'], options: Partial<CommonClientOptions> = {}) =>
  new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'token', ...via, ...options })

describe.each(scriptedTransports())('over $name', ({ script }) => {
  describe('the option limits:', () => {
    test('a call that times out in the queue has the outcome not_applied', async () => {
      fakeTime()
      const { via, sent } = script(hanging)
      const client = clientOf(via, { limits: { maxConcurrency: 1 }, timeoutMs: 9_000, maxRetries: 0 })
      const first = settle(client.rewardWallet(award))
      const error = await rejection(client.rewardWallet(award, { totalTimeoutMs: 5_000 }))
      expect(error).toBeInstanceOf(TimeoutError)
      expect(error).toMatchObject({ scope: 'total', outcome: 'not_applied' })
      expect(sent).toHaveLength(1)
      await first
    })

    test.each([
      [{ maxConcurrency: 0 }, 'limits.maxConcurrency must be a whole number, 1 or more, got 0'],
      [{ requestsPerSecond: 0 }, 'limits.requestsPerSecond must be a number of requests above 0'],
      [{ requestsPerSecond: Number.NaN }, 'limits.requestsPerSecond must be a number of requests above 0'],
      [5, 'limits must be an object'],
    ])('%j is refused', (limits, message) => {
      expect(() => clientOf({}, { limits: limits as never })).toThrow(message)
    })
  })

  describe('after a 429', () => {
    test('a Retry-After above 30 s fails the next calls without sending them', async () => {
      fakeTime()
      const { via, sent } = script(refusal(429, { 'retry-after': '31' }), done)
      const client = clientOf(via)
      expect(await rejection(client.rewardWallet(award))).toMatchObject({ retryAfterMs: 31_000 })
      const error = await immediateRejection(client.rewardWallet(award))
      expect(error).toBeInstanceOf(RateLimitError)
      expect(error).toMatchObject({ status: 429, retryAfterMs: 31_000, outcome: 'not_applied' })
      expect(sent).toHaveLength(1)
      await vi.advanceTimersByTimeAsync(30_000)
      await settle(client.rewardWallet(award))
      expect(sent).toHaveLength(2)
    })

    test('waiting for the pause does not count as a retry', async () => {
      fakeTime()
      const { via, sent } = script(refusal(429, { 'retry-after': '10' }), done)
      const client = clientOf(via, { maxRetries: 0 })
      await rejection(client.rewardWallet(award))
      expect(await settle(client.rewardWallet(award))).toMatchObject({ status: 'fulfilled' })
      expect(sent).toHaveLength(2)
    })
  })

  describe('retryDelayMs', () => {
    const fails = refusal(503)

    test('gets the number and the error of the failed attempt, and returns the wait', async () => {
      fakeTime()
      const calls: unknown[] = []
      const retryDelayMs = (attempt: number, error: Error): number => {
        calls.push([attempt, error.name])
        return attempt * 1_000
      }
      const delays: number[] = []
      const client = clientOf(script(fails, fails, done).via, {
        retryDelayMs,
        hooks: { onRetry: ({ delayMs }) => delays.push(delayMs) },
      })
      await settle(client.rewardWallet(award))
      expect(delays).toEqual([1_000, 2_000])
      expect(calls).toEqual([
        [1, 'ServiceError'],
        [2, 'ServiceError'],
      ])
    })

    test('is not called if the response has Retry-After', async () => {
      fakeTime()
      const retryDelayMs = vi.fn(() => 5)
      const delays: number[] = []
      const client = clientOf(script(refusal(503, { 'retry-after': '7' }), done).via, {
        retryDelayMs,
        hooks: { onRetry: ({ delayMs }) => delays.push(delayMs) },
      })
      await settle(client.rewardWallet(award))
      expect(delays).toEqual([7_000])
      expect(retryDelayMs).not.toHaveBeenCalled()
    })

    test('that returns 0 causes a retry without a wait', async () => {
      fakeTime()
      vi.spyOn(Math, 'random').mockReturnValue(0.5)
      // Fake time does not advance: a wait would block the test.
      await clientOf(script(fails, done).via, { retryDelayMs: () => 0 }).rewardWallet(award)
    })

    test('returns the pause after a 429 without Retry-After', async () => {
      fakeTime()
      const delays: number[] = []
      const retryDelayMs = vi.fn((_attempt: number, _error: Error) => 1_234)
      const client = clientOf(script(refusal(429), refusal(429), done).via, {
        retryDelayMs,
        hooks: { onRetry: ({ delayMs }) => delays.push(delayMs) },
      })
      await settle(client.rewardWallet(award))
      expect(delays).toEqual([1_234, 1_234])
      expect(retryDelayMs.mock.calls.map(([attempt]) => attempt)).toEqual([1, 2])
      for (const [, error] of retryDelayMs.mock.calls) {
        expect(error).toBeInstanceOf(RateLimitError)
        expect(error).toHaveProperty('operation', 'rewardWallet')
      }
    })

    test.each([
      ['throws', () => Promise.reject(new Error('late')) as never],
      ['returns NaN', () => Number.NaN],
      ['returns a negative number', () => -1],
      ['returns a string', () => '5' as never],
    ])('that %s is replaced by the default backoff', async (_, retryDelayMs) => {
      fakeTime()
      vi.spyOn(Math, 'random').mockReturnValue(0.5)
      const delays: number[] = []
      const hooks = { onRetry: ({ delayMs }: { delayMs: number }) => delays.push(delayMs) }
      const client = clientOf(script(fails, done).via, { retryDelayMs, hooks })
      expect(await settle(client.rewardWallet(award))).toMatchObject({ status: 'fulfilled' })
      expect(delays).toEqual([150])
    })
  })
})

test('a tiny requestsPerSecond does not overflow a timer', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  try {
    const { fetch, sent } = scriptedFetch(done)
    const client = clientOf({ fetch }, { limits: { requestsPerSecond: 1e-9 } })
    await client.rewardWallet(award)
    const aborter = new AbortController()
    const second = client.rewardWallet(award, { signal: aborter.signal })
    // Node warns in the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    aborter.abort('enough')
    await expect(second).rejects.toBe('enough')
    expect(sent).toHaveLength(1)
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', onWarning)
  }
})

describe('after a pause with many waiting calls', () => {
  const CALLS = 20
  const limited = Array.from({ length: CALLS }, () => refusal(429, { 'retry-after': '1' })) as [Step, ...Step[]]

  /** Returns the duration of all calls if each attempt takes 100 ms and ends with `step`. */
  async function durationOf(step: Step): Promise<number> {
    fakeTime()
    const slowStep: Step = async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return step(request)
    }
    const { fetch, sent } = scriptedFetch(...limited, slowStep)
    const client = clientOf({ fetch }, { maxRetries: 1 })
    const startedAt = performance.now()
    await settle(Promise.allSettled(limited.map(() => client.rewardWallet(award))))
    expect(sent).toHaveLength(2 * CALLS)
    return performance.now() - startedAt
  }

  test.each([
    ['succeed', done],
    ['are refused with 400', refusal(400)],
    ['get a response that is not JSON', () => new Response('<h1>It works</h1>')],
  ])('concurrency grows while calls %s', async (_, step) => {
    expect(await durationOf(step)).toBeLessThan(1_000 + (CALLS / 2) * 100)
  })

  test('calls are sent one at a time until a response arrives', async () => {
    expect(await durationOf(lost)).toBe(1_000 + CALLS * 100)
  })
})

/** A service that accepts 50 requests per second. */
function limitedService(retryAfter: boolean) {
  const attempts: number[] = []
  const awarded = new Set<string>()
  let windowEnds = 0
  let left = 0
  const step: Step = ({ body = '' }) => {
    const { id } = JSON.parse(body) as { id: string }
    const nth = Number(id)
    attempts[nth] = (attempts[nth] ?? 0) + 1
    const now = performance.now()
    if (now >= windowEnds) {
      windowEnds = now + 1_000
      left = 50
    }
    if (left-- <= 0) {
      return Response.json(
        { success: true, error: { code: 429, message: 'slow down' } },
        { status: 429, headers: retryAfter ? { 'retry-after': '1' } : {} },
      )
    }
    awarded.add(id)
    return Response.json({ success: true })
  }
  return { step, attempts, awarded }
}

describe.each(scriptedTransports())(
  '500 awards at once to a service that accepts 50 per second, over $name',
  ({ script }) => {
    test.each([true, false])('Retry-After: %s: all are awarded, most after one or two attempts', async (retryAfter) => {
      fakeTime()
      const { step, attempts, awarded } = limitedService(retryAfter)
      const client = clientOf(script(step).via)
      const ids = Array.from({ length: 500 }, (_, index) => String(index))
      const all = await settle(Promise.all(ids.map((id) => client.rewardWallet({ ...award, id }))), {
        timers: 20_000,
      })
      expect(all.status).toBe('fulfilled')
      expect(awarded.size).toBe(500)
      expect(attempts.filter((count) => count > 2).length).toBeLessThan(100)
    })
  },
)

// Only over `fetch`: a server that responds late needs real time.
describe('a token that expires while calls wait', () => {
  const delayed =
    (ms: number, step: Step): Step =>
    async (request) => {
      await new Promise((resolve) => setTimeout(resolve, ms))
      return step(request)
    }
  const expiringIn = (seconds: number): string => {
    const exp = Math.floor(Date.now() / 1_000) + seconds
    return `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.`
  }
  /** A source whose first token must be renewed after 3 s, and whose next token takes 5 s. */
  const slowRenewal = () => {
    const first = expiringIn(33)
    return vi
      .fn<() => string | Promise<string>>(() => new Promise((resolve) => setTimeout(() => resolve('new'), 5_000)))
      .mockReturnValueOnce(first)
  }

  test('is renewed before a call takes a slot, so the limits hold', async () => {
    fakeTime()
    const { fetch, sent } = scriptedFetch(delayed(900, done))
    const accessToken = slowRenewal()
    const client = clientOf({ fetch }, { accessToken, limits: { maxConcurrency: 1, requestsPerSecond: 1 } })
    const calls = Array.from({ length: 10 }, (_, at) => client.rewardWallet({ ...award, id: `r-${at}` }))
    await settle(Promise.all(calls))
    expect(sent.map(({ body }) => JSON.parse(body ?? '').id)).toEqual(calls.map((_, at) => `r-${at}`))
    const gaps = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(980)
    expect(Math.max(...gaps)).toBeGreaterThan(4_000)
    expect(accessToken).toHaveBeenCalledTimes(2)
    expect(sent.at(-1)?.authorization).toBe('Bearer new')
  })

  test('is not sent in a pause that began during the renewal', async () => {
    fakeTime()
    const limited = delayed(5_000, refusal(429, { 'retry-after': '10' }))
    const { fetch, sent } = scriptedFetch(delayed(4_000, done), limited, done)
    const client = clientOf({ fetch }, { accessToken: slowRenewal(), limits: { maxConcurrency: 2 } })
    await settle(Promise.all(Array.from({ length: 3 }, () => client.rewardWallet(award))))
    const startedAt = sent[0]?.at ?? 0
    expect(sent.slice(2).every(({ at }) => at - startedAt >= 15_000)).toBe(true)
    expect(sent).toHaveLength(4)
  })

  test('is sent for a second, even if all tokens of the source expire soon', async () => {
    fakeTime()
    const { fetch, sent } = scriptedFetch(done)
    const client = clientOf({ fetch }, { accessToken: async () => expiringIn(9), limits: { requestsPerSecond: 0.5 } })
    await settle(Promise.all(Array.from({ length: 5 }, () => client.rewardWallet(award))))
    expect(sent.map(({ at }) => Math.round((at - (sent[0]?.at ?? 0)) / 1_000))).toEqual([0, 2, 4, 6, 8])
  })
})
