import { holdProcess } from '../../shared/timers.ts'

/** Returns monotonic milliseconds. The wall clock may jump, and a lease would end early or late. */
export function monotonicNow(): number {
  return performance.now()
}

/**
 * Calls `callback` after `delayMs`, without keeping a Node process alive.
 *
 * @returns a function that cancels the timer
 */
export function startTimer(delayMs: number, callback: () => void): () => void {
  const timer: unknown = setTimeout(callback, Math.max(0, delayMs))
  holdProcess(timer, false)
  return () => clearTimeout(timer as number)
}

/**
 * Waits for `promise`, `delayMs` at most. Keeps a Node process alive meanwhile, so that a delivery is still completed or
 * released while the process shuts down.
 *
 * @returns whether the promise was fulfilled in time; rejects when the promise does
 */
export function settles(delayMs: number, promise: PromiseLike<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), Math.max(0, delayMs))
    promise.then(
      () => {
        clearTimeout(timer)
        resolve(true)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** Waits for `delayMs`. Keeps a Node process alive, like {@link settles}. */
export function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs)
  })
}
