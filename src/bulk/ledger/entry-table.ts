import { randomBytes } from 'node:crypto'
import { SipHash } from './siphash.ts'

const CHUNK_BITS = 15
const CHUNK = 1 << CHUNK_BITS
/** Four words of the id's hash, two of the content's. */
const WORDS = 6
const FULLEST = 0.75
/** Turns four letters into lower case, and leaves digits as they are. */
const LOWER_CASE = 0x20202020

/**
 * Remembers ids with what they stand for and one byte of state, in about 35 bytes per entry whatever their length:
 * of id and content only keyed hashes are kept. Entries are numbered from 0 in the order they were added.
 */
export class EntryTable {
  readonly #hash: SipHash
  /** Six words per entry, in chunks: growing copies nothing. */
  readonly #words: Uint32Array[] = []
  readonly #states: Uint8Array[] = []
  /** Open addressing with linear probing. Holds entry + 1; 0 is a free slot. */
  #slots = new Uint32Array(1 << 10)
  #size = 0
  readonly #sought = new Uint32Array(4)
  /** Of the contents: begins anew for each. */
  readonly #seeds: readonly [number, number]
  #low = 0
  #high = 0

  /** @param key - 16 bytes; random unless a test needs collisions. */
  constructor(key: Uint8Array = randomBytes(16)) {
    this.#hash = new SipHash(key)
    this.#seeds = [
      new DataView(key.buffer, key.byteOffset).getInt32(0),
      new DataView(key.buffer, key.byteOffset).getInt32(8),
    ]
  }

  get size(): number {
    return this.#size
  }

  /** The entry of an id, given as a range of bytes, or -1. The id stays in mind for {@link add}. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const sought = this.#sought
    this.#hash.digest(bytes, start, end, sought)
    const mask = this.#slots.length - 1
    for (let slot = (sought[0] as number) & mask; ; slot = (slot + 1) & mask) {
      const entry = (this.#slots[slot] as number) - 1
      if (entry < 0) return -1
      const words = this.#words[entry >>> CHUNK_BITS] as Uint32Array
      const at = (entry & (CHUNK - 1)) * WORDS
      if (
        words[at] === sought[0] &&
        words[at + 1] === sought[1] &&
        words[at + 2] === sought[2] &&
        words[at + 3] === sought[3]
      ) {
        return entry
      }
    }
  }

  /** Adds the id that was sought last and not found. */
  add(): number {
    if (this.#size + 1 > this.#slots.length * FULLEST) this.#grow()
    const entry = this.#size++
    const chunk = entry >>> CHUNK_BITS
    if (chunk === this.#words.length) {
      this.#words.push(new Uint32Array(CHUNK * WORDS))
      this.#states.push(new Uint8Array(CHUNK))
    }
    const at = (entry & (CHUNK - 1)) * WORDS
    const words = this.#words[chunk] as Uint32Array
    for (let word = 0; word < 4; word++) words[at + word] = this.#sought[word] as number
    this.#place(entry, this.#sought[0] as number)
    return entry
  }

  /**
   * What the entry stands for, as a range of bytes.
   *
   * @param folded - up to here letter case makes no difference, nor in the rest of the four bytes that it falls into
   */
  setContent(entry: number, bytes: Uint8Array, start: number, folded: number, end: number): void {
    const words = this.#words[entry >>> CHUNK_BITS] as Uint32Array
    const at = (entry & (CHUNK - 1)) * WORDS + 4
    this.#hashContent(bytes, start, folded, end)
    words[at] = this.#low
    words[at + 1] = this.#high
  }

  hasContent(entry: number, bytes: Uint8Array, start: number, folded: number, end: number): boolean {
    const words = this.#words[entry >>> CHUNK_BITS] as Uint32Array
    const at = (entry & (CHUNK - 1)) * WORDS + 4
    this.#hashContent(bytes, start, folded, end)
    return words[at] === this.#low && words[at + 1] === this.#high
  }

  state(entry: number): number {
    return (this.#states[entry >>> CHUNK_BITS] as Uint8Array)[entry & (CHUNK - 1)] as number
  }

  setState(entry: number, state: number): void {
    ;(this.#states[entry >>> CHUNK_BITS] as Uint8Array)[entry & (CHUNK - 1)] = state
  }

  /**
   * Multiplies and folds, four bytes at a time. Contents are only compared under one id: who could choose two that look the
   * same here would hide a contradiction of his own, and the award would be the first one.
   */
  #hashContent(bytes: Uint8Array, start: number, folded: number, end: number): void {
    let [low, high] = this.#seeds
    for (let at = start; at < end; at += 4) {
      const four =
        (bytes[at] as number) |
        (at + 1 < end ? (bytes[at + 1] as number) << 8 : 0) |
        (at + 2 < end ? (bytes[at + 2] as number) << 16 : 0) |
        (at + 3 < end ? (bytes[at + 3] as number) << 24 : 0)
      const word = at < folded ? four | LOWER_CASE : four
      low = Math.imul(low ^ word, 0x85ebca6b)
      low = (low << 13) | (low >>> 19)
      high = Math.imul(high ^ word, 0xc2b2ae35)
      high = ((high << 15) | (high >>> 17)) + low
    }
    low = Math.imul(low ^ (end - start), 0x27d4eb2f)
    this.#low = (low ^ (low >>> 15)) >>> 0
    this.#high = (Math.imul(high, 0x165667b1) ^ (high >>> 13)) >>> 0
  }

  #place(entry: number, hash: number): void {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = entry + 1
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2)
    for (let entry = 0; entry < this.#size; entry++) {
      const words = this.#words[entry >>> CHUNK_BITS] as Uint32Array
      this.#place(entry, words[(entry & (CHUNK - 1)) * WORDS] as number)
    }
  }
}
