import { hash } from 'node:crypto'
import { awardKey } from '../shared/award.ts'
import type { AwardRow } from './rows.ts'

/** Four words of the hash of the id, then two words of the hash of the other fields. */
const WORDS_PER_ROW = 6
const MAX_LOAD = 0.75

/**
 * Remembers the rows of a run: their hashes, in a hash table of 32 to 64 bytes per row. A run may have millions of rows, and
 * a `Map` needs several times as much memory.
 */
export class SeenRows {
  /** The number of slots: a power of two. */
  #capacity = 1_024
  #size = 0
  #slots = new Uint32Array(this.#capacity * WORDS_PER_ROW)

  /**
   * Adds a row.
   *
   * @returns `new` for the first row with this id; `duplicate` if an equal row was added before; `conflict` if the first row
   *   with this id has another address, campaign or XP
   */
  add(award: AwardRow): 'new' | 'duplicate' | 'conflict' {
    const idHash = hash('sha256', award.id)
    const rowHash = hash('sha256', awardKey(award))
    const row = [0, 1, 2, 3].map((at) => wordOf(idHash, at)).concat(wordOf(rowHash, 0), wordOf(rowHash, 1))
    // 0 in the first word marks a free slot.
    row[0] ||= 1
    const at = this.#find(row)
    if (this.#slots[at] !== 0) {
      return this.#slots[at + 4] === row[4] && this.#slots[at + 5] === row[5] ? 'duplicate' : 'conflict'
    }
    this.#slots.set(row, at)
    this.#size++
    if (this.#size > this.#capacity * MAX_LOAD) this.#grow()
    return 'new'
  }

  /** Returns the position of the row with this id, or of the free slot for it. */
  #find(row: ArrayLike<number>): number {
    const slots = this.#slots
    let slot = (row[0] as number) & (this.#capacity - 1)
    for (;;) {
      const at = slot * WORDS_PER_ROW
      if (slots[at] === 0) return at
      const isSameId =
        slots[at] === row[0] && slots[at + 1] === row[1] && slots[at + 2] === row[2] && slots[at + 3] === row[3]
      if (isSameId) return at
      slot = (slot + 1) & (this.#capacity - 1)
    }
  }

  #grow(): void {
    const old = this.#slots
    this.#capacity *= 2
    this.#slots = new Uint32Array(this.#capacity * WORDS_PER_ROW)
    for (let at = 0; at < old.length; at += WORDS_PER_ROW) {
      if (old[at] === 0) continue
      const row = old.subarray(at, at + WORDS_PER_ROW)
      this.#slots.set(row, this.#find(row))
    }
  }
}

/** Returns a word of a hash in hexadecimal. A `Buffer` for each hash would need memory outside the heap. */
const wordOf = (hex: string, at: number): number => Number.parseInt(hex.slice(8 * at, 8 * at + 8), 16)
