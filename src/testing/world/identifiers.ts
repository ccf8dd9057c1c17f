/**
 * Makes identifiers up: a counter behind a tag. Of one seed they are the same on each run; without a seed the tag is
 * random, so that a receiver that remembers messages never takes one service's for another's.
 */
export class Identifiers {
  readonly #tag: string
  readonly #reserved = new Set<string>()
  #count = 0

  constructor(seed: number | string | undefined) {
    this.#tag = seed === undefined ? randomDigits() : String(seed)
  }

  /** A new identifier: `entry_7_1`. */
  next(kind: 'delivery' | 'entry' | 'hook' | 'message' | 'ref'): string {
    for (;;) {
      const id = `${kind}_${this.#tag}_${++this.#count}`
      if (!this.#reserved.has(id)) return id
    }
  }

  /** Never makes this one up: somebody brought it, an exported seed for instance. */
  reserve(id: string): void {
    this.#reserved.add(id)
  }
}

/** Twelve hexadecimal digits. `randomUUID` would be shorter, but pages have it over https only. */
const randomDigits = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, '0')).join('')
