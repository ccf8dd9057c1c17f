import { keepProcessAlive } from '../../shared/timers.ts'

/**
 * Calls `callback` after `delayMs`. The timer does not keep a Node process alive.
 *
 * @returns a function that cancels the timer
 */
export function startTimer(delayMs: number, callback: () => void): () => void {
  const timer: unknown = setTimeout(callback, Math.max(0, delayMs))
  keepProcessAlive(timer, false)
  return () => clearTimeout(timer as number)
}

/**
 * Waits for `promise`, at most `delayMs`. The timer keeps a Node process alive, so that a delivery is completed or released
 * before a process that shuts down exits.
 *
 * @returns whether the promise was fulfilled in time; rejects when the promise rejects in time
 */
export function settlesWithin(delayMs: number, promise: PromiseLike<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), delayMs)
    promise.then(() => resolve(true), reject).then(() => clearTimeout(timer))
  })
}

/** Waits for `delayMs`. Keeps a Node process alive. */
export const sleep = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs))
