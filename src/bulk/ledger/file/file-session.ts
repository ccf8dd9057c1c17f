import type { AwardRow } from '../../award/row.ts'
import type { AwardFailure, FinalResult, Verdict } from '../../award/verdict.ts'
import { type ClaimResult, isRetryable, type LedgerSession } from '../ledger.ts'
import { conflictOf, type Entries, type Entry, hasAward } from './entries.ts'
import { type EntryLine, lineOf } from './format.ts'
import type { GroupWriter } from './group-writer.ts'

export interface FileSessionParts {
  readonly entries: Entries
  readonly writer: GroupWriter
  readonly checkLock: () => void
  close(): Promise<void>
}

/** Opens a session on a ledger file. The caller holds the lock file. */
export function fileSession({ entries, writer, checkLock, close }: FileSessionParts): LedgerSession {
  const now = (): string => new Date().toISOString()

  const recordIntent = async (row: AwardRow, previous: Entry | undefined): Promise<ClaimResult> => {
    const isInDoubt = previous?.isInDoubt ?? false
    const previousVerdict = previous?.verdict
    const { id: intent, address, pid, xp } = row
    const line: EntryLine = { intent, address, pid, xp, at: now() }
    // Apply the line before the flush, so that the next row with the same id is a duplicate.
    const entry = entries.apply(line)
    if (entry !== undefined) entry.isInRun = true
    await writer.append(lineOf(line))
    return { kind: 'claimed', attempt: { row, isInDoubt, previousVerdict } }
  }

  return {
    claim(row, retryable, isRetry) {
      const entry = entries.get(row.id)
      if (entry === undefined) return recordIntent(row, undefined)
      const known = hasAward(entry) || entry.isInRun ? conflictOf(row, entry) : undefined
      if (known !== undefined) return { kind: 'conflict', known }
      if (entry.isInRun && !isRetry) return { kind: 'duplicate' }
      entry.isInRun = true
      const result = finalResultOf(entry)
      return result !== undefined && !isRetryable(result, retryable)
        ? { kind: 'settled', ...result }
        : recordIntent(row, entry)
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

    lookUp(row, isRetry) {
      const entry = entries.get(row.id)
      if (entry === undefined || conflictOf(row, entry) !== undefined) return undefined
      if (entry.isInRun && !isRetry) return 'duplicate'
      if (!hasAward(entry)) return undefined
      entry.isInRun = true
      return finalResultOf(entry) ?? { verdict: 'indeterminate', failure: entry.error }
    },

    findConflict(row) {
      const entry = entries.get(row.id)
      return entry === undefined || !hasAward(entry) ? undefined : conflictOf(row, entry)
    },

    checkLock,
    close,
  }
}

const finalResultOf = ({ verdict, error: failure }: Entry): FinalResult | undefined => verdict && { verdict, failure }
