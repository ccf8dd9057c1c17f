import { type AwardRow, isSameAward } from '../../award/row.ts'
import { type AwardFailure, type FinalVerdict, isVerdict } from '../../award/verdict.ts'
import type { EntryLine, IntentLine } from './format.ts'
import { type LedgerEnd, readGroups } from './read-groups.ts'
import type { LedgerFile } from './storage.ts'

/** The state of an award in a ledger. An entry takes about 300 bytes, with its id. */
export interface Entry extends Omit<AwardRow, 'id'> {
  address: string
  pid: string
  xp: number
  /** The ISO date of the last change. */
  at: string
  /** The ISO date of the claim; `undefined` if there is no claim. */
  claimedAt: string | undefined
  verdict: FinalVerdict | undefined
  /** Whether an attempt has an unknown outcome. */
  isInDoubt: boolean
  error: AwardFailure | undefined
  /** Whether the current run has read a row with this id. */
  isInRun: boolean
}

/** The entries of a ledger by id, in the order in which the ids first appear. */
export class Entries {
  readonly #byId = new Map<string, Entry>()

  get(id: string): Entry | undefined {
    return this.#byId.get(id)
  }

  [Symbol.iterator](): IterableIterator<[string, Entry]> {
    return this.#byId.entries()
  }

  /** Applies a line. @returns the entry; `undefined` if no earlier line has the id */
  apply(line: EntryLine): Entry | undefined {
    if ('intent' in line) return this.#claim(line)
    const entry = this.#byId.get('verdict' in line ? line.id : line.released)
    if (entry === undefined) return undefined
    entry.claimedAt = undefined
    if ('verdict' in line) {
      entry.at = line.at
      entry.error = line.error
      entry.verdict = line.verdict === 'indeterminate' ? undefined : line.verdict
      if (line.verdict === 'indeterminate') entry.isInDoubt = true
      else if (line.verdict === 'rejected') entry.isInDoubt = false
    }
    return entry
  }

  #claim({ intent: id, address, pid, xp, at }: IntentLine): Entry {
    let entry = this.#byId.get(id)
    if (entry === undefined) {
      const initial = { claimedAt: undefined, verdict: undefined, isInDoubt: false, error: undefined, isInRun: false }
      entry = { address, pid, xp, at, ...initial }
      this.#byId.set(id, entry)
    } else {
      endClaim(entry)
      // After a release, the id may belong to another award.
      entry.address = address
      entry.pid = pid
      entry.xp = xp
    }
    entry.claimedAt = at
    return entry
  }
}

/** Whether the entry has a verdict or an unknown outcome. A released entry has neither: another award may use its id. */
export const hasAward = ({ verdict, isInDoubt }: Entry): boolean => verdict !== undefined || isInDoubt

/** Returns the award of the entry if it differs from the row with the same id. */
export function conflictOf(row: AwardRow, entry: Entry): AwardRow | undefined {
  const { address, pid, xp } = entry
  const known = { id: row.id, address, pid, xp }
  return isSameAward(row, known) ? undefined : known
}

/**
 * Reads all entries.
 *
 * @returns the entries, and the end of the last intact group (lines that were flushed together)
 * @throws Error with the number of the damaged or unrecognised line
 */
export async function readEntries(file: LedgerFile): Promise<{ entries: Entries; end: LedgerEnd }> {
  const entries = new Entries()
  let end: LedgerEnd | undefined
  for await (const group of readGroups(file)) {
    // The first group is the header.
    if (end !== undefined) {
      for (const [offset, text] of group.lines.entries()) applyText(entries, text, group.firstLine + offset)
    }
    end = group.end
  }
  if (end === undefined) throw new Error('its header, the first line, is damaged')
  for (const [, entry] of entries) endClaim(entry)
  return { entries, end }
}

function applyText(entries: Entries, text: string, number: number): void {
  const line = JSON.parse(text) as EntryLine
  const isKnownKind = 'intent' in line || 'released' in line || ('verdict' in line && isVerdict(line.verdict))
  if (!isKnownKind) throw new Error(`line ${number}: unrecognised entry`)
  if (entries.apply(line) === undefined) throw new Error(`line ${number}: no earlier line has its id`)
}

/** Ends a claim whose process is gone: the outcome of its attempt is unknown. */
function endClaim(entry: Entry): void {
  if (entry.claimedAt === undefined) return
  entry.at = entry.claimedAt
  entry.claimedAt = undefined
  entry.verdict = undefined
  entry.error = undefined
  entry.isInDoubt = true
}
