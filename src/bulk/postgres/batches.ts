/** What makes up one statement at most. */
const MOST_ITEMS = 500
const MOST_CHARACTERS = 1 << 22

interface Waiting<Item, Answer> {
  readonly item: Item
  resolve(answer: Answer): void
  reject(reason: unknown): void
}

/**
 * Gathers what is asked while a statement is under way, and asks it with the next one. No statement asks about one id
 * twice: PostgreSQL could not write its row a second time.
 */
export class Batches<Item extends { readonly id: string }, Answer> {
  readonly #ask: (items: readonly Item[]) => Promise<readonly Answer[]>
  #waiting: Waiting<Item, Answer>[] = []
  #running = false

  /** @param ask - answers in the order of the items */
  constructor(ask: (items: readonly Item[]) => Promise<readonly Answer[]>) {
    this.#ask = ask
  }

  ask(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#running = true
    // In a later turn, so that what is asked in this one comes along.
    await undefined
    while (this.#waiting.length > 0) {
      const batch = this.#take()
      try {
        const answers = await this.#ask(batch.map(({ item }) => item))
        for (const [place, { resolve }] of batch.entries()) resolve(answers[place] as Answer)
      } catch (reason) {
        for (const { reject } of batch) reject(reason)
      }
    }
    this.#running = false
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
