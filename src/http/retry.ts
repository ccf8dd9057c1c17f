import type { RetryRule } from '../endpoints/endpoint.ts'
import type { Failure } from './failure.ts'

const FIRST_WAIT_MS = 300
const LONGEST_WAIT_MS = 8_000
/** A longer `Retry-After` is handed to the caller at once instead of being waited for. */
const LONGEST_RETRY_AFTER_MS = 30_000

const TOO_MANY_REQUESTS = 429
/** Answers of a service, or of something in front of it, that may well succeed a moment later. */
const TRANSIENT = new Set([408, 500, 502, 503, 504])

/** Whether the service may have carried out the write that failed so. */
export function mayHaveBeenApplied({ kind, status }: Failure): boolean {
  if (kind === 'no_answer' || kind === 'not_understood') return true
  return kind === 'refused' && status !== undefined && (status >= 500 || status === 408)
}

/** Whether a call may be sent again after this failure. Renewing a refused token is not decided here. */
export function mayRetry({ kind, status, retryAfterMs, final }: Failure, rule: RetryRule): boolean {
  if (final) return false
  if (retryAfterMs !== undefined && retryAfterMs > LONGEST_RETRY_AFTER_MS) return false
  if (kind === 'not_sent' || (kind === 'refused' && status === TOO_MANY_REQUESTS)) return true
  if (rule === 'unsafe') return false
  return kind === 'no_answer' || (kind === 'refused' && status !== undefined && TRANSIENT.has(status))
}

/** The wait before the next attempt, in milliseconds: what the service asks for, or a full-jitter exponential. */
export function delayBefore(nextAttempt: number, { retryAfterMs }: Failure): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  return Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (nextAttempt - 2))
}

const SECONDS = /^\d+$/
/** The date forms of HTTP all begin with the day of the week; without this, `Date.parse` reads almost anything. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/
/** The oldest of the three forms names no zone. It means Greenwich, where `Date.parse` takes the zone of the machine. */
const WITHOUT_ZONE = /:\d{2}(?: \d{4})?$/

/** Reads `Retry-After`, seconds or date, into milliseconds from now. A malformed one counts as none. */
export function parseRetryAfter(header: string | null): number | undefined {
  const value = header?.trim()
  if (value === undefined) return undefined
  if (SECONDS.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  const date = HTTP_DATE.test(value) ? Date.parse(WITHOUT_ZONE.test(value) ? `${value} GMT` : value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}
