import { type AnyEndpoint, type DataOf, endpoints, type OperationName, type RequestOf } from '../endpoints/index.ts'
import type { WriteOutcome } from '../errors.ts'
import type { CallOptions, EndEvent } from '../options.ts'
import { attemptOnce, type CallContext, type CallState, requestEvent, timeLeft } from './attempt.ts'
import { Failure, noTimeToRetry } from './failure.ts'
import { notify } from './notify.ts'
import { type PreparedCall, prepare } from './request.ts'
import { mayHaveBeenApplied, mayRetry, retryDelay, TOO_MANY_REQUESTS } from './retry.ts'
import { reasonOf, wait } from './timeout.ts'

/** Of this process: calls of several clients may meet in one log. */
let calls = 0

/** One call, and the one event of its end. */
export function call<Name extends OperationName>(
  context: CallContext,
  operation: Name,
  argument: RequestOf<Name>,
  options: CallOptions | undefined,
): Promise<DataOf<Name>> {
  // Stryker disable next-line UpdateOperator: counted downwards, no two are the same either
  calls++
  const state: CallState = {
    callId: `call-${calls}`,
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
  // Stryker disable next-line ConditionalExpression: without hooks it only spares a turn
  if (hooks === undefined) return running
  // The one that is given away is the one whose rejection somebody has to hear.
  return running.then(
    (data) => {
      notify(hooks, 'onEnd', () => endEvent(state))
      return data
    },
    (error: unknown) => {
      notify(hooks, 'onEnd', () => {
        // Not read off the error: the reason of an abort may be the error of another call.
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
 * Checks the arguments, then attempts once, and again where the rules allow it. A caller's abort leaves with the signal's own
 * reason; every failure leaves by the one door, {@link afterFailure}.
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
      if (!Failure.is(reason)) throw reason
      const delayMs = afterFailure(context, call, prepared, reason)
      if (delayMs > 0) await wait(delayMs, signal)
      call.attempt++
    }
  }
}

/**
 * Decides what follows a failed attempt.
 *
 * @returns how long to wait before the next one, in milliseconds; 0 where it waits in line
 * @throws CampaignError where none follows
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
  // Everyone with this token waits for the end of the same pause, each in line for its turn.
  const isPaused = failure.status === TOO_MANY_REQUESTS
  const { retryDelayMs } = settings
  const ownDelayMs = (): number => retryDelay(attempt, failure, retryDelayMs && (() => retryDelayMs(attempt, error)))
  const delayMs = renews ? 0 : isPaused ? throttle.pauseLeft(settings.accessToken) : ownDelayMs()
  if (delayMs >= timeLeft(call, prepared)) {
    throw noTimeToRetry(totalTimeoutMs, delayMs, failure).toError({ operation, outcome, cause: error })
  }
  notify(settings.hooks, 'onRetry', () => ({ ...requestEvent(call, prepared), delayMs, error }))
  return isPaused ? 0 : delayMs
}

const writeOutcome = ({ method }: AnyEndpoint, mayBeApplied: boolean): WriteOutcome | undefined =>
  method === 'GET' ? undefined : mayBeApplied ? 'unknown' : 'not_applied'
