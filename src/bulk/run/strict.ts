import { InvalidRequestError, type Issue } from '../../errors.ts'
import { capped, describeIssues } from '../../schemas/issue.ts'
import { type AwardRow, contradictions, readRow } from '../award/row.ts'
import { AwardIndex } from '../ledger/award-index.ts'
import type { LedgerSession } from '../ledger/ledger.ts'
import type { Placed, RowSource } from './rows.ts'

/** What is wrong with a row. */
export interface WrongRow {
  readonly placed: Placed
  readonly issues: readonly Issue[]
}

/** A list that was read to its end. */
export interface StrictReading {
  readonly rows: readonly AwardRow[]
  readonly wrong: readonly WrongRow[]
}

/**
 * Reads all rows, and compares them with one another and with the ledger, before any is sent.
 *
 * @throws what the list or the ledger throws
 */
export async function readStrictly(
  source: RowSource,
  session: LedgerSession,
  refusals: (row: AwardRow) => readonly Issue[],
): Promise<StrictReading> {
  const rows: AwardRow[] = []
  const wrong: WrongRow[] = []
  const index = new AwardIndex()
  /** The row that each entry of the index stands for. */
  const first: AwardRow[] = []

  for (let placed = await source.take(); placed !== undefined; placed = await source.take()) {
    source.done()
    const checked = readRow(placed.row)
    const issues = [...(checked.ok ? refusals(checked.value) : checked.issues)]
    if (checked.ok && issues.length === 0) {
      const row = checked.value
      const found = index.seek(row)
      if (found === -1) {
        index.add()
        first.push(row)
        if (await session.contradicts(row)) {
          // To find the other award takes as long as to read the ledger.
          const known = wrong.length < MOST_NAMED ? await session.find(row.id) : undefined
          issues.push(...contradictions(row, known))
        }
      } else if (!index.isBound(found)) {
        issues.push(...contradictions(row, first[found]))
      }
      rows.push(row)
    }
    if (issues.length > 0) wrong.push({ placed, issues })
  }
  return { rows, wrong }
}

/** The error for rows that are wrong. @param consequence - what was done with them, as a sentence without its dot */
export function wrongRows(wrong: readonly WrongRow[], consequence: string): InvalidRequestError {
  const issues = wrong.flatMap(({ placed, issues }) =>
    issues.map(({ path, message }) => ({ path: ['rows', placed.index, ...path], message })),
  )
  const found = capped(issues)
  const words = describeIssues(found, MOST_NAMED, ({ path, message }) => `${path.join('.')} ${message}`)
  return new InvalidRequestError(`rewardWallets: ${words}. ${consequence}.`, {
    operation: 'rewardWallets',
    ...found,
    outcome: 'not_applied',
  })
}

/** Wrong rows that are looked up and put into words. The report lists more. */
const MOST_NAMED = 10
