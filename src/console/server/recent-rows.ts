const MAX_ROWS = 10_000
const MAX_TOTAL_SIZE = 50_000_000

interface Entry<Value> {
  readonly value: Value
  readonly size: number
  readonly revision: number
}

/** The latest rows of a list and the revisions of their last changes. Discards the oldest rows to limit memory. */
export class RecentRows<Value extends { readonly key: string }> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #sizeOf: (value: Value) => number
  #size = 0
  #discarded = 0

  /** @param sizeOf - the approximate size of a row in bytes */
  constructor(sizeOf: (value: Value) => number) {
    this.#sizeOf = sizeOf
  }

  /** Adds a row, or replaces the row with the same key. */
  set(value: Value, revision: number): void {
    const size = this.#sizeOf(value)
    this.#size += size - (this.#entries.get(value.key)?.size ?? 0)
    this.#entries.set(value.key, { value, size, revision })
    for (const [key, oldest] of this.#entries) {
      if (this.#entries.size <= MAX_ROWS && this.#size <= MAX_TOTAL_SIZE) return
      this.#entries.delete(key)
      this.#size -= oldest.size
      this.#discarded++
    }
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }

  /** Returns the rows that were set after a revision, in the order in which they were added. */
  changesSince<Row>(revision: number, toRow: (value: Value) => Row) {
    const changed = [...this.#entries.values()].filter((entry) => entry.revision > revision)
    return {
      rows: changed.map(({ value }) => toRow(value)),
      kept: this.#entries.size,
      discarded: this.#discarded,
    }
  }

  /** Removes all rows, except for those to keep. */
  clear(isKept: (value: Value) => boolean = () => false): void {
    for (const [key, { value, size }] of this.#entries) {
      if (isKept(value)) continue
      this.#entries.delete(key)
      this.#size -= size
    }
    this.#discarded = 0
  }
}
