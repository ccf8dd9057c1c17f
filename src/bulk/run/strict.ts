import type { InvalidRequestError, Issue } from '../../errors.ts'
import { type AwardRow, contradictions, isSameAward } from '../award/row.ts'
import { invalidRequest } from '../invalid-request.ts'
import type { LedgerSession } from '../ledger/ledger.ts'
import type { RowSource } from './rows.ts'

/** What is wrong with a row. */
export interface WrongRow {
  readonly index: number
  readonly row: { readonly id: string | undefined; readonly xp: number }
  readonly issues: readonly Issue[]
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
): Promise<{ readonly rows: readonly AwardRow[]; readonly wrong: readonly WrongRow[] }> {
  const rows: AwardRow[] = []
  const wrong: WrongRow[] = []
  const first = new Map<string, AwardRow>()
  for (let placed = await source.take(); placed !== undefined; placed = await source.take()) {
    const { index, row: read } = placed
    if (!read.ok) {
      wrong.push({ index, row: read, issues: read.issues })
      continue
    }
    const row = read.value
    const issues = [...refusals(row)]
    if (issues.length === 0) {
      const before = first.get(row.id)
      if (before === undefined) first.set(row.id, row)
      const known = before ?? (await session.conflictOf(row))
      if (known !== undefined && !isSameAward(row, known)) issues.push(...contradictions(row, known))
      rows.push(row)
    }
    if (issues.length > 0) wrong.push({ index, row, issues })
  }
  return { rows, wrong }
}

/** The error for rows that are wrong. @param consequence - what was not done, as a sentence without its full stop */
export function wrongRows(wrong: readonly WrongRow[], consequence: string): InvalidRequestError {
  const issues = wrong.flatMap(({ index, issues }) =>
    issues.map(({ path, message }) => ({ path: ['rows', index, ...path], message })),
  )
  return invalidRequest('rewardWallets', issues, consequence)
}
