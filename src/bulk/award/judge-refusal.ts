import { type ApiError, type CampaignError, ConfigurationError } from '../../errors.ts'
import { isRecord, typeName } from '../../shared/type-checks.ts'
import { failureOf, safeMessage } from './call-outcome.ts'
import type { AwardRow } from './row.ts'
import type { AwardResult } from './verdict.ts'

/**
 * The answer of `confirm`: the award was made (`true`), it was made with this amount (`{ xp }`), it was not made (`false`),
 * or the answer is unknown (`undefined`).
 */
export type Confirmation = true | { readonly xp: number } | false | undefined

/** Callbacks that find out why the service refused an id. The service gives the same answer for every reason. */
export interface Evidence {
  /**
   * Returns whether the service refused the id because the id was used before; `undefined` if the answer does not show it.
   * If it returns `true` and an attempt had an unknown outcome, that attempt made the award: the row is `alreadyAwarded`.
   * If it returns `true` and no attempt had an unknown outcome, the row is `rejected` with the code `id_used`.
   */
  isUsedId?: ((error: ApiError) => boolean | undefined) | undefined
  /**
   * Looks for this award in your own records, or in the user's progress. If it returns another amount in `{ xp }`, the row
   * is `rejected` with the code `other_amount`.
   *
   * Return `false` only from a source that records every award: the row is then `rejected` with the code `not_confirmed`.
   * Return `undefined` if the user's progress does not show the award: the service may still be processing it.
   *
   * Give the function a time limit: the row is not finished until the function returns. When the run stops, a pending call
   * of `confirm` has ten seconds left.
   */
  confirm?: ((row: AwardRow) => Confirmation | Promise<Confirmation>) | undefined
}

/**
 * Returns the result of a row whose id the service refused.
 *
 * @param maybeApplied - whether this attempt or an earlier one may have been applied
 */
export async function judgeRefusal(
  row: AwardRow,
  error: CampaignError,
  maybeApplied: boolean,
  { isUsedId, confirm }: Evidence,
): Promise<AwardResult> {
  const failure = failureOf(error)
  try {
    const confirmed = judgeConfirmation(row, await confirm?.({ ...row }))
    if (confirmed !== undefined) return confirmed
    // Awaited because a JavaScript caller may pass an async function.
    const isUsed = await isUsedId?.(error as ApiError)
    if (isUsed === true) {
      return maybeApplied
        ? { verdict: 'alreadyAwarded' }
        : { verdict: 'rejected', failure: { ...failure, code: 'id_used' } }
    }
    return { verdict: maybeApplied && isUsed !== false ? 'unconfirmed' : 'rejected', failure }
  } catch (reason) {
    const message = `isUsedId or confirm threw: ${safeMessage(reason)}`
    return { verdict: 'indeterminate', failure: { ...failure, code: 'evidence_failed', message } }
  }
}

/** Returns the result of a row that is `unconfirmed` in the ledger; `undefined` if the row must be sent again. */
export async function judgeUnconfirmed(
  row: AwardRow,
  { isUsedId, confirm }: Evidence,
): Promise<AwardResult | undefined> {
  if (confirm === undefined) return undefined
  try {
    const confirmed = judgeConfirmation(row, await confirm({ ...row }))
    return confirmed ?? (isUsedId === undefined ? { verdict: 'unconfirmed' } : undefined)
  } catch (reason) {
    const message = `confirm threw: ${safeMessage(reason)}`
    return { verdict: 'unconfirmed', failure: { code: 'evidence_failed', message } }
  }
}

function judgeConfirmation(row: AwardRow, confirmation: Confirmation): AwardResult | undefined {
  if (confirmation === undefined) return undefined
  if (confirmation === true) return { verdict: 'alreadyAwarded' }
  if (confirmation === false) {
    const message = 'the service refused the id, and confirm returned false'
    return { verdict: 'rejected', failure: { code: 'not_confirmed', message } }
  }
  if (!isRecord(confirmation) || !Number.isFinite(confirmation.xp)) {
    throw new ConfigurationError(`confirm must return true, { xp }, false or undefined, got ${typeName(confirmation)}`)
  }
  if (confirmation.xp === row.xp) return { verdict: 'alreadyAwarded' }
  const message = `the id was used for ${confirmation.xp} XP, and the row has ${row.xp} XP`
  return { verdict: 'rejected', failure: { code: 'other_amount', message } }
}
