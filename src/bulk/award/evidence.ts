import { type ApiError, type CampaignError, ConfigurationError } from '../../errors.ts'
import { isRecord, typeName } from '../../shared/types.ts'
import { failureOf, safeMessage } from './outcome.ts'
import type { AwardRow } from './row.ts'
import type { AwardFailure, Verdict } from './verdict.ts'

/**
 * The answer of `confirm`: the award is there (`true`), it is there with this amount (`{ xp }`), it is not there (`false`),
 * or that can't be told (`undefined`).
 */
export type Confirmation = true | { readonly xp: number } | false | undefined

/** How a partner tells why an id was refused: the published answer is the same for every reason. */
export interface Evidence {
  /**
   * Tells from the service's answer whether the id was refused because it had been used. `undefined`: it can't be told. A
   * used id is this award only after an attempt of ours whose outcome is unknown; otherwise the row is `rejected` with the
   * code `id_used`.
   */
  isUsedId?: ((error: ApiError) => boolean | undefined) | undefined
  /**
   * Looks for this very award in your own records, or in the user's progress. Another amount in `{ xp }` makes the row
   * `rejected` with the code `other_amount`.
   *
   * Return `false` only from a source that records every award: the row is then `rejected` with the code `not_confirmed`. An
   * award that is missing in a reading of progress may still be under way: return `undefined`. Give it a time limit: the row
   * waits for it, and after the run was stopped for ten seconds at most.
   */
  confirm?: ((row: AwardRow) => Confirmation | Promise<Confirmation>) | undefined
}

/** The verdict of a row, with its reason. */
export interface Judgement {
  readonly verdict: Verdict
  readonly failure?: AwardFailure
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
    // An asynchronous function is none of its types, and is awaited all the same.
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

/** The verdict of a row that an earlier run left unconfirmed. Undefined when only the service's answer can tell. */
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
  if (!isRecord(confirmation) || typeof confirmation.xp !== 'number') {
    throw new ConfigurationError(`confirm must return true, { xp }, false or undefined, got ${typeName(confirmation)}`)
  }
  if (confirmation.xp === row.xp) return { verdict: 'alreadyAwarded' }
  const message = `the id was used for ${confirmation.xp} XP, and the row has ${row.xp} XP`
  return { verdict: 'rejected', failure: { code: 'other_amount', message } }
}
