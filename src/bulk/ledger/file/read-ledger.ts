import { ConfigurationError } from '../../../errors.ts'
import type { AwardFailure, Verdict } from '../../award/verdict.ts'
import { hasAward, readEntries } from './entries.ts'
import { absolutePath, unusable } from './file-ledger.ts'
import { readHeader } from './read-header.ts'
import { fileStorage, type LedgerFile } from './storage.ts'

/** One award in a ledger. */
export interface LedgerEntry {
  /** The id of the award. The service accepts each id once. */
  readonly id: string
  /** The wallet address of the row. */
  readonly address: string
  /** Campaign ID. */
  readonly pid: string
  /** Amount of XP. */
  readonly xp: number
  /** The last verdict; `'indeterminate'` after an attempt with an unknown outcome. */
  readonly verdict: Verdict
  /** The ISO date of the verdict, by the clock of the process that wrote it. */
  readonly at: string
  /** The recorded failure. Set on every `rejected` award. */
  readonly error?: AwardFailure
}

/** The entries of a ledger. Iterate over them with `for await`, or get an array with `await`. */
export interface LedgerEntries extends AsyncIterable<LedgerEntry>, PromiseLike<LedgerEntry[]> {}

/**
 * Reads the entries of a ledger that {@link fileLedger} wrote: one per id, in the order in which the ids first appear.
 * It changes nothing, and works while a run uses the ledger.
 *
 * ```ts
 * for await (const { id, xp, verdict } of readLedger('awards.ledger')) console.log(id, xp, verdict)
 * const entries = await readLedger('awards.ledger')
 * ```
 *
 * It needs about 300 bytes of memory per entry.
 *
 * @param path - of the ledger
 * @returns the entries. Each `await` and each iteration reads the file again, and rejects with ConfigurationError when
 *   the ledger does not exist, has an unsupported version or is damaged
 * @throws InvalidRequestError when the path is not a non-empty string
 */
export function readLedger(path: string): LedgerEntries {
  const absolute = absolutePath('readLedger', path)
  return {
    [Symbol.asyncIterator]: () => entriesOf(absolute),
    // biome-ignore lint/suspicious/noThenProperty: callers await it
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
    if (!hasAward(entry)) continue
    const { address, pid, xp, verdict = 'indeterminate', at, error } = entry
    yield { id, address, pid, xp, verdict, at, ...(error && { error }) }
  }
}

async function readAll(path: string) {
  let file: LedgerFile | undefined
  try {
    file = await fileStorage.open(path, 'read')
    if (file === undefined) throw new ConfigurationError(`The ledger ${path} does not exist`)
    await readHeader(file)
    return (await readEntries(file)).entries
  } catch (error) {
    throw unusable(path, error)
  } finally {
    await file?.close()
  }
}
