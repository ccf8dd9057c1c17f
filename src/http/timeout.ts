import { AttemptCancellation, onAbort } from './cancellation.ts'

/** The default rejection of `within` when the time is up. It never leaves this folder. */
export const TIME_IS_UP = Symbol('time is up')

/**
 * Runs `work` until it settles, `ms` have passed (rejects with `timeIsUp()`), or `signal` aborts (rejects with its reason).
 * In the last two cases `work` is cancelled. `within` does not wait for `work` to end, so that a `fetch`
 * that ignores its signal cannot delay a call.
 */
export function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (cancellation: AttemptCancellation) => Promise<T>,
  timeIsUp: () => unknown = () => TIME_IS_UP,
): Promise<T> {
  if (signal?.aborted) return Promise.reject(reasonOf(signal))
  return new Promise<T>((resolve, reject) => {
    const cancellation = new AttemptCancellation()
    const settle = (): void => {
      clearTimeout(timer)
      stopListening?.()
    }
    const stop = (rejection: unknown, reason: Error): void => {
      settle()
      reject(rejection)
      cancellation.cancel(reason)
    }
    const stopListening =
      signal &&
      onAbort(signal, () => {
        const reason = reasonOf(signal)
        stop(reason, asError(reason))
      })
    const timer = setTimeout(
      () => stop(timeIsUp(), new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      Math.max(0, ms),
    )
    const fail = (reason: unknown): void => {
      settle()
      reject(reason)
    }
    try {
      work(cancellation).then((value) => {
        settle()
        resolve(value)
      }, fail)
    } catch (thrown) {
      fail(thrown)
    }
  })
}

/** Waits. Rejects with the signal's reason as soon as `signal` aborts. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return within(ms, signal, () => new Promise<never>(() => undefined)).catch((reason: unknown) => {
    if (reason !== TIME_IS_UP) throw reason
  })
}

/** Returns the reason of a signal. Some polyfills have none: then it is an `AbortError`, as on the platform. */
export const reasonOf = ({ reason }: AbortSignal): unknown => (reason === undefined ? abortError() : reason)

/** A partner's `fetch` logs its abort reason or reads its fields, and expects an error. */
function asError(reason: unknown): Error {
  try {
    if (reason instanceof Error) return reason
  } catch {
    // A revoked Proxy. Thrown here, the error would leave every call of the signal pending.
  }
  return abortError()
}

const abortError = (): Error => new DOMException('This operation was aborted', 'AbortError')
