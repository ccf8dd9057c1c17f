import { holdProcess } from '../../shared/timers.ts'

/** Milliseconds that never jump: a lease measured by the wall clock would end when somebody sets the clock. */
export function monotonicNow(): number {
  return performance.now()
}

/**
 * Runs `callback` after `delayMs`. The timer does not keep a Node process alive.
 *
 * @returns a function that cancels it; cancelling twice does nothing
 */
export function startTimer(delayMs: number, callback: () => void): () => void {
  const timer: unknown = setTimeout(callback, Math.max(0, delayMs))
  holdProcess(timer, false)
  return () => clearTimeout(timer as number)
}

/**
 * Waits until `promise` settles, `delayMs` at most. The timer keeps a Node process alive: it bounds work that must not
 * be cut off by an empty event loop, such as recording a handled delivery while the process shuts down.
 *
 * @returns whether it was fulfilled in time; rejects when the promise does
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

/** Waits, keeping a Node process alive for the same reason. */
export function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs)
  })
}
