import { type ApiError, type CampaignError, ConfigurationError } from '../../errors.ts'
import { isRecord, typeName } from '../../shared/types.ts'
import { failureOf, safeMessage } from './outcome.ts'
import type { AwardRow } from './row.ts'
import type { Judgement } from './verdict.ts'

/**
 * The answer of `confirm`: the award was made (`true`), it was made with this amount (`{ xp }`), it was not made (`false`),
 * or `confirm` can't tell (`undefined`).
 */
export type Confirmation = true | { readonly xp: number } | false | undefined

/** Finds out why an id was refused. The service gives the same answer for every reason. */
export interface Evidence {
  /**
   * Returns whether the service refused the id because it had been used; `undefined` when its answer can't tell. After an
   * attempt of ours with an unknown outcome, a used id means that this award was made. Otherwise the row is `rejected` with
   * the code `id_used`.
   */
  isUsedId?: ((error: ApiError) => boolean | undefined) | undefined
  /**
   * Looks for this very award in your own records, or in the user's progress. Another amount in `{ xp }` makes the row
   * `rejected` with the code `other_amount`.
   *
   * Return `false` only from a source that records every award: the row is then `rejected` with the code `not_confirmed`. An
   * award that a reading of progress lacks may still be under way: return `undefined`. Give the function a time limit: its row
   * waits for it. Once the run was stopped, it has ten seconds.
   */
  confirm?: ((row: AwardRow) => Confirmation | Promise<Confirmation>) | undefined
}

/**
 * The verdict of a row whose id was refused.
 *
 * @param maybeApplied - whether an attempt of ours under the id may have been applied
 */
export async function judgeRefusal(
  row: AwardRow,
  error: CampaignError,
  maybeApplied: boolean,
  { isUsedId, confirm }: Evidence,
): Promise<Judgement> {
  const failure = failureOf(error)
  try {
    const confirmed = judgeConfirmation(row, await confirm?.({ ...row }))
    if (confirmed !== undefined) return confirmed
    // Awaited, since without types the function may be asynchronous.
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

/** The verdict of a row that an earlier run left unconfirmed; undefined when only a retry can tell. */
export async function judgeUnconfirmed(row: AwardRow, { isUsedId, confirm }: Evidence): Promise<Judgement | undefined> {
  if (confirm === undefined) return undefined
  try {
    const confirmed = judgeConfirmation(row, await confirm({ ...row }))
    return confirmed ?? (isUsedId === undefined ? { verdict: 'unconfirmed' } : undefined)
  } catch (reason) {
    const message = `confirm threw: ${safeMessage(reason)}`
    return { verdict: 'unconfirmed', failure: { code: 'evidence_failed', message } }
  }
}

function judgeConfirmation(row: AwardRow, confirmation: Confirmation): Judgement | undefined {
  if (confirmation === undefined) return undefined
  if (confirmation === true) return { verdict: 'alreadyAwarded' }
  if (confirmation === false) {
    const message = 'the id was refused, and confirm says that the award was not made'
    return { verdict: 'rejected', failure: { code: 'not_confirmed', message } }
  }
  if (!isRecord(confirmation) || !Number.isFinite(confirmation.xp)) {
    throw new ConfigurationError(`confirm must return true, { xp }, false or undefined, got ${typeName(confirmation)}`)
  }
  if (confirmation.xp === row.xp) return { verdict: 'alreadyAwarded' }
  const message = `the id was used for ${confirmation.xp} XP, and the row has ${row.xp} XP`
  return { verdict: 'rejected', failure: { code: 'other_amount', message } }
}
