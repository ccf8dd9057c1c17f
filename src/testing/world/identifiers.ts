/**
 * Generates identifiers: a counter behind a tag. The tag is the seed, so that identifiers are the same on each run.
 * Without a seed it is random, so that a receiver never mistakes messages of two services for duplicates.
 */
export class Identifiers {
  readonly #tag: string
  readonly #reserved = new Set<string>()
  #count = 0

  constructor(seed: number | string | undefined) {
    this.#tag = seed === undefined ? randomDigits() : String(seed)
  }

  /** Returns a new identifier, such as `entry_7_1`. */
  next(kind: 'delivery' | 'entry' | 'hook' | 'message' | 'ref'): string {
    for (;;) {
      const id = `${kind}_${this.#tag}_${++this.#count}`
      if (!this.#reserved.has(id)) return id
    }
  }

  /** Excludes an identifier that is already in use, for instance from an exported seed. */
  reserve(id: string): void {
    this.#reserved.add(id)
  }
}

/** Returns twelve hexadecimal digits. Pages without https have no `randomUUID`. */
const randomDigits = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, '0')).join('')
