import { ConfigurationError } from '../../../errors.ts'
import type { AwardFailure, Verdict } from '../../award/verdict.ts'
import { isBound, readEntries } from './entries.ts'
import { absolutePath, unusable } from './file-ledger.ts'
import { readHeader } from './read-header.ts'
import { fileStorage, type LedgerFile } from './storage.ts'

/** One award in a ledger. */
export interface LedgerEntry {
  /** The id of the award. The service accepts each id once. */
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
  /** Why it was not awarded, where that is known. Every rejection has it. */
  readonly error?: AwardFailure
}

/** The entries of a ledger: `for await` gives one after the other, `await` all of them as an array. */
export interface LedgerEntries extends AsyncIterable<LedgerEntry>, PromiseLike<LedgerEntry[]> {}

/**
 * Gives every entry of a ledger that {@link fileLedger} wrote: one per id, in the order in which the ids first appeared. It
 * may be read at any time, also while a run goes on; lines that are not flushed yet are left out. Reading changes nothing.
 *
 * ```ts
 * for await (const { id, xp, verdict } of readLedger('awards.ledger')) console.log(id, xp, verdict)
 * const entries = await readLedger('awards.ledger')
 * ```
 *
 * All entries are held in memory, some 300 bytes each.
 *
 * @param path - of the ledger
 * @returns a value to await or to iterate, more than once: each time the file is read anew. It rejects with
 *   ConfigurationError when there is no ledger, or it is of another version or damaged
 * @throws InvalidRequestError when the path is not a non-empty string
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
  const entries = await readAll(path)
  for (const [id, entry] of entries) {
    if (!isBound(entry)) continue
    const { address, pid, xp, verdict = 'indeterminate', at, error } = entry
    yield { id, address, pid, xp, verdict, at, ...(error && { error }) }
  }
}

async function readAll(path: string) {
  let file: LedgerFile | undefined
  try {
    file = await fileStorage.open(path, 'read')
    if (file === undefined) throw new ConfigurationError(`The ledger ${path} is not there`)
    await readHeader(file)
    return (await readEntries(file)).entries
  } catch (error) {
    throw unusable(path, error)
  } finally {
    await file?.close()
  }
}
