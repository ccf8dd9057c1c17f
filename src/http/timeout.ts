import { AttemptCancellation, onAbort } from './cancellation.ts'

/** The default rejection of `withTimeout` after the timeout. */
export const TIMED_OUT = Symbol('timed out')

/**
 * Runs `work` with a timeout. Rejects with `onTimeout()` after `ms`, or with the signal's reason when `signal` aborts.
 *
 * In both cases `work` is cancelled but not awaited: a `fetch` that ignores its signal must not delay a call.
 */
export function withTimeout<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (cancellation: AttemptCancellation) => Promise<T>,
  onTimeout: () => unknown = () => TIMED_OUT,
): Promise<T> {
  if (signal?.aborted) return Promise.reject(reasonOf(signal))
  return new Promise<T>((resolve, reject) => {
    const cancellation = new AttemptCancellation()
    const cleanUp = (): void => {
      clearTimeout(timer)
      stopListening?.()
    }
    const cancel = (rejection: unknown, reason: Error): void => {
      cleanUp()
      reject(rejection)
      cancellation.cancel(reason)
    }
    const stopListening =
      signal &&
      onAbort(signal, () => {
        const reason = reasonOf(signal)
        cancel(reason, asError(reason))
      })
    const timer = setTimeout(
      () => cancel(onTimeout(), new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      Math.max(0, ms),
    )
    const fail = (reason: unknown): void => {
      cleanUp()
      reject(reason)
    }
    try {
      work(cancellation).then((value) => {
        cleanUp()
        resolve(value)
      }, fail)
    } catch (thrown) {
      fail(thrown)
    }
  })
}

/** Waits for `ms`. Rejects with the signal's reason when `signal` aborts. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return withTimeout(ms, signal, () => new Promise<never>(() => undefined)).catch((reason: unknown) => {
    if (reason !== TIMED_OUT) throw reason
  })
}

/** Returns the reason of a signal. If a polyfill sets no reason, returns an `AbortError`, as native signals do. */
export const reasonOf = ({ reason }: AbortSignal): unknown => (reason === undefined ? abortError() : reason)

/** Returns the reason if it is an error, otherwise an `AbortError`: a partner's `fetch` expects an error. */
function asError(reason: unknown): Error {
  try {
    if (reason instanceof Error) return reason
  } catch {
    // `instanceof` throws for a revoked Proxy. Without the catch, calls with the signal would stay pending.
  }
  return abortError()
}

const abortError = (): Error => new DOMException('This operation was aborted', 'AbortError')
