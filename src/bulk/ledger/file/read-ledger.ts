import { ConfigurationError } from '../../../errors.ts'
import type { AwardRow } from '../../award/row.ts'
import type { AwardFailure, Verdict } from '../../award/verdict.ts'
import { INTENT } from '../award-index.ts'
import { BOUND, verdictOf } from '../state.ts'
import { BEFORE_ID, eachLine } from './entries.ts'
import { readGroups } from './groups.ts'
import { RELEASED, VERDICT } from './lines.ts'
import { readContents, readHeader } from './open-ledger.ts'
import { absolutePath, unusable } from './path.ts'
import { fileStorage, type LedgerFile } from './storage.ts'

/** One award in a ledger. */
export interface LedgerEntry {
  /** The id of the award, under which the service counts it once. */
  readonly id: string
  /** The wallet address, as the row had it. */
  readonly address: string
  /** Campaign ID. */
  readonly pid: string
  /** Amount of XP. */
  readonly xp: number
  /** What became of it; `'indeterminate'` also while there is an intent and no verdict yet. */
  readonly verdict: Verdict
  /** When that was written, as an ISO date, by the clock of the process that wrote it. */
  readonly at: string
  /** Why it has not been awarded, where that is known. */
  readonly error?: AwardFailure
}

/** The entries of a ledger: `for await` gives one after the other, `await` all of them as an array. */
export interface LedgerEntries extends AsyncIterable<LedgerEntry>, PromiseLike<LedgerEntry[]> {}

/**
 * Gives every entry of a ledger that {@link fileLedger} wrote: one per id, in the order in which they were last written.
 * It may be read at any time, also while a run goes on; what is not durable yet is not there yet. Reading changes
 * nothing.
 *
 * ```ts
 * for await (const { id, xp, verdict } of readLedger('awards.ledger')) console.log(id, xp, verdict)
 * const entries = await readLedger('awards.ledger')
 * ```
 *
 * `for await` holds a few dozen bytes per entry, an array all of them.
 *
 * @param path - of the ledger
 * @throws InvalidRequestError when the path is not a non-empty string
 * @returns what can be awaited or iterated, more than once: each time the file is read anew. It rejects with
 *   ConfigurationError when there is no ledger, it is of another version, or it is damaged before its last complete group
 */
export function readLedger(path: string): LedgerEntries {
  const absolute = absolutePath('readLedger', path)
  return {
    [Symbol.asyncIterator]: () => entriesOf(absolute),
    // biome-ignore lint/suspicious/noThenProperty: it is meant to be awaited
    then: (onEntries, onError) => collect(entriesOf(absolute)).then(onEntries, onError),
  }
}

async function collect(entries: AsyncIterable<LedgerEntry>): Promise<LedgerEntry[]> {
  const all: LedgerEntry[] = []
  for await (const entry of entries) all.push(entry)
  return all
}

async function* entriesOf(path: string): AsyncGenerator<LedgerEntry> {
  let file: LedgerFile | undefined
  try {
    file = await fileStorage.open(path, 'read')
    if (file === undefined) throw new ConfigurationError(`The ledger ${path} is not there`)
    await readHeader(file)
    yield* settledEntries(file)
  } catch (error) {
    throw unusable(path, error)
  } finally {
    await file?.close()
  }
}

/** What the ledger has for an id, from its last intent. */
export async function findRow(file: LedgerFile, wanted: string): Promise<AwardRow | undefined> {
  const start = Buffer.from(`${INTENT}${JSON.stringify(wanted).slice(1)},`)
  let found: AwardRow | undefined
  for await (const group of readGroups(file)) {
    eachLine(group, (from, to) => {
      if (!group.bytes.subarray(from, from + start.length).equals(start)) return
      const { intent: id, address, pid, xp } = JSON.parse(group.bytes.toString('utf8', from, to))
      found = { id, address, pid, xp }
    })
  }
  return found
}

/** Reads twice: first which line is the last one of each entry, then the lines. */
async function* settledEntries(file: LedgerFile): AsyncGenerator<LedgerEntry> {
  let lastLines = new Uint32Array(1 << 10)
  const { index, end } = await readContents(file, (entry, line) => {
    if (entry >= lastLines.length) lastLines = doubled(lastLines)
    lastLines[entry] = line
  })

  /** What is known of those whose last line is still to come. */
  const open = new Map<number, Open>()
  let isHeader = true
  for await (const group of readGroups(file)) {
    const settled: LedgerEntry[] = []
    if (!isHeader) {
      eachLine(group, (from, to, number) => {
        const line = JSON.parse(group.bytes.toString('utf8', from, to)) as Line
        const entry = index.seekId(group.bytes, from + idOffset(line), to)
        if (line.intent !== undefined) {
          const { intent: id, address, pid, xp, at } = line
          open.set(entry, { row: { id, address, pid, xp }, last: { at }, before: open.get(entry)?.last })
        }
        const known = open.get(entry)
        if (known === undefined) return
        if (line.released !== undefined) known.last = known.before ?? known.last
        if (line.verdict !== undefined) known.last = { at: line.at, ...(line.error && { error: line.error }) }
        if (number !== lastLines[entry]) return
        open.delete(entry)
        const state = index.state(entry)
        if ((state & BOUND) === 0) return
        settled.push({ ...known.row, verdict: verdictOf(state) ?? 'indeterminate', ...known.last })
      })
    }
    isHeader = false
    yield* settled
    if (group.end >= end.position) return
  }
}

/** When something was said of an entry last, and what. */
type LastWord = Pick<LedgerEntry, 'at' | 'error'>

interface Open {
  readonly row: AwardRow
  last: LastWord
  /** What stands again when its last intent is released. */
  readonly before: LastWord | undefined
}

type Line =
  | ({ intent: string; verdict?: never; released?: never; at: string; error?: never } & Omit<AwardRow, 'id'>)
  | { intent?: never; verdict: Verdict; released?: never; id: string; at: string; error?: AwardFailure }
  | { intent?: never; verdict?: never; released: string; at: string; error?: never }

/** Where in its line the id begins. */
function idOffset({ intent, verdict }: Line): number {
  if (intent !== undefined) return INTENT.length
  return verdict === undefined ? RELEASED.length : VERDICT.length + verdict.length + BEFORE_ID
}

function doubled(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}
