import { type AnyEndpoint, type DataOf, endpoints, type OperationName, type RequestOf } from '../endpoints/index.ts'
import type { WriteOutcome } from '../errors.ts'
import type { CallEvent, CallOptions, EndEvent, RequestEvent } from '../options.ts'
import { attemptOnce, type CallContext } from './attempt.ts'
import { Failure, noTimeToRetry } from './failure.ts'
import { notify } from './notify.ts'
import { prepare } from './request.ts'
import { mayHaveBeenApplied, mayRetry, retryDelay, TOO_MANY_REQUESTS } from './retry.ts'
import { reasonOf, wait } from './timeout.ts'

/** How far a call has got. */
interface CallState {
  readonly event: CallEvent
  /** How many attempts were sent. */
  attempts: number
  /** A request has left, or may have, whose answer is not known yet. */
  isSending: boolean
  /** An attempt may have been carried out although it failed. */
  mayBeApplied: boolean
}

/** Of this process: calls of several clients may meet in one log. */
let calls = 0

/** One call, and the one event of its end. */
export function call<Name extends OperationName>(
  context: CallContext,
  operation: Name,
  argument: RequestOf<Name>,
  options: CallOptions | undefined,
): Promise<DataOf<Name>> {
  const startedAt = performance.now()
  // Stryker disable next-line UpdateOperator: counted downwards, no two are the same either
  calls++
  const state: CallState = {
    event: { callId: `call-${calls}`, operation },
    attempts: 0,
    isSending: false,
    mayBeApplied: false,
  }
  const end = (failure?: () => Pick<EndEvent, 'error' | 'outcome'>): void =>
    notify(context.settings.hooks, 'onEnd', () => {
      const durationMs = performance.now() - startedAt
      return { ...state.event, attempts: state.attempts, durationMs, ...failure?.() }
    })
  const running = run(context, operation, argument, options, state)
  running.then(
    () => end(),
    (error: unknown) =>
      end(() => {
        // Not read off the error: the reason of an abort may be the error of another call.
        const outcome = writeOutcome(endpoints[operation], state.isSending || state.mayBeApplied)
        return { error, ...(outcome && { outcome }) }
      }),
  )
  return running
}

/**
 * Checks the arguments, then attempts once, and again where the rules allow it. A caller's abort leaves with the signal's own
 * reason; every failure leaves by the one door at the end of the loop.
 */
async function run<Name extends OperationName>(
  context: CallContext,
  operation: Name,
  argument: RequestOf<Name>,
  options: CallOptions | undefined,
  state: CallState,
): Promise<DataOf<Name>> {
  const { settings, throttle, tokens } = context
  const endpoint: AnyEndpoint = endpoints[operation]
  const prepared = prepare(operation, endpoint, argument, options, settings)
  const { maxRetries, signal, totalTimeoutMs } = prepared.settings
  const deadline = performance.now() + totalTimeoutMs
  const onSending = (): void => {
    state.attempts++
    state.isSending = true
  }
  let renewed = false

  for (let attempt = 1; ; attempt++) {
    const event: RequestEvent = { ...state.event, method: endpoint.method, path: prepared.path, attempt }
    try {
      if (signal?.aborted) throw reasonOf(signal)
      return (await attemptOnce(context, { prepared, event, endpoint, deadline, onSending })) as DataOf<Name>
    } catch (reason) {
      if (!Failure.is(reason)) throw reason
      state.isSending = false
      state.mayBeApplied ||= mayHaveBeenApplied(reason)
      const outcome = writeOutcome(endpoint, state.mayBeApplied)

      const renews: boolean = reason.tokenRefused && tokens.renewable && !renewed
      renewed ||= renews
      const retries = attempt <= maxRetries && (renews || mayRetry(reason, endpoint.retry))
      const error = reason.toError({ operation, outcome })
      if (!retries) throw error
      // Everyone with this token waits for the end of the same pause, each in line for its turn.
      const isPaused = reason.status === TOO_MANY_REQUESTS
      const { retryDelayMs } = settings
      const ownDelayMs = (): number => retryDelay(attempt, reason, retryDelayMs && (() => retryDelayMs(attempt, error)))
      const delayMs = renews ? 0 : isPaused ? throttle.pauseLeft(settings.accessToken) : ownDelayMs()
      if (performance.now() + delayMs >= deadline) {
        throw noTimeToRetry(totalTimeoutMs, delayMs, reason).toError({ operation, outcome, cause: error })
      }
      notify(settings.hooks, 'onRetry', () => ({ ...event, delayMs, error }))
      if (delayMs > 0 && !isPaused) await wait(delayMs, signal)
    }
  }
}

const writeOutcome = ({ method }: AnyEndpoint, mayBeApplied: boolean): WriteOutcome | undefined =>
  method === 'GET' ? undefined : mayBeApplied ? 'unknown' : 'not_applied'
