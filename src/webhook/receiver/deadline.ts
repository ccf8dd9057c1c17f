import { startTimer } from './timer.ts'

/** Stands for a result that did not come in time. */
export const LATE: unique symbol = Symbol('late')

/** A point in time that one request has to meet. `clear()` it in a `finally`. */
export class Deadline {
  /** How long it was from the beginning, in milliseconds. */
  readonly delayMs: number
  readonly #controller = new AbortController()
  readonly #passed: Promise<typeof LATE>
  readonly #cancel: () => void

  constructor(delayMs: number) {
    this.delayMs = delayMs
    let pass = (_: typeof LATE): void => {}
    this.#passed = new Promise((resolve) => {
      pass = resolve
    })
    this.#cancel = startTimer(delayMs, () => {
      this.#controller.abort()
      pass(LATE)
    })
  }

  /** Fires when the time is up. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** What `promise` settles to if it does so in time. It is not left unobserved afterwards. */
  meet<T>(promise: Promise<T>): Promise<T | typeof LATE> {
    return Promise.race([promise, this.#passed])
  }

  clear(): void {
    this.#cancel()
  }
}
