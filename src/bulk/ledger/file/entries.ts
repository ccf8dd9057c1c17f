import { type AwardRow, isSameAward } from '../../award/row.ts'
import { type AwardFailure, type FinalVerdict, isVerdict } from '../../award/verdict.ts'
import type { EntryLine, IntentLine } from './lines.ts'
import { type LedgerEnd, readGroups } from './read-groups.ts'
import type { LedgerFile } from './storage.ts'

/** The state of an award in a ledger. Takes some 300 bytes, its id included. */
export interface Entry extends Omit<AwardRow, 'id'> {
  address: string
  pid: string
  xp: number
  /** When it was last written, as an ISO date. */
  at: string
  /** When the open attempt began; undefined when none is open. */
  openSince: string | undefined
  verdict: FinalVerdict | undefined
  /** Whether there was an attempt whose outcome is unknown. */
  isDoubtful: boolean
  /** Why it was not awarded, where that is known. */
  error: AwardFailure | undefined
  /** Whether this run has met the id. */
  isSeen: boolean
}

/** The entries of a ledger by id, in the order in which their ids first appeared. */
export class Entries {
  readonly #byId = new Map<string, Entry>()

  get(id: string): Entry | undefined {
    return this.#byId.get(id)
  }

  [Symbol.iterator](): IterableIterator<[string, Entry]> {
    return this.#byId.entries()
  }

  /** Applies a line, of this run or an earlier one. @returns the entry; undefined for a line about an unknown id */
  apply(line: EntryLine): Entry | undefined {
    if ('intent' in line) return this.#begin(line)
    const entry = this.#byId.get('verdict' in line ? line.id : line.released)
    if (entry === undefined) return undefined
    entry.openSince = undefined
    if ('verdict' in line) {
      entry.at = line.at
      entry.error = line.error
      entry.verdict = line.verdict === 'indeterminate' ? undefined : line.verdict
      // "Rejected" says that there is no doubt left.
      if (line.verdict === 'indeterminate') entry.isDoubtful = true
      else if (line.verdict === 'rejected') entry.isDoubtful = false
    }
    return entry
  }

  #begin({ intent: id, address, pid, xp, at }: IntentLine): Entry {
    let entry = this.#byId.get(id)
    if (entry === undefined) {
      const none = { openSince: undefined, verdict: undefined, isDoubtful: false, error: undefined, isSeen: false }
      entry = { address, pid, xp, at, ...none }
      this.#byId.set(id, entry)
    } else {
      cutOff(entry)
      // An id that was released may stand for another award from now on.
      entry.address = address
      entry.pid = pid
      entry.xp = xp
    }
    entry.openSince = at
    return entry
  }
}

/** Whether the id is bound to its award. A released intent binds nothing. */
export const isBound = ({ verdict, isDoubtful, openSince }: Entry): boolean =>
  verdict !== undefined || isDoubtful || openSince !== undefined

/** The award that the id of a row stands for, if it differs from the row. */
export function conflictOf(row: AwardRow, entry: Entry): AwardRow | undefined {
  const { address, pid, xp } = entry
  const known = { id: row.id, address, pid, xp }
  return isSameAward(row, known) ? undefined : known
}

/**
 * Reads all entries.
 *
 * @returns the entries, and where the ledger goes on
 * @throws Error with the line
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
  for (const [, entry] of entries) cutOff(entry)
  return { entries, end }
}

function applyText(entries: Entries, text: string, number: number): void {
  const line = JSON.parse(text) as EntryLine
  const isKnownKind = 'intent' in line || 'released' in line || ('verdict' in line && isVerdict(line.verdict))
  if (!isKnownKind) throw new Error(`line ${number}: unrecognised entry`)
  if (entries.apply(line) === undefined) throw new Error(`line ${number}: no earlier line has its id`)
}

/** An attempt that was still open when its process ended has an unknown outcome. */
function cutOff(entry: Entry): void {
  if (entry.openSince === undefined) return
  entry.at = entry.openSince
  entry.openSince = undefined
  entry.verdict = undefined
  entry.error = undefined
  entry.isDoubtful = true
}
