import type { RetryRule } from '../endpoints/endpoint.ts'
import { callHook } from '../shared/call-hook.ts'
import { MAX_TIMER_MS } from '../shared/timers.ts'
import type { Failure } from './failure.ts'

const FIRST_WAIT_MS = 300
const LONGEST_WAIT_MS = 8_000
/** A longer `Retry-After` is handed to the caller at once instead of being waited for. */
export const LONGEST_RETRY_AFTER_MS = 30_000

export const TOO_MANY_REQUESTS = 429
/** Answers of a service, or of something in front of it, that may well succeed a moment later. */
const TRANSIENT = new Set([408, 500, 502, 503, 504])

/** Whether the service may have carried out the write that failed so. */
export function mayHaveBeenApplied({ kind, status }: Failure): boolean {
  return kind === 'no_answer' || kind === 'not_understood' || status >= 500 || status === 408
}

/** Whether a call may be sent again after this failure. Renewing a refused token is not decided here. */
export function mayRetry({ kind, status, retryAfterMs, final }: Failure, rule: RetryRule): boolean {
  if (final) return false
  if ((retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) return false
  if (kind === 'not_sent' || status === TOO_MANY_REQUESTS) return true
  if (rule === 'unsafe') return false
  return kind === 'no_answer' || TRANSIENT.has(status)
}

/**
 * The wait before another attempt, in milliseconds: what the service asks for, or the partner's own backoff, or a full-jitter
 * exponential.
 *
 * @param nth - 1 after the first attempt
 */
export function retryDelay(
  nth: number,
  { retryAfterMs }: Pick<Failure, 'retryAfterMs'>,
  ownBackoff = noBackoff,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  return ownDelay(ownBackoff) ?? Math.random() * longestWait(nth)
}

/**
 * The pause of everyone after a 429 that names none, in milliseconds: at least half of the exponential, since whoever tries
 * too early uses up a retry.
 *
 * @param nth - 1 after the first that was too short
 */
export function pauseDelay(nth: number, ownBackoff = noBackoff): number {
  return ownDelay(ownBackoff) ?? (0.5 + Math.random() / 2) * longestWait(nth)
}

const noBackoff = (): unknown => undefined

const longestWait = (nth: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (nth - 1))

/** Code of the partner's: whatever it throws or gives, the failure that is retried is the one to be told of. */
function ownDelay(backoff: () => unknown): number | undefined {
  let ms: unknown
  callHook(() => {
    ms = backoff()
    return ms
  })
  return typeof ms === 'number' && ms >= 0 ? Math.min(ms, MAX_TIMER_MS) : undefined
}
