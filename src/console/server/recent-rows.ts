import { startTimer } from '../../shared/timers.ts'

const MAX_ROWS = 10_000
const MAX_TOTAL_SIZE = 50_000_000
/** How long removed rows can be restored: the page offers it for ten seconds. */
const RESTORABLE_MS = 15_000

interface Entry<Value> {
  readonly value: Value
  readonly size: number
  readonly revision: number
  /** Place of the row: increases with each new row. */
  readonly order: number
}

interface Removed<Value> {
  readonly entries: readonly Entry<Value>[]
  readonly discarded: number
  readonly stopTimer: () => void
}

/** The latest rows of a list and the revisions of their last changes. Discards the oldest rows to limit memory. */
export class RecentRows<Value extends { readonly key: string }> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #sizeOf: (value: Value) => number
  #size = 0
  #discarded = 0
  #cleared = 0
  #added = 0
  #removed: Removed<Value> | undefined

  /** @param sizeOf - the approximate size of a row in bytes */
  constructor(sizeOf: (value: Value) => number) {
    this.#sizeOf = sizeOf
  }

  /** Adds a row, or replaces the row with the same key. */
  set(value: Value, revision: number): void {
    const known = this.#entries.get(value.key)
    const size = this.#sizeOf(value)
    this.#size += size - (known?.size ?? 0)
    this.#entries.set(value.key, { value, size, revision, order: known?.order ?? ++this.#added })
    this.#limit()
  }

  /** Discards the oldest rows above the limits. */
  #limit(): void {
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

  /** Returns the rows in the order in which they were added. */
  values(): Value[] {
    return [...this.#entries.values()].map(({ value }) => value)
  }

  /** Returns the rows that were set after a revision, in the order in which they were added. */
  changesSince<Row>(revision: number, toRow: (value: Value) => Row) {
    const changed = [...this.#entries.values()].filter((entry) => entry.revision > revision)
    return {
      rows: changed.map(({ value }) => toRow(value)),
      kept: this.#entries.size,
      discarded: this.#discarded,
      cleared: this.#cleared,
    }
  }

  /** Removes rows. Returns how many. Until the next removal, `restore` puts them back. */
  remove(keys: readonly string[]): number {
    const entries = keys.flatMap((key) => this.#entries.get(key) ?? [])
    for (const { value, size } of entries) {
      this.#entries.delete(value.key)
      this.#size -= size
    }
    this.#cleared += entries.length
    this.#forgetRemoved()
    const stopTimer = startTimer(RESTORABLE_MS, () => this.#forgetRemoved())
    this.#removed = { entries, discarded: this.#discarded, stopTimer }
    if (this.#entries.size === 0) this.#discarded = 0
    return entries.length
  }

  /** Puts the removed rows back at their places. Returns whether they were still stored. */
  restore(): boolean {
    if (!this.#removed) return false
    const { entries, discarded } = this.#removed
    this.#cleared -= entries.length
    const all = [...entries.filter(({ value }) => !this.#entries.has(value.key)), ...this.#entries.values()]
    this.#entries.clear()
    this.#size = 0
    for (const entry of all.sort((one, other) => one.order - other.order)) {
      this.#entries.set(entry.value.key, entry)
      this.#size += entry.size
    }
    this.#discarded = Math.max(discarded, this.#discarded)
    this.#forgetRemoved()
    this.#limit()
    return true
  }

  /** Removes all rows. They can't be restored. */
  clear(): void {
    this.#entries.clear()
    this.#size = 0
    this.#discarded = 0
    this.#cleared = 0
    this.#forgetRemoved()
  }

  #forgetRemoved(): void {
    this.#removed?.stopTimer()
    this.#removed = undefined
  }
}
