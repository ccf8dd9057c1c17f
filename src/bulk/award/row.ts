import { type RewardWalletRequest, rewardWalletRequest } from '../../endpoints/reward-wallet.ts'
import type { Issue } from '../../schemas/issue.ts'
import { validate } from '../../schemas/validate.ts'
import { isRecord } from '../../shared/type-checks.ts'

/** One award of a list: the argument of `rewardWallet`. */
export type AwardRow = RewardWalletRequest

/** A checked row. In an invalid row, an `id` that is not a string is `undefined`, and an `xp` that is not a number is 0. */
export type ReadRow =
  | { readonly ok: true; readonly value: AwardRow }
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly id: string | undefined; readonly xp: number }

/** Copies and checks a row. Call it before the next row is read: a list may reuse one object for all rows. */
export function readRow(given: unknown): ReadRow {
  const copy = isRecord(given) ? { address: given.address, pid: given.pid, id: given.id, xp: given.xp } : given
  const checked = validate(rewardWalletRequest, copy)
  if (checked.ok) return checked
  const { id, xp } = isRecord(copy) ? copy : {}
  return {
    ok: false,
    issues: checked.issues,
    id: typeof id === 'string' ? id : undefined,
    xp: Number.isFinite(xp) ? (xp as number) : 0,
  }
}

export const describeRowIssues = (issues: readonly Issue[]): string =>
  issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')} ${message}` : `the row ${message}`))
    .join('; ')

/** Whether two rows with the same id are the same award. The letter case of an address makes no difference. */
export const isSameAward = (one: Omit<AwardRow, 'id'>, other: Omit<AwardRow, 'id'>): boolean =>
  one.xp === other.xp && one.pid === other.pid && one.address.toLowerCase() === other.address.toLowerCase()

/** Returns an issue for each field in which a row differs from the known award with the same id. */
export function conflictIssues(row: AwardRow, known: AwardRow): Issue[] {
  // Takes one field at a time from the known award, so that `isSameAward` compares only this field.
  const names = (['address', 'pid', 'xp'] as const).filter((name) => !isSameAward({ ...row, [name]: known[name] }, row))
  return names.map((name) => ({
    path: [name],
    message: `is ${JSON.stringify(row[name])}, but the award with the id ${JSON.stringify(row.id)} has ${JSON.stringify(known[name])}`,
  }))
}
