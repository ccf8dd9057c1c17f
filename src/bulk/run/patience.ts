/** How long an answer is waited for once the run was stopped. */
const PATIENCE_MS = 10_000

interface Waiting {
  giveUp(reason: Error): void
  timer?: NodeJS.Timeout
}

/** Waits for what functions of the partner answer: without a limit while the run goes on, and with one afterwards. */
export class Patience {
  readonly #waiting = new Set<Waiting>()
  #isLimited = false

  /** @throws what the function throws, or an error when it takes too long */
  async wait<Answer>(ask: () => Answer | PromiseLike<Answer>): Promise<Answer> {
    let waiting: Waiting | undefined
    try {
      return await new Promise<Answer>((resolve, reject) => {
        waiting = { giveUp: reject }
        this.#waiting.add(waiting)
        if (this.#isLimited) limit(waiting)
        // Resolved with a promise that never settles, it could not be rejected any more.
        Promise.resolve(ask()).then(resolve, reject)
      })
    } finally {
      clearTimeout(waiting?.timer)
      if (waiting !== undefined) this.#waiting.delete(waiting)
    }
  }

  /** The run was stopped. */
  limit(): void {
    this.#isLimited = true
    for (const waiting of this.#waiting) limit(waiting)
  }
}

function limit(waiting: Waiting): void {
  waiting.timer ??= setTimeout(() => waiting.giveUp(new Error('it gave no answer in time')), PATIENCE_MS)
}
