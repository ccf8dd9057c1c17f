import { monotonicNow, startTimer } from './timer.ts'

/** Stands for a result that did not come in time. */
export const LATE: unique symbol = Symbol('late')

/** A point in time that one request has to meet. `clear()` it in a `finally`. */
export class Deadline {
  /** How long it was from the beginning, in milliseconds. */
  readonly delayMs: number
  readonly #at: number
  readonly #cancel: () => void
  #fired = false
  #waiting: Set<() => void> | undefined

  constructor(delayMs: number) {
    this.delayMs = delayMs
    this.#at = monotonicNow() + delayMs
    this.#cancel = startTimer(delayMs, () => {
      this.#fired = true
      for (const callback of this.#waiting ?? []) callback()
    })
  }

  /** By the clock as well: the timer fires late where the event loop was blocked. */
  get passed(): boolean {
    return this.#fired || monotonicNow() >= this.#at
  }

  /**
   * Calls back when the time is up, unless it is already.
   *
   * @returns a function that takes the callback off again
   */
  onPassed(callback: () => void): () => void {
    this.#waiting ??= new Set()
    this.#waiting.add(callback)
    return () => this.#waiting?.delete(callback)
  }

  /** What `promise` settles to if it does so in time. It is not left unobserved afterwards. */
  meet<T>(promise: PromiseLike<T>): Promise<T | typeof LATE> {
    return new Promise((resolve, reject) => {
      const stop = this.onPassed(() => resolve(LATE))
      promise.then(
        (value) => {
          stop()
          resolve(value)
        },
        (error) => {
          stop()
          reject(error)
        },
      )
      if (this.passed) resolve(LATE)
    })
  }

  clear(): void {
    this.#cancel()
  }
}
