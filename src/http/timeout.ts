import { onAbort } from './abort-listeners.ts'
import { property } from './property.ts'

/** What `within` rejects with when the time is up, unless told otherwise. Not an error: it never leaves this folder. */
export const TIME_IS_UP = Symbol('time is up')

/**
 * Runs `work` until it settles, `ms` have passed (rejects with what `timeIsUp` gives), or `signal` aborts (rejects with
 * its reason), whichever is first. In the last two cases the signal given to the work
 * aborts, but nothing waits for the work to end: a `fetch` that ignores signals cannot hold a call. What the work itself rejects with passes through `failed`.
 */
export function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  timeIsUp: () => unknown = () => TIME_IS_UP,
  failed: (reason: unknown) => unknown = (reason) => reason,
): Promise<T> {
  if (signal?.aborted) return Promise.reject(reasonOf(signal))
  return new Promise<T>((resolve, reject) => {
    const controller = new AbortController()
    const settle = (): void => {
      clearTimeout(timer)
      stopListening?.()
    }
    const stop = (rejection: unknown, reason: unknown): void => {
      settle()
      reject(rejection)
      controller.abort(reason)
    }
    const stopListening =
      signal &&
      onAbort(signal, () => {
        const reason = reasonOf(signal)
        stop(reason, isError(reason) ? reason : abortError())
      })
    const timer = setTimeout(() => stop(timeIsUp(), timeoutError()), Math.max(0, ms))
    const fail = (reason: unknown): void => {
      settle()
      try {
        reject(failed(reason))
      } catch (thrown) {
        reject(thrown)
      }
    }
    try {
      work(controller.signal).then((value) => {
        settle()
        resolve(value)
      }, fail)
    } catch (thrown) {
      fail(thrown)
    }
  })
}

/** Waits, unless `signal` aborts first: then rejects with its reason at once. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return within(ms, signal, () => new Promise<never>(() => undefined)).catch((reason: unknown) => {
    if (reason !== TIME_IS_UP) throw reason
  })
}

/** Why a signal aborted. The polyfills of some platforms give no reason; the platform would give this one. */
export function reasonOf(signal: AbortSignal): unknown {
  const reason = property(signal, 'reason')
  return reason === undefined ? abortError() : reason
}

// What a `fetch` is aborted with is thrown, logged and looked into by code that expects an error.
const abortError = (): Error => named('AbortError', 'This operation was aborted')
const timeoutError = (): Error => named('TimeoutError', 'The operation was aborted due to timeout')

/** As the platform names its own. Some, such as React Native, have no class for it. */
const named = (name: string, message: string): Error =>
  typeof DOMException === 'function' ? new DOMException(message, name) : Object.assign(new Error(message), { name })

const ERROR_TAGS = ['[object Error]', '[object DOMException]']

/** Of any realm: an error of a worker or a vm is no instance of this one's class. */
function isError(value: unknown): boolean {
  let found = false
  try {
    found = value instanceof Error || ERROR_TAGS.includes(Object.prototype.toString.call(value))
  } catch {
    // A Proxy may throw; it is not an error that anybody can log.
  }
  return found
}
