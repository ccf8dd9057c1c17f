import { isError } from './type-checks.ts'

interface Listeners {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}

const listenersOf = new WeakMap<AbortSignal, Listeners>()

/**
 * Calls `callback` when `signal` aborts. The returned function removes the callback.
 *
 * All callbacks of a signal share one listener, because Node warns of a memory leak from the eleventh listener on. The
 * listener is removed with the last callback. `AbortSignal.any` would leak about 80 bytes per call on a long-lived signal.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, listener } = listenersOf.get(signal) ?? newListeners(signal)
  callbacks.add(callback)
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return
    listenersOf.delete(signal)
    signal.removeEventListener('abort', listener)
  }
}

function newListeners(signal: AbortSignal): Listeners {
  const callbacks = new Set<() => void>()
  const listener = (): void => {
    for (const callback of [...callbacks]) callback()
  }
  signal.addEventListener('abort', listener)
  const listeners = { callbacks, listener }
  listenersOf.set(signal, listeners)
  return listeners
}

/** Returns the cancellation of a transport that follows a signal. */
export const cancellationOf = (
  signal: AbortSignal,
): { readonly signal: AbortSignal; readonly onCancel: (listener: (reason: Error) => void) => () => void } => ({
  signal,
  onCancel(listener) {
    if (!signal.aborted) return onAbort(signal, () => listener(asError(signal.reason)))
    listener(asError(signal.reason))
    return () => undefined
  },
})

/** Returns the reason of a signal. If a polyfill sets no reason, returns an `AbortError`, as native signals do. */
export const reasonOf = ({ reason }: AbortSignal): unknown => (reason === undefined ? abortError() : reason)

/** Returns the reason of an abort if it is an error, otherwise an `AbortError`: a `fetch` expects an error. */
export const asError = (reason: unknown): Error => (isError(reason) ? reason : abortError())

/** Returns the reason of `AbortSignal.timeout`. */
export const timeoutReason = (): Error => new DOMException('The operation was aborted due to timeout', 'TimeoutError')

const abortError = (): Error => new DOMException('This operation was aborted', 'AbortError')
