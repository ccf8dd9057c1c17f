import type { AwardRow } from '../../award/row.ts'
import type { AwardFailure, Verdict } from '../../award/verdict.ts'
import { type Beginning, isReopened, type LedgerSession, type Settled } from '../ledger.ts'
import { conflictOf, type Entries, type Entry, isBound } from './entries.ts'
import type { GroupWriter } from './group-writer.ts'
import { type EntryLine, lineOf } from './lines.ts'

/** An open ledger in a file. */
export interface FileSessionParts {
  readonly entries: Entries
  readonly writer: GroupWriter
  readonly checkLock: () => void
  close(): Promise<void>
}

/** A ledger in a file, used by the one run that holds its lock file. */
export function fileSession({ entries, writer, checkLock, close }: FileSessionParts): LedgerSession {
  const now = (): string => new Date().toISOString()

  const intend = async (row: AwardRow, before: Entry | undefined): Promise<Beginning> => {
    const isDoubtful = before?.isDoubtful ?? false
    const reopened = before?.verdict
    const { id: intent, address, pid, xp } = row
    const line: EntryLine = { intent, address, pid, xp, at: now() }
    // At once, so that a row with the same id finds it.
    const entry = entries.apply(line)
    if (entry !== undefined) entry.isSeen = true
    await writer.append(lineOf(line))
    return { kind: 'begun', attempt: { row, isDoubtful, reopened } }
  }

  return {
    begin(row, reopening, isAgain) {
      const entry = entries.get(row.id)
      if (entry === undefined) return intend(row, undefined)
      // Also where an earlier row of this list was begun and taken back.
      const known = isBound(entry) || entry.isSeen ? conflictOf(row, entry) : undefined
      if (known !== undefined) return { kind: 'conflict', known }
      if (entry.isSeen && !isAgain) return { kind: 'duplicate' }
      entry.isSeen = true
      const settled = settledOf(entry)
      return settled !== undefined && !isReopened(settled, reopening)
        ? { kind: 'settled', ...settled }
        : intend(row, entry)
    },

    async settle({ row: { id } }, verdict: Verdict, failure?: AwardFailure) {
      const line: EntryLine = { verdict, id, at: now(), ...(failure && { error: failure }) }
      await writer.append(lineOf(line))
      entries.apply(line)
      return verdict
    },

    async release({ row: { id } }) {
      const line: EntryLine = { released: id, at: now() }
      await writer.append(lineOf(line))
      entries.apply(line)
    },

    recall(row, isAgain) {
      const entry = entries.get(row.id)
      if (entry === undefined || conflictOf(row, entry) !== undefined) return undefined
      if (entry.isSeen && !isAgain) return 'duplicate'
      if (!isBound(entry)) return undefined
      entry.isSeen = true
      return settledOf(entry) ?? { verdict: 'indeterminate', failure: entry.error }
    },

    conflictOf(row) {
      const entry = entries.get(row.id)
      return entry === undefined || !isBound(entry) ? undefined : conflictOf(row, entry)
    },

    check: checkLock,
    close,
  }
}

const settledOf = ({ verdict, error: failure }: Entry): Settled | undefined => verdict && { verdict, failure }
