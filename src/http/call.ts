import { type AnyEndpoint, type DataOf, endpoints, type OperationName, type RequestOf } from '../endpoints/index.ts'
import type { WriteOutcome } from '../errors.ts'
import type { CallOptions, EndEvent } from '../options.ts'
import { attemptOnce, type CallContext, type CallState, leastTime, notify, requestEvent, timeLeft } from './attempt.ts'
import { Failure, noTimeToRetry } from './failure.ts'
import { type PreparedCall, prepare } from './request.ts'
import { mayHaveBeenApplied, mayRetry, retryDelay, TOO_MANY_REQUESTS } from './retry.ts'
import { reasonOf, wait } from './timeout.ts'

let calls = 0
let idPrefix: string | undefined

/** The prefix distinguishes copies of the package and workers. Created late: Workers forbid random values at start-up. */
function nextCallId(): string {
  idPrefix ??= `call-${crypto.randomUUID().slice(0, 8)}`
  calls++
  return `${idPrefix}-${calls}`
}

/** Runs one call and calls `onEnd` once. */
export function call<Name extends OperationName>(
  context: CallContext,
  operation: Name,
  argument: RequestOf<Name>,
  options: CallOptions | undefined,
): Promise<DataOf<Name>> {
  const state: CallState = {
    callId: nextCallId(),
    operation,
    endpoint: endpoints[operation],
    startedAt: performance.now(),
    attempt: 1,
    sent: 0,
    isSending: false,
    mayBeApplied: false,
    renewed: false,
  }
  const running = run(context, state, argument, options) as Promise<DataOf<Name>>
  const { hooks } = context.settings
  if (hooks === undefined) return running
  return running.then(
    (data) => {
      notify(hooks, 'onEnd', () => endEvent(state))
      return data
    },
    (error: unknown) => {
      notify(hooks, 'onEnd', () => {
        // Not read from the error: the reason of an abort may be another call's error.
        const outcome = writeOutcome(state.endpoint, state.isSending || state.mayBeApplied)
        return { ...endEvent(state), error, ...(outcome && { outcome }) }
      })
      throw error
    },
  )
}

const endEvent = ({ callId, operation, sent, startedAt }: CallState): EndEvent => ({
  callId,
  operation,
  attempts: sent,
  durationMs: performance.now() - startedAt,
})

/**
 * Checks the arguments, then sends attempts as the rules of retries allow. A caller's abort rejects with the signal's own
 * reason; every failure goes through {@link afterFailure}.
 */
async function run(
  context: CallContext,
  call: CallState,
  argument: unknown,
  options: CallOptions | undefined,
): Promise<unknown> {
  const prepared = prepare(call.operation, call.endpoint, argument, options, context.settings)
  const { signal } = prepared.settings
  for (;;) {
    try {
      if (signal?.aborted) throw reasonOf(signal)
      return await attemptOnce(context, call, prepared)
    } catch (reason) {
      if (!(reason instanceof Failure)) throw reason
      const delayMs = afterFailure(context, call, prepared, reason)
      if (delayMs > 0) await wait(delayMs, signal)
      call.attempt++
    }
  }
}

/**
 * Decides whether a failed attempt is retried.
 *
 * @returns the wait before the next attempt in milliseconds; 0 if the throttle makes it wait
 * @throws CampaignError if there is no next attempt
 */
function afterFailure(context: CallContext, call: CallState, prepared: PreparedCall, failure: Failure): number {
  const { settings, throttle, tokens } = context
  const { operation, endpoint, attempt } = call
  const { maxRetries, totalTimeoutMs } = prepared.settings
  call.isSending = false
  call.mayBeApplied ||= mayHaveBeenApplied(failure)
  const outcome = writeOutcome(endpoint, call.mayBeApplied)

  const renews = failure.tokenRefused && tokens.renewable && !call.renewed
  call.renewed ||= renews
  const retries = attempt <= maxRetries && (renews || mayRetry(failure, endpoint.retry))
  const error = failure.toError({ operation, outcome })
  if (!retries) throw error
  // All calls of the token wait for the end of the pause, in the queue of the throttle.
  const isPaused = failure.status === TOO_MANY_REQUESTS
  const { retryDelayMs } = settings
  const ownDelayMs = (): number =>
    retryDelay(attempt, failure.retryAfterMs, retryDelayMs && (() => retryDelayMs(attempt, error)))
  const delayMs = renews ? 0 : isPaused ? throttle.pauseLeft(settings.accessToken) : ownDelayMs()
  if (timeLeft(call, prepared) - delayMs < leastTime(prepared)) {
    throw noTimeToRetry(totalTimeoutMs, delayMs, failure).toError({ operation, outcome, cause: error })
  }
  notify(settings.hooks, 'onRetry', () => ({ ...requestEvent(call, prepared), delayMs, error }))
  return isPaused ? 0 : delayMs
}

const writeOutcome = ({ method }: AnyEndpoint, mayBeApplied: boolean): WriteOutcome | undefined =>
  method === 'GET' ? undefined : mayBeApplied ? 'unknown' : 'not_applied'
