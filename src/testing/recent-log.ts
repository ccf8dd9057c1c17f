const MAX_ENTRIES = 10_000
const MAX_TOTAL_SIZE = 50_000_000

interface Entry<Value> {
  readonly value: Value
  readonly size: number
  readonly revision: number
}

/** The latest values by key, oldest first: at most 10 000 of them and about 50 MB in all. */
export class RecentLog<Key, Value> {
  readonly #entries = new Map<Key, Entry<Value>>()
  readonly #onDiscard: ((key: Key) => void) | undefined
  #size = 0
  /** How many values were discarded because of the limits, since the last `clear`. */
  discarded = 0

  /** @param onDiscard - called for each value that is discarded because of the limits */
  constructor(onDiscard?: (key: Key) => void) {
    this.#onDiscard = onDiscard
  }

  /**
   * Adds a value, or replaces the value with the same key.
   *
   * @param size - the approximate size of the value in bytes
   * @param revision - increases with each change, for {@link changedSince}
   */
  set(key: Key, value: Value, size: number, revision = 0): void {
    this.#size += size - (this.#entries.get(key)?.size ?? 0)
    this.#entries.set(key, { value, size, revision })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#size <= MAX_TOTAL_SIZE) return
      this.delete(oldest)
      this.discarded++
      this.#onDiscard?.(oldest)
    }
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value
  }

  get size(): number {
    return this.#entries.size
  }

  values(): Value[] {
    return this.changedSince(-1)
  }

  /** Returns the values that were set after a revision. */
  changedSince(revision: number): Value[] {
    return [...this.#entries.values()].filter((entry) => entry.revision > revision).map(({ value }) => value)
  }

  delete(key: Key): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#size = 0
    this.discarded = 0
  }
}
