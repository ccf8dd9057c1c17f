import { InvalidRequestError, type Issue } from '../../errors.ts'
import { capped, describeIssues } from '../../schemas/issue.ts'
import { type AwardRow, contradictions } from '../award/row.ts'
import { AwardIndex } from '../ledger/award-index.ts'
import type { LedgerSession } from '../ledger/ledger.ts'
import type { RowSource } from './rows.ts'

/** What is wrong with a row. */
export interface WrongRow {
  readonly index: number
  readonly row: { readonly id: string | undefined; readonly xp: number }
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
  const known = new AwardIndex()
  /** The row that each entry of the index stands for. */
  const first: AwardRow[] = []

  for (let placed = await source.take(); placed !== undefined; placed = await source.take()) {
    source.done()
    const { index, row: read } = placed
    if (!read.ok) {
      wrong.push({ index, row: read, issues: read.issues })
      continue
    }
    const row = read.value
    const issues = [...refusals(row)]
    if (issues.length === 0) {
      const found = known.seek(row)
      if (found === -1) {
        known.add()
        first.push(row)
        if (await session.contradicts(row)) {
          // To find the other award takes as long as to read the ledger.
          const other = wrong.length < MOST_NAMED ? await session.find(row.id) : undefined
          issues.push(...contradictions(row, other))
        }
      } else if (!known.isBound(found)) {
        issues.push(...contradictions(row, first[found]))
      }
      rows.push(row)
    }
    if (issues.length > 0) wrong.push({ index, row, issues })
  }
  return { rows, wrong }
}

/** The error for rows that are wrong. @param consequence - what was done with them, as a sentence without its dot */
export function wrongRows(wrong: readonly WrongRow[], consequence: string): InvalidRequestError {
  const issues = wrong.flatMap(({ index, issues }) =>
    issues.map(({ path, message }) => ({ path: ['rows', index, ...path], message })),
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
