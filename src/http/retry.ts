import type { RetryRule } from '../endpoints/endpoint.ts'
import { callHook } from '../shared/call-hook.ts'
import { MAX_TIMER_MS } from '../shared/timers.ts'
import type { Failure } from './failure.ts'
import { MAX_PAUSE_MS } from './retry-after.ts'

const FIRST_BACKOFF_MS = 300
const MAX_BACKOFF_MS = 8_000

export const TOO_MANY_REQUESTS = 429
/** Temporary errors of the service, or of a proxy in front of it. */
const TRANSIENT = new Set([408, 500, 502, 503, 504])

/** Whether the service may have applied the write of a failed attempt. */
export function mayHaveBeenApplied({ kind, status }: Failure): boolean {
  return kind === 'no_answer' || kind === 'not_understood' || status >= 500 || status === 408
}

/** Whether a retry is allowed after a failure. `call.ts` decides about the retry after a 401. */
export function mayRetry({ kind, status, retryAfterMs, final }: Failure, rule: RetryRule): boolean {
  if (final || (retryAfterMs ?? 0) > MAX_PAUSE_MS) return false
  if (kind === 'not_sent' || status === TOO_MANY_REQUESTS) return true
  return rule !== 'unsafe' && (kind === 'no_answer' || TRANSIENT.has(status))
}

/**
 * Returns the wait before a retry in milliseconds: `Retry-After`, else the partner's backoff, else exponential backoff with
 * full jitter.
 *
 * @param nth - 1 for the first retry
 */
export const retryDelay = (nth: number, retryAfterMs: number | undefined, customBackoff = noBackoff): number =>
  retryAfterMs ?? customDelay(customBackoff) ?? Math.random() * maxBackoff(nth)

/**
 * Returns the pause after a 429 without `Retry-After` in milliseconds: the partner's backoff, else exponential backoff. Jitter
 * shortens it by at most half, because a retry that comes too early uses up one of `maxRetries`.
 *
 * @param nth - 1 for the first pause
 */
export const pauseDelay = (nth: number, customBackoff = noBackoff): number =>
  customDelay(customBackoff) ?? (0.5 + Math.random() / 2) * maxBackoff(nth)

const noBackoff = (): unknown => undefined

const maxBackoff = (nth: number): number => Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (nth - 1))

/** Returns the partner's backoff; `undefined` if it throws or returns no usable number. */
function customDelay(backoff: () => unknown): number | undefined {
  let ms: unknown
  callHook(() => {
    ms = backoff()
    return ms
  })
  return typeof ms === 'number' && ms >= 0 ? Math.min(ms, MAX_TIMER_MS) : undefined
}
