import type { InvalidRequestError, Issue } from '../../errors.ts'
import { type AwardRow, conflictIssues, isSameAward } from '../award/row.ts'
import { invalidRequestError } from '../errors.ts'
import type { LedgerSession } from '../ledger/ledger.ts'
import type { RowSource } from './row-source.ts'

export interface InvalidRow {
  readonly index: number
  readonly row: { readonly id: string | undefined; readonly xp: number }
  readonly issues: readonly Issue[]
}

/**
 * Reads all rows, and compares them with one another and with the ledger.
 *
 * @throws the error of the list or the ledger
 */
export async function checkRows(
  source: RowSource,
  session: LedgerSession,
  refusals: (row: AwardRow) => readonly Issue[],
): Promise<{ readonly rows: readonly AwardRow[]; readonly invalid: readonly InvalidRow[] }> {
  const rows: AwardRow[] = []
  const invalid: InvalidRow[] = []
  const byId = new Map<string, AwardRow>()
  for (let next = await source.next(); next !== undefined; next = await source.next()) {
    const { index, row: checked } = next
    if (!checked.ok) {
      invalid.push({ index, row: checked, issues: checked.issues })
      continue
    }
    const row = checked.value
    const issues = [...refusals(row)]
    if (issues.length === 0) {
      const earlier = byId.get(row.id)
      if (earlier === undefined) byId.set(row.id, row)
      const known = earlier ?? (await session.findConflict(row))
      if (known !== undefined && !isSameAward(row, known)) issues.push(...conflictIssues(row, known))
      rows.push(row)
    }
    if (issues.length > 0) invalid.push({ index, row, issues })
  }
  return { rows, invalid }
}

/** Returns the error for invalid rows. @param consequence - a sentence without its full stop */
export function invalidRowsError(rows: readonly InvalidRow[], consequence: string): InvalidRequestError {
  const issues = rows.flatMap(({ index, issues }) =>
    issues.map(({ path, message }) => ({ path: ['rows', index, ...path], message })),
  )
  return invalidRequestError('rewardWallets', issues, consequence)
}
