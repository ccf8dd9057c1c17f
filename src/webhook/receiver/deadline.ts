/** The result of {@link Deadline.meet} when the time is up. */
export const LATE: unique symbol = Symbol('late')

/** The time limit of one request. Its timer keeps a Node process alive, so call `clear()` in a `finally`. */
export class Deadline {
  /** The time limit in milliseconds. */
  readonly delayMs: number
  readonly #at: number
  readonly #timer: ReturnType<typeof setTimeout>
  #fired = false
  readonly #callbacks: (() => void)[] = []

  constructor(delayMs: number) {
    this.delayMs = delayMs
    this.#at = performance.now() + delayMs
    this.#timer = setTimeout(
      () => {
        this.#fired = true
        for (const callback of this.#callbacks) callback()
      },
      Math.max(0, delayMs),
    )
  }

  /** Whether the time is up. Checks the clock too, because a blocked event loop delays timers. */
  get passed(): boolean {
    return this.#fired || performance.now() >= this.#at
  }

  /** Calls `callback` when the time is up. */
  onPassed(callback: () => void): void {
    this.#callbacks.push(callback)
  }

  /** Resolves like `promise`, or to `LATE` when the time is up first. Ignores a later rejection. */
  meet<T>(promise: PromiseLike<T>): Promise<T | typeof LATE> {
    return new Promise((resolve, reject) => {
      this.onPassed(() => resolve(LATE))
      promise.then(resolve, reject)
      if (this.passed) resolve(LATE)
    })
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}
