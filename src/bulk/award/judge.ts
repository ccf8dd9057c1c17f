import { type ApiError, CampaignError } from '../../errors.ts'
import { failureOf, nameOf } from './ending.ts'
import type { AwardRow } from './row.ts'
import type { AwardFailure, Verdict } from './verdict.ts'

/** How a partner tells why an id was refused: the published answer is the same for every reason. */
export interface Evidence {
  /**
   * Tells from the service's answer whether the id was refused because it had been used. `undefined`: it can't be told.
   */
  isUsedId?: ((error: ApiError) => boolean | undefined) | undefined
  /**
   * Finds out whether this very award is in the user's account, from your own records or from the user's progress, whose
   * `rewards` and `xp` you know how to read. `undefined`: it can't be told. Give it a time limit: the award waits for it, and
   * after the run was stopped for ten seconds at most.
   */
  confirm?: ((row: AwardRow) => boolean | undefined | Promise<boolean | undefined>) | undefined
}

export interface Judgement {
  readonly verdict: Verdict
  readonly failure?: AwardFailure
  /** Of `indeterminate`: whether an attempt may have been applied, or only the evidence failed. */
  readonly isDoubtful?: boolean
}

/**
 * What a refused id comes to.
 *
 * @param doubtful - whether an attempt of ours under the id may have been applied
 */
export async function judgeRefusal(
  row: AwardRow,
  error: CampaignError,
  doubtful: boolean,
  { isUsedId, confirm }: Evidence,
): Promise<Judgement> {
  const failure = failureOf(error)
  try {
    // A promise is none of its types, and would otherwise reject with nobody listening.
    const isUsed = await isUsedId?.(error as ApiError)
    if (isUsed === true) return { verdict: 'alreadyAwarded' }
    const isThere = await confirm?.({ ...row })
    if (isThere === true) return { verdict: 'alreadyAwarded' }
    const isKnown = isUsed === false || isThere === false
    return { verdict: doubtful && !isKnown ? 'unconfirmed' : 'rejected', failure }
  } catch (reason) {
    return {
      verdict: 'indeterminate',
      isDoubtful: doubtful,
      failure: { ...failure, code: 'evidence_failed', message: `isUsedId or confirm threw: ${wordsOf(reason)}` },
    }
  }
}

/**
 * What an unconfirmed award of an earlier run comes to, without sending it; undefined when it must be sent to be told.
 */
export async function judgeUnconfirmed(row: AwardRow, { isUsedId, confirm }: Evidence): Promise<Judgement | undefined> {
  if (confirm === undefined) return undefined
  try {
    const isThere = await confirm({ ...row })
    if (isThere === true) return { verdict: 'alreadyAwarded' }
    if (isThere === false) {
      return { verdict: 'rejected', failure: { code: 'not_confirmed', message: 'it was refused, and confirm says no' } }
    }
    return isUsedId === undefined ? { verdict: 'unconfirmed' } : undefined
  } catch (reason) {
    return {
      verdict: 'unconfirmed',
      failure: { code: 'evidence_failed', message: `confirm threw: ${wordsOf(reason)}` },
    }
  }
}

/** Errors of ours show no secret; what others say stays with them. */
const wordsOf = (error: unknown): string => (error instanceof CampaignError ? error.message : nameOf(error))
