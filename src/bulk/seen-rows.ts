import { hash } from 'node:crypto'
import type { AwardRow } from './rows.ts'

/** Four words of the hash of the id, then two words of the hash of the other fields. */
const WORDS_PER_ROW = 6
const MAX_LOAD = 0.75

/**
 * Remembers the rows of a run: their hashes, in a hash table of 32 to 64 bytes per row. A run may have millions of rows, and
 * a `Map` would need hundreds of bytes for each.
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
  add({ id, address, pid, xp }: AwardRow): 'new' | 'duplicate' | 'conflict' {
    const key = wordsOf(id)
    // 0 in the first word marks a free slot.
    key[0] ||= 1
    const [first, second] = wordsOf(JSON.stringify([address.toLowerCase(), pid, xp]))
    const at = this.#find(key)
    if (this.#slots[at] !== 0) {
      return this.#slots[at + 4] === first && this.#slots[at + 5] === second ? 'duplicate' : 'conflict'
    }
    this.#slots.set([...key.subarray(0, 4), first as number, second as number], at)
    this.#size++
    if (this.#size > this.#capacity * MAX_LOAD) this.#grow()
    return 'new'
  }

  /** Returns the position of the row, or of the free slot for it. */
  #find(key: Uint32Array): number {
    let slot = (key[0] as number) & (this.#capacity - 1)
    for (;;) {
      const at = slot * WORDS_PER_ROW
      if (this.#slots[at] === 0 || [0, 1, 2, 3].every((word) => this.#slots[at + word] === key[word])) return at
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

/** Returns the SHA-256 of a text, as eight words. */
function wordsOf(text: string): Uint32Array {
  const bytes = hash('sha256', text, 'buffer')
  // A copy: the bytes of a `Buffer` may not be aligned.
  return new Uint32Array(new Uint8Array(bytes).buffer)
}
