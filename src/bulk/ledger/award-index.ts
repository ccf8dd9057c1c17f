import type { AwardRow } from '../award/row.ts'
import { EntryTable } from './entry-table.ts'

/** How an intent begins, in ledgers and here. */
const START = '{"intent":"'
export const INTENT = Buffer.from(START)
const BEFORE_ADDRESS = '","address":"'.length
const ADDRESS_LENGTH = '0x'.length + 40
/** The most bytes that UTF-8 takes for one unit of a string. */
const UTF8_BYTES = 3
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** An intent as ledgers have it, up to its time. Two rows are the same award when this is the same. */
export const intentText = ({ id, address, pid, xp }: AwardRow): string =>
  // A finite number is in JSON what it is as text.
  `{"intent":${JSON.stringify(id)},"address":"${address}","pid":${JSON.stringify(pid)},"xp":${xp}`

/** Where the JSON text that begins there ends: the place of its closing quote. */
export function endOfText(bytes: Uint8Array, start: number, limit: number): number {
  let at = start
  while (at < limit && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/**
 * The awards of a run by id, with what each is about and its state: some 35 bytes each, whatever the length of the ids.
 * Addresses are the same in either letter case.
 */
export class AwardIndex {
  readonly #table: EntryTable
  #scratch = Buffer.allocUnsafe(1 << 10)
  /** The intent that was sought last. */
  #bytes: Uint8Array = this.#scratch
  #address = 0
  #end = 0

  constructor(table: EntryTable = new EntryTable()) {
    this.#table = table
  }

  get size(): number {
    return this.#table.size
  }

  /** The entry of the row's id, or -1. The row stays in mind for {@link add}, {@link bind} and {@link isBound}. */
  seek(row: AwardRow): number {
    const text = intentText(row)
    if (text.length * UTF8_BYTES > this.#scratch.length) this.#scratch = Buffer.allocUnsafe(text.length * UTF8_BYTES)
    return this.seekIntent(this.#scratch, 0, this.#scratch.write(text))
  }

  /** The same for an intent as bytes, up to its time. */
  seekIntent(bytes: Uint8Array, start: number, end: number): number {
    const idStart = start + INTENT.length
    const idEnd = endOfText(bytes, idStart, end)
    this.#bytes = bytes
    this.#address = idEnd + BEFORE_ADDRESS
    this.#end = end
    return this.#table.find(bytes, idStart, idEnd)
  }

  /** The entry of an id alone, whose JSON text begins at `start`, or -1. */
  seekId(bytes: Uint8Array, start: number, limit: number): number {
    return this.#table.find(bytes, start, endOfText(bytes, start, limit))
  }

  /** Adds what was sought last and not found. */
  add(): number {
    const entry = this.#table.add()
    this.bind(entry)
    return entry
  }

  /** Lets the entry be about what was sought last. */
  bind(entry: number): void {
    this.#table.setContent(entry, this.#bytes, this.#address, this.#address + ADDRESS_LENGTH, this.#end)
  }

  /** Whether the entry is about what was sought last. */
  isBound(entry: number): boolean {
    return this.#table.hasContent(entry, this.#bytes, this.#address, this.#address + ADDRESS_LENGTH, this.#end)
  }

  state(entry: number): number {
    return this.#table.state(entry)
  }

  setState(entry: number, state: number): void {
    this.#table.setState(entry, state)
  }
}
