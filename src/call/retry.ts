import type { RetryRule } from '../endpoints/endpoint.ts'
import { callSafely } from '../shared/call-safely.ts'
import { MAX_TIMER_MS } from '../shared/timers.ts'
import type { Failure } from './failure.ts'

const FIRST_BACKOFF_MS = 300
const MAX_BACKOFF_MS = 8_000
/** Calls wait for a pause of at most this length. After a longer `Retry-After`, they fail immediately, for this time. */
export const MAX_PAUSE_MS = 30_000

export const TOO_MANY_REQUESTS = 429
/** Temporary errors of the service, or of a proxy in front of it. */
const TRANSIENT = new Set([408, 500, 502, 503, 504])

/** Whether a retry is allowed after a failure. The call decides about the retry after a 401. */
export function mayRetry({ kind, status, retryAfterMs, isFinal }: Failure, rule: RetryRule): boolean {
  if (isFinal || (retryAfterMs ?? 0) > MAX_PAUSE_MS) return false
  if (kind === 'not_sent' || status === TOO_MANY_REQUESTS) return true
  return rule !== 'unsafe' && (kind === 'no_response' || TRANSIENT.has(status))
}

/**
 * The largest share of a backoff that jitter may remove. A pause keeps at least half, because a retry that comes too early gets
 * another 429, and uses up one of `maxRetries`.
 */
export const JITTER = { ofRetry: 1, ofPause: 0.5 } as const

/**
 * Returns the backoff before a retry, or the pause after a 429 without `Retry-After`, in milliseconds: the caller's, else
 * exponential backoff with jitter.
 *
 * @param nth - 1 for the first retry or pause
 * @param retryDelayMs - the caller's option; ignored if it throws or returns no usable number
 */
export function backoffMs(nth: number, jitter: number, retryDelayMs?: () => unknown): number {
  let ms: unknown
  callSafely(() => {
    ms = retryDelayMs?.()
    // Returned, so that the rejection of an async function is handled.
    return ms
  })
  if (typeof ms === 'number' && ms >= 0) return Math.min(ms, MAX_TIMER_MS)
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (nth - 1)) * (1 - jitter + jitter * Math.random())
}

const SECONDS = /^\d+$/
/** HTTP dates begin with the day of the week. `Date.parse` alone accepts almost any text. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/
/** The asctime format has no time zone. It means GMT, but `Date.parse` would assume local time. */
const WITHOUT_ZONE = /:\d{2}(?: \d{4})?$/

/**
 * Parses `Retry-After`, in seconds or as a date. Returns milliseconds; `undefined` if the header is malformed, or the wait is
 * not above 0: the backoff then applies, and grows.
 *
 * @param responseDate - the `Date` of the same response. A date is compared with it, because the clock of this machine may
 *   be wrong
 */
export function parseRetryAfter(header: string | null, responseDate: string | null): number | undefined {
  const value = header?.trim() ?? ''
  const ms = SECONDS.test(value)
    ? Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
    : (parseDate(value) ?? Number.NaN) - (parseDate(responseDate?.trim() ?? '') ?? Date.now())
  return ms > 0 ? ms : undefined
}

/** Parses an HTTP date. Returns `undefined` if it is malformed. */
function parseDate(value: string): number | undefined {
  const date = HTTP_DATE.test(value) ? Date.parse(WITHOUT_ZONE.test(value) ? `${value} GMT` : value) : Number.NaN
  return Number.isNaN(date) ? undefined : date
}
