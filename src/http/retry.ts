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
