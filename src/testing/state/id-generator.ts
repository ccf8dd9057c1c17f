/**
 * Generates IDs from a tag and a counter. With an `idSeed`, the tag is the seed, and the IDs are the same on each run. Without
 * it, the tag is random, so that a receiver does not mistake the messages of two services for duplicates.
 */
export class IdGenerator {
  readonly #tag: string
  readonly #reserved = new Set<string>()
  #count = 0

  constructor(idSeed: number | string | undefined) {
    this.#tag = idSeed === undefined ? crypto.randomUUID().slice(-12) : String(idSeed)
  }

  /** Returns a new ID, for example `entry_7_1`. */
  next(kind: 'delivery' | 'entry' | 'hook' | 'message' | 'ref'): string {
    for (;;) {
      const id = `${kind}_${this.#tag}_${++this.#count}`
      if (!this.#reserved.has(id)) return id
    }
  }

  /** Excludes an ID that is in use, for example in a loaded seed. */
  reserve(id: string | undefined): void {
    if (id !== undefined) this.#reserved.add(id)
  }
}
