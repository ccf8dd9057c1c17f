/**
 * Generates IDs from a tag and a counter. The tag is the seed, so that IDs are the same on each run. Without a seed it is
 * random: a receiver must not mistake the messages of two services for duplicates.
 */
export class IdGenerator {
  readonly #tag: string
  readonly #reserved = new Set<string>()
  #count = 0

  constructor(seed: number | string | undefined) {
    this.#tag = seed === undefined ? crypto.randomUUID().slice(-12) : String(seed)
  }

  /** Returns a new ID, for example `entry_7_1`. */
  next(kind: 'delivery' | 'entry' | 'hook' | 'message' | 'ref'): string {
    for (;;) {
      const id = `${kind}_${this.#tag}_${++this.#count}`
      if (!this.#reserved.has(id)) return id
    }
  }

  /** Excludes an ID that is in use, for example in a loaded seed. */
  reserve(id: string): void {
    this.#reserved.add(id)
  }
}
