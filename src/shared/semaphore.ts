/** Limits the number of tasks that run at once. Further tasks wait in order. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  /** @param permits - the maximum number of running tasks; `Infinity` for no limit */
  constructor(permits: number) {
    this.#free = permits
  }

  /** Waits for a permit. Call {@link release} once for each permit. */
  async acquire(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Passes the permit to the task that has waited longest. */
  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }

  /** Runs `task` with a permit, and releases the permit when the task has ended. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    await this.acquire()
    try {
      return await task()
    } finally {
      this.release()
    }
  }
}
