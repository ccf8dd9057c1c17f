import { type RewardWalletRequest, rewardWalletRequest } from '../../endpoints/reward-wallet.ts'
import { type Checked, check } from '../../schemas/check.ts'
import { capped, type Issue } from '../../schemas/issue.ts'

/** One award of a list: what `rewardWallet` takes. */
export type AwardRow = RewardWalletRequest

/** A row from a stranger: an award, or what is wrong with it and what could be read of it all the same. */
export type ReadRow =
  | { readonly ok: true; readonly value: AwardRow }
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly id: string | undefined; readonly xp: number }

/** Reads a row, once and at once: whoever gave it may use the same object for the next one. */
export function readRow(value: unknown): ReadRow {
  const checked = checkRow(value)
  if (checked.ok) return checked
  const id = fieldOf(value, 'id')
  const xp = fieldOf(value, 'xp')
  return {
    ok: false,
    issues: checked.issues,
    id: typeof id === 'string' ? id : undefined,
    xp: typeof xp === 'number' && Number.isFinite(xp) ? xp : 0,
  }
}

function checkRow(value: unknown): Checked<AwardRow> {
  try {
    return check(rewardWalletRequest, value)
  } catch {
    return { ok: false, ...capped([{ path: [], message: 'threw an error while it was read' }]) }
  }
}

/** What is wrong with a row, in words. */
export const wordsOf = (issues: readonly Issue[]): string =>
  issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')} ${message}` : `the row ${message}`))
    .join('; ')

/**
 * What is wrong with a row whose id stands for something else already.
 *
 * @param known - what it stands for, where that can be told
 */
export function contradictions(row: AwardRow, known: AwardRow | undefined): Issue[] {
  const id = JSON.stringify(row.id)
  if (known === undefined) return [{ path: ['id'], message: `${id} stands for another award already` }]
  return CONTENT.filter((name) => !isSame(name, row[name], known[name])).map((name) => ({
    path: [name],
    message: `is ${JSON.stringify(row[name])}, but the id ${id} stands for ${JSON.stringify(known[name])} already`,
  }))
}

const CONTENT = ['address', 'pid', 'xp'] as const

const isSame = (name: string, one: string | number, other: string | number): boolean =>
  name === 'address' ? String(one).toLowerCase() === String(other).toLowerCase() : one === other

function fieldOf(row: unknown, name: string): unknown {
  try {
    return typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined
  } catch {
    return undefined
  }
}
