import { type AnyEndpoint, type DataOf, endpoints, type OperationName, type RequestOf } from '../endpoints/index.ts'
import type { WriteOutcome } from '../errors.ts'
import type { CallOptions, EndEvent } from '../options.ts'
import {
  attemptOnce,
  type CallContext,
  type CallState,
  minTimeLeft,
  notify,
  requestEvent,
  timeLeft,
} from './attempt.ts'
import { Failure, noTimeToRetry } from './failure.ts'
import { type PreparedRequest, prepareRequest } from './prepare-request.ts'
import { mayHaveBeenApplied, mayRetry, retryDelay, TOO_MANY_REQUESTS } from './retry.ts'
import { reasonOf, wait } from './timeout.ts'

let calls = 0
let idPrefix: string | undefined

/**
 * The random prefix makes IDs unique across processes and copies of the package. It is created at the first call, because
 * Cloudflare Workers forbid random values at start-up.
 */
function nextCallId(): string {
  idPrefix ??= `call-${crypto.randomUUID().slice(0, 8)}`
  calls++
  return `${idPrefix}-${calls}`
}

/** Runs one call, then calls the hook `onEnd`. */
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
        // Do not read the outcome from the error: an abort reason may be the error of another call.
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

/** Checks the arguments, then makes attempts until one succeeds or {@link afterFailure} throws. */
async function run(
  context: CallContext,
  call: CallState,
  argument: unknown,
  options: CallOptions | undefined,
): Promise<unknown> {
  const prepared = prepareRequest(call.operation, call.endpoint, argument, options, context.settings)
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
 * @returns the wait before the next attempt in milliseconds; 0 after a 429, because the queue then delays the attempt
 * @throws CampaignError if there is no next attempt
 */
function afterFailure(context: CallContext, call: CallState, prepared: PreparedRequest, failure: Failure): number {
  const { settings, queue, tokens } = context
  const { operation, endpoint, attempt } = call
  const { maxRetries, totalTimeoutMs } = prepared.settings
  call.isSending = false
  call.mayBeApplied ||= mayHaveBeenApplied(failure)
  const outcome = writeOutcome(endpoint, call.mayBeApplied)

  const renewsToken = failure.tokenRefused && tokens.renewable && !call.renewed
  call.renewed ||= renewsToken
  const isRetried = attempt <= maxRetries && (renewsToken || mayRetry(failure, endpoint.retry))
  const error = failure.toError({ operation, outcome })
  if (!isRetried) throw error
  const isPaused = failure.status === TOO_MANY_REQUESTS
  const { retryDelayMs } = settings
  const delayMsOfCall = (): number =>
    retryDelay(attempt, failure.retryAfterMs, retryDelayMs && (() => retryDelayMs(attempt, error)))
  const delayMs = renewsToken ? 0 : isPaused ? queue.pauseLeft(settings.accessToken) : delayMsOfCall()
  if (timeLeft(call, prepared) - delayMs < minTimeLeft(prepared)) {
    throw noTimeToRetry(totalTimeoutMs, delayMs, failure).toError({ operation, outcome, cause: error })
  }
  notify(settings.hooks, 'onRetry', () => ({ ...requestEvent(call, prepared), delayMs, error }))
  return isPaused ? 0 : delayMs
}

const writeOutcome = ({ method }: AnyEndpoint, mayBeApplied: boolean): WriteOutcome | undefined =>
  method === 'GET' ? undefined : mayBeApplied ? 'unknown' : 'not_applied'
