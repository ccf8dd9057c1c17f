/** What makes up one statement at most. */
const MOST_ITEMS = 500
const MOST_CHARACTERS = 1 << 22

interface Waiting<Item, Answer> {
  readonly item: Item
  resolve(answer: Answer): void
  reject(reason: unknown): void
}

/** How many statements are under way at once, beyond which is gathered, and for how long each of them counts. */
interface Pace {
  readonly atOnce: number
  readonly patienceMs: number
}

/**
 * Gathers what is asked while statements are under way, and asks it with the next one. No statement asks about one id
 * twice: PostgreSQL could not write its row a second time.
 */
export class Batches<Item extends { readonly id: string }, Answer> {
  readonly #ask: (items: readonly Item[]) => Promise<readonly Answer[]>
  readonly #pace: Pace | undefined
  #waiting: Waiting<Item, Answer>[] = []
  #running = 0

  /**
   * @param ask - answers in the order of the items
   * @param pace - without it one statement follows the other, however long that takes
   */
  constructor(ask: (items: readonly Item[]) => Promise<readonly Answer[]>, pace?: Pace) {
    this.#ask = ask
    this.#pace = pace
  }

  ask(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#running < (this.#pace?.atOnce ?? 1)) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#running += 1
    // In a later turn, so that what is asked in this one comes along.
    await undefined
    let counts = true
    while (counts && this.#waiting.length > 0) {
      const batch = this.#take()
      // What hangs must not keep the others waiting: they go on without it.
      const timer = this.#whenOverdue(() => {
        counts = false
        this.#running -= 1
        void this.#run()
      })
      try {
        const answers = await this.#ask(batch.map(({ item }) => item))
        for (const [place, { resolve }] of batch.entries()) resolve(answers[place] as Answer)
      } catch (reason) {
        for (const { reject } of batch) reject(reason)
      }
      clearTimeout(timer)
    }
    if (counts) this.#running -= 1
  }

  #whenOverdue(callback: () => void): ReturnType<typeof setTimeout> | undefined {
    return this.#pace && setTimeout(callback, this.#pace.patienceMs)
  }

  #take(): Waiting<Item, Answer>[] {
    const batch: Waiting<Item, Answer>[] = []
    const later: Waiting<Item, Answer>[] = []
    const ids = new Set<string>()
    let characters = 0
    for (const waiting of this.#waiting) {
      const { id } = waiting.item
      const fits = batch.length === 0 || (batch.length < MOST_ITEMS && characters + id.length <= MOST_CHARACTERS)
      if (!fits || ids.has(id)) {
        later.push(waiting)
        continue
      }
      ids.add(id)
      characters += id.length
      batch.push(waiting)
    }
    this.#waiting = later
    return batch
  }
}
