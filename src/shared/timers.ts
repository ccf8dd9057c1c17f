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

/** Returns the `signal` and `onCancel` of a transport request, both driven by `signal`. */
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

/** The longest delay of a timer, in milliseconds. A timer with a longer delay fires at once. */
export const MAX_TIMER_MS = 2_147_483_647

/**
 * Calls `callback` after `delayMs`. The timer does not keep the process alive.
 *
 * @returns a function that cancels the timer
 */
export function startTimer(delayMs: number, callback: () => void): () => void {
  const timer: unknown = setTimeout(callback, Math.max(0, delayMs))
  keepProcessAlive(timer, false)
  return () => clearTimeout(timer as number)
}

/** Sets whether a timer keeps the process alive. Has an effect on Node, Bun and Deno. */
export function keepProcessAlive(timer: unknown, keep: boolean): void {
  if (typeof timer !== 'object' || timer === null) return
  const method: unknown = Reflect.get(timer, keep ? 'ref' : 'unref')
  if (typeof method === 'function') method.call(timer)
}

/** The result of {@link withTimeout} after the timeout. */
export const TIMED_OUT: unique symbol = Symbol('timed out')

/**
 * Resolves to the result of `work`, or to {@link TIMED_OUT} after `ms`. Rejects with the signal's reason when `signal`
 * aborts. In both cases `work` goes on, and its result is ignored.
 */
export function withTimeout<T>(work: PromiseLike<T>, ms: number, signal?: AbortSignal): Promise<T | typeof TIMED_OUT> {
  return new Promise((resolve, reject) => {
    const cancel = startTimeout(Math.max(0, ms), signal, () => resolve(TIMED_OUT), reject)
    work.then(
      (result) => {
        cancel()
        resolve(result)
      },
      (reason: unknown) => {
        cancel()
        reject(reason)
      },
    )
  })
}

/** Like {@link withTimeout}, but rejects with an error after `ms`. */
export async function withTimeLimit<T>(work: PromiseLike<T>, ms: number, createError: () => Error): Promise<T> {
  const result = await withTimeout(work, ms)
  if (result === TIMED_OUT) throw createError()
  return result
}

/** Waits for `ms`. Rejects with the signal's reason when `signal` aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => void startTimeout(ms, signal, resolve, reject))

/** Calls `onTimeout` after `ms`, or `onAborted` when `signal` aborts. Returns a function that cancels both. */
function startTimeout(
  ms: number,
  signal: AbortSignal | undefined,
  onTimeout: () => void,
  onAborted: (reason: unknown) => void,
): () => void {
  const timer = setTimeout(() => {
    cancel()
    onTimeout()
  }, ms)
  const abort = (): void => {
    cancel()
    onAborted(reasonOf(signal as AbortSignal))
  }
  const stopListening = signal && onAbort(signal, abort)
  const cancel = (): void => {
    clearTimeout(timer)
    stopListening?.()
  }
  if (signal?.aborted) abort()
  return cancel
}

/** Available in Node.js, Bun, Deno, and Workers with Node.js compatibility. */
declare function setImmediate(callback: () => void): unknown

/** Resolves in the next turn of the event loop, after pending input and output. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
