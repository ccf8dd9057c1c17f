import { startTimer } from '../../shared/timers.ts'
import { RecentLog } from '../../testing/recent-log.ts'

/** How long removed rows can be restored: the page offers it for ten seconds. */
const RESTORABLE_MS = 15_000

/** The latest rows of a list. The user can remove rows and, for a short time, restore them. */
export class RecentRows<Value extends { readonly key: string }> {
  readonly #rows = new RecentLog<string, Value>((key) => this.#removed.delete(key))
  readonly #sizeOf: (value: Value) => number
  /** The keys of the rows that `restore` shows again. */
  #removed = new Set<string>()
  #cleared = 0
  #stopTimer: (() => void) | undefined

  /** @param sizeOf - the approximate size of a row in bytes */
  constructor(sizeOf: (value: Value) => number) {
    this.#sizeOf = sizeOf
  }

  /** Adds a row, or replaces the row with the same key. */
  set(value: Value, revision: number): void {
    this.#rows.set(value.key, value, this.#sizeOf(value), revision)
  }

  get(key: string): Value | undefined {
    return this.#removed.has(key) ? undefined : this.#rows.get(key)
  }

  /** Returns the rows in the order in which they were added. */
  values(): Value[] {
    return this.#shown(this.#rows.values())
  }

  /** Returns the rows that were set after a revision, in the order in which they were added. */
  changesSince<Row>(revision: number, toRow: (value: Value) => Row) {
    const kept = this.#rows.size - this.#removed.size
    return {
      rows: this.#shown(this.#rows.changedSince(revision)).map(toRow),
      kept,
      discarded: kept === 0 ? 0 : this.#rows.discarded,
      cleared: this.#cleared,
    }
  }

  #shown(rows: Value[]): Value[] {
    return this.#removed.size === 0 ? rows : rows.filter(({ key }) => !this.#removed.has(key))
  }

  /** Removes rows. Returns how many. Until the next removal, `restore` puts them back. */
  remove(keys: readonly string[]): number {
    const removed = new Set(keys.filter((key) => this.get(key) !== undefined))
    this.#forgetRemoved()
    this.#removed = removed
    this.#cleared += removed.size
    this.#stopTimer = startTimer(RESTORABLE_MS, () => this.#forgetRemoved())
    return removed.size
  }

  /** Puts the removed rows back at their places. Returns whether they were still stored. */
  restore(): boolean {
    if (!this.#stopTimer) return false
    this.#cleared -= this.#removed.size
    this.#removed.clear()
    this.#forgetRemoved()
    return true
  }

  /** Removes all rows. They can't be restored. */
  clear(): void {
    this.#forgetRemoved()
    this.#rows.clear()
    this.#cleared = 0
  }

  #forgetRemoved(): void {
    for (const key of this.#removed) this.#rows.delete(key)
    this.#removed.clear()
    this.#stopTimer?.()
    this.#stopTimer = undefined
    if (this.#rows.size === 0) this.#rows.discarded = 0
  }
}
