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
  readonly #waiting: (() => void)[] = []

  constructor(delayMs: number) {
    this.delayMs = delayMs
    this.#at = monotonicNow() + delayMs
    this.#cancel = startTimer(delayMs, () => {
      this.#fired = true
      for (const callback of this.#waiting) callback()
    })
  }

  /** By the clock as well: the timer fires late where the event loop was blocked. */
  get passed(): boolean {
    return this.#fired || monotonicNow() >= this.#at
  }

  /** Calls back when the time is up, unless it is already; also who does not wait any more by then. */
  onPassed(callback: () => void): void {
    this.#waiting.push(callback)
  }

  /** What `promise` settles to if it does so in time. It is not left unobserved afterwards. */
  meet<T>(promise: PromiseLike<T>): Promise<T | typeof LATE> {
    return new Promise((resolve, reject) => {
      this.onPassed(() => resolve(LATE))
      promise.then(resolve, reject)
      if (this.passed) resolve(LATE)
    })
  }

  clear(): void {
    this.#cancel()
  }
}
