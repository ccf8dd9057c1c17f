import { CampaignClient, type CommonClientOptions, RateLimitError, ServiceError } from 'campaign-client'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { parseRetryAfter } from '../../src/call/retry.ts'
import { operation } from '../contract/operations.ts'
import { immediateRejection, rejection } from './fake-time.ts'
import { hanging, lost, refusal, respond, type Step } from './scripted-fetch.ts'
import { type Scripted, scriptedTransports } from './scripted-transports.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const read = operation('getCampaignPoints')
const award = operation('rewardWallet')
const success = respond(200, { success: true, data: read.data })

function clientOf(via: Scripted['via'], options: Partial<CommonClientOptions> = {}): CampaignClient {
  return new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'token', ...via, ...options })
}

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

describe.each(scriptedTransports())('over $name', ({ script }) => {
  /** Returns the waits between the attempts of a failing call, in milliseconds of fake time. */
  async function waitsAfter(step: Step, options: Partial<CommonClientOptions> = {}): Promise<number[]> {
    const { via, sent } = script(step)
    await rejection(read.run(clientOf(via, options)))
    return sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0))
  }

  describe('the default backoff', () => {
    test('doubles from 300 ms to 8 s, with full jitter', async () => {
      expect(await waitsAfter(refusal(503), { maxRetries: 8 })).toEqual([150, 300, 600, 1200, 2400, 4000, 4000, 4000])
    })

    test.each([
      [0, [0, 0, 0]],
      [0.25, [75, 150, 300]],
      [0.75, [225, 450, 900]],
    ])('has full jitter: %d', async (random, waits) => {
      vi.mocked(Math.random).mockReturnValue(random)
      expect(await waitsAfter(lost, { maxRetries: 3 })).toEqual(waits)
    })

    test.each([
      [0, [150, 300, 600]],
      [0.5, [225, 450, 900]],
      [1, [300, 600, 1200]],
    ])('is at least half of the maximum after a 429 without Retry-After: random %d', async (random, waits) => {
      vi.mocked(Math.random).mockReturnValue(random)
      expect(await waitsAfter(refusal(429), { maxRetries: 3 })).toEqual(waits)
    })

    test('applies after an attempt timeout, too', async () => {
      const waits = await waitsAfter(hanging, { maxRetries: 1, timeoutMs: 1000 })
      expect(waits).toEqual([1150])
    })
  })

  describe('Retry-After', () => {
    const withRetryAfter = (value: string, status = 503): Step => refusal(status, { 'retry-after': value })
    const DEFAULT_WAITS = [150]
    const oneRetry = { maxRetries: 1 }

    test.each([
      ['seconds', '7', 7000],
      ['the maximum', '30', 30_000],
      ['white space around it', '  2 ', 2000],
      ['a date', 'Fri, 02 Jan 2026 03:04:15 GMT', 10_000],
      ['a date in the format of RFC 850', 'Friday, 02-Jan-26 03:04:15 GMT', 10_000],
      ['a date in the format of asctime', 'Fri Jan  2 03:04:15 2026', 10_000],
      ['a date with a time zone, which HTTP does not allow', 'Fri, 02 Jan 2026 04:04:15 +0100', 10_000],
      ['the latest date within the maximum', 'Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
    ])('is obeyed: %s', async (_, value, waitMs) => {
      expect(await waitsAfter(withRetryAfter(value), oneRetry)).toEqual([waitMs])
      vi.setSystemTime(NOW)
      expect(await waitsAfter(withRetryAfter(value, 429), oneRetry)).toEqual([waitMs])
    })

    test.each(['America/New_York', 'UTC', 'Asia/Kolkata'])(
      'with a date without a zone is read as UTC, even if the local time zone is %s',
      async (zone) => {
        vi.stubEnv('TZ', zone)
        expect(await waitsAfter(withRetryAfter('Fri Jan  2 03:04:15 2026'), oneRetry)).toEqual([10_000])
        vi.setSystemTime(NOW)
        expect(await waitsAfter(withRetryAfter('Fri, 02 Jan 2026 03:04:15'), oneRetry)).toEqual([10_000])
      },
    )

    /** The `Date` of a response, the `Retry-After`, and the wait. The clock of this machine reads 03:04:05. */
    test.each([
      ['a clock that is 60 s fast', 'Fri, 02 Jan 2026 03:03:05 GMT', 'Fri, 02 Jan 2026 03:03:07 GMT', 2000],
      ['a clock that is 60 s slow', 'Fri, 02 Jan 2026 03:05:05 GMT', 'Fri, 02 Jan 2026 03:05:07 GMT', 2000],
      ['seconds, which need no clock', 'Fri, 02 Jan 2026 09:00:00 GMT', '2', 2000],
      ['an unreadable Date', 'yesterday', 'Fri, 02 Jan 2026 03:04:07 GMT', 2000],
      ['an empty Date', '', 'Fri, 02 Jan 2026 03:04:07 GMT', 2000],
      ['a date of the second of the response', 'Fri, 02 Jan 2026 03:00:00 GMT', 'Fri, 02 Jan 2026 03:00:00 GMT', 150],
    ])('with a date is compared with the Date of the response: %s', async (_, date, value, waitMs) => {
      for (const status of [503, 429]) {
        vi.setSystemTime(NOW)
        const { via, sent } = script(refusal(status, { date, 'retry-after': value }))
        await rejection(read.run(clientOf(via, oneRetry)))
        expect((sent[1]?.at ?? 0) - (sent[0]?.at ?? 0)).toBe(status === 429 && waitMs === 150 ? 225 : waitMs)
      }
    })

    test.each([
      ['zero', '0'],
      ['several zeros', '000'],
      ['a date of this second', 'Fri, 02 Jan 2026 03:04:05 GMT'],
      ['a date in the past', 'Fri, 02 Jan 2026 03:04:04 GMT'],
      ['a date long past', 'Thu, 01 Jan 1970 00:00:00 GMT'],
      ['negative', '-5'],
      ['a fraction', '1.5'],
      ['an exponent', '1e3'],
      ['hexadecimal', '0x10'],
      ['a unit', '10s'],
      ['text', 'soon'],
      ['empty', ''],
      ['two values', '5, 10'],
      ['a bare year', '2026'.padEnd(8, 'x')],
      ['a date without a weekday', '2026-01-02T03:04:15Z'],
      ['a date after other text', 'at Fri, 02 Jan 2026 03:04:15 GMT'],
      ['an hour of one digit', 'Fri, 02 Jan 2026 3:04:15 GMT'],
      ['a second of one digit', 'Fri, 02 Jan 2026 03:04:5 GMT'],
      ['an invalid date', 'Fri, 99 Foo 2026 03:04:15 GMT'],
      ['infinite', 'Infinity'],
    ])('is ignored if it is malformed or not above 0: %s', async (_, value) => {
      expect(await waitsAfter(withRetryAfter(value), oneRetry)).toEqual(DEFAULT_WAITS)
      vi.setSystemTime(NOW)
      const { via, sent } = script(withRetryAfter(value, 429))
      expect(await rejection(read.run(clientOf(via, { maxRetries: 3 })))).not.toHaveProperty('retryAfterMs')
      expect(sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0))).toEqual([225, 450, 900])
    })

    test('is obeyed for a 200 with an error', async () => {
      const step = respond(200, { success: false, error: { code: 503, message: '' } }, { 'retry-after': '4' })
      expect(await waitsAfter(step, oneRetry)).toEqual([4000])
    })

    test.each([
      ['a second too long', '31', 31_000],
      ['a date a second too late', 'Fri, 02 Jan 2026 03:04:36 GMT', 31_000],
      ['a year', '31536000', 31_536_000_000],
      ['a number out of range', '9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ])('fails the call if it is too long: %s', async (_, value, retryAfterMs) => {
      const { via, sent } = script(withRetryAfter(value, 429), success)
      const error = await immediateRejection(award.run(clientOf(via)))
      expect(error).toBeInstanceOf(RateLimitError)
      expect(error).toMatchObject({ retryAfterMs, outcome: 'not_applied' })
      expect(sent).toHaveLength(1)
    })

    test('that is too long on a 503 leaves the outcome of a write unknown', async () => {
      const { via } = script(withRetryAfter('3600'), success)
      const error = await immediateRejection(award.run(clientOf(via)))
      expect(error).toBeInstanceOf(ServiceError)
      expect(error).toMatchObject({ retryAfterMs: 3_600_000, outcome: 'unknown' })
    })

    test('is trimmed', () => {
      expect(parseRetryAfter(' 2\t', null)).toBe(2_000)
      expect(parseRetryAfter(' Fri, 02 Jan 2026 03:04:15 GMT ', '\tFri, 02 Jan 2026 03:04:05 GMT ')).toBe(10_000)
    })

    test('is parsed as a positive number of milliseconds or undefined for any text', () => {
      const anyHeader = fc.oneof(fc.string(), fc.date().map(String), fc.integer().map(String))
      fc.assert(
        fc.property(anyHeader, anyHeader, (header, date) => {
          const wait = parseRetryAfter(header, date)
          if (wait !== undefined) {
            expect(wait).toBeGreaterThan(0)
            expect(Number.isFinite(wait)).toBe(true)
          }
        }),
      )
    })
  })
})
