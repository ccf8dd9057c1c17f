import type { AwardFailure, FinalVerdict, Verdict } from '../../schemas/award-report.ts'
import { isRetryableRejection, isUnknown } from '../../shared/award.ts'

/**
 * The rule for what an attempt does to the state of its award. `fileLedger` applies these functions. `postgresLedger` says the
 * same in SQL, with one statement per event, and a test compares both ledgers with them for every state and event.
 *
 * Each cell has the new state, and the result if it differs.
 *
 * ```text
 * stored            claim              complete,            complete,                       release,      release,
 *                                      with the claim       without the claim               with claim    without
 *
 * nothing           claimed            -                    in doubt: unknown or busy       -             in doubt (2)
 * undecided         claimed            -                    unchanged, or in doubt (1)      -             unchanged (2)
 * in doubt          claimed            -                    unchanged                       -             unchanged
 * final             done; claimed      -                    unchanged, or                   -             unchanged, or
 *                   if retryable                            unconfirmed (1)                               unconfirmed (1,2)
 * claimed           busy               its verdict (3)      in doubt (1); busy              as before (4) in doubt (1,2)
 * claimed, expired  claimed, in doubt  its verdict (3)      in doubt (1); busy              as before (4) in doubt (1,2)
 *
 * (1) if the outcome is unknown: no verdict stays none, rejected becomes unconfirmed
 * (2) if the attempt knew that the award was in doubt
 * (3) but if another attempt put the award in doubt meanwhile, the refusal may be due to it: rejected becomes unconfirmed, and
 *     an id that was used before becomes this award's
 * (4) undecided if `confirm` or `isUsedId` failed; unconfirmed if it was rejected and came in doubt meanwhile
 * ```
 *
 * An attempt that was awarded records it in every state. Undecided: the service refused the id, no attempt is in doubt, and
 * `confirm` or `isUsedId` failed. Such an award has a failure, but no verdict.
 */
export interface AwardState {
  /** The final verdict. While a rejected award is claimed, it has none: its attempt may make the award. */
  readonly verdict: FinalVerdict | undefined
  readonly failure: AwardFailure | undefined
  /** Whether an attempt has an unknown outcome. */
  readonly isInDoubt: boolean
  /** `expired`: nobody knows whether the attempt that holds the claim still runs. */
  readonly claim: 'none' | 'held' | 'expired'
}

/** The code of the failure of an undecided award. */
export const EVIDENCE_FAILED = 'evidence_failed'

/** The final verdicts that allow another attempt. */
export interface RetryableVerdicts {
  readonly rejected: boolean
  readonly unconfirmed: boolean
}

/** The verdict of an award, with the reason for a failure. */
export interface AwardResult {
  readonly verdict: Verdict
  readonly failure?: AwardFailure | undefined
}

export type FinalResult = AwardResult & { readonly verdict: FinalVerdict }

/** An attempt that ends. */
interface EndingAttempt {
  /** Whether the award was in doubt when the attempt claimed it. */
  readonly isInDoubt: boolean
  /** The final verdict before the claim. */
  readonly previousVerdict?: FinalVerdict | undefined
  /** Whether the attempt still holds the claim. */
  readonly holdsClaim: boolean
}

const NEW: AwardState = { verdict: undefined, failure: undefined, isInDoubt: false, claim: 'none' }

/** Claims an award for an attempt. */
export function claimAward(
  stored: AwardState | undefined,
  retryable: RetryableVerdicts,
):
  | { readonly state: 'claimed'; readonly stored: AwardState; readonly previousVerdict: FinalVerdict | undefined }
  | ({ readonly state: 'done' } & FinalResult)
  | { readonly state: 'busy' } {
  if (stored?.claim === 'held') return { state: 'busy' }
  const { verdict, failure, isInDoubt } = stored?.claim === 'expired' ? { ...NEW, isInDoubt: true } : (stored ?? NEW)
  if (verdict !== undefined && !isRetryable({ verdict, failure }, retryable)) return { state: 'done', verdict, failure }
  const left = verdict === 'rejected' ? undefined : verdict
  return { state: 'claimed', stored: { verdict: left, failure, isInDoubt, claim: 'held' }, previousVerdict: verdict }
}

const isRetryable = ({ verdict, failure }: FinalResult, { rejected, unconfirmed }: RetryableVerdicts): boolean =>
  (rejected && isRetryableRejection(verdict, failure)) || (verdict === 'unconfirmed' && unconfirmed)

/**
 * Records the verdict of an attempt.
 *
 * @returns the recorded verdict, which may be another attempt's; `busy` if the award must be claimed again
 */
export function completeAward(
  stored: AwardState | undefined,
  { isInDoubt, holdsClaim }: EndingAttempt,
  verdict: Verdict,
  failure: AwardFailure | undefined,
): { readonly stored: AwardState; readonly result: Verdict | 'busy' } {
  if (verdict === 'awarded') return { stored: { ...NEW, verdict }, result: verdict }
  if (holdsClaim) {
    const cameInDoubt = stored?.isInDoubt === true && !isInDoubt
    const result = verdict === 'rejected' && cameInDoubt ? 'unconfirmed' : verdict
    const final = result === 'indeterminate' ? undefined : result
    const left = verdict === 'alreadyAwarded' && cameInDoubt ? undefined : failure
    return { stored: { verdict: final, failure: left, isInDoubt: isUnknown(result), claim: 'none' }, result }
  }
  const left = stored === undefined || isUnknown(verdict) ? inDoubt(stored, failure) : stored
  // The row is gone, and with it the record of other attempts. One of them may have made the award.
  const isLost = stored === undefined && !isUnknown(verdict)
  return { stored: left, result: isLost || left.claim !== 'none' ? 'busy' : (left.verdict ?? 'indeterminate') }
}

/**
 * Ends the claim of an attempt that certainly changed nothing.
 *
 * @param failure - why the award is undecided, if it is
 * @returns what to store; `undefined` to delete the award
 */
export function releaseAward(
  stored: AwardState | undefined,
  { isInDoubt, holdsClaim, previousVerdict }: EndingAttempt,
  failure?: AwardFailure,
): AwardState | undefined {
  if (holdsClaim && stored !== undefined) {
    if (failure !== undefined) return { ...stored, verdict: undefined, failure, claim: 'none' }
    const rejected = stored.isInDoubt ? 'unconfirmed' : 'rejected'
    const verdict = previousVerdict === 'rejected' ? rejected : stored.verdict
    const isKept = stored.isInDoubt || verdict !== undefined || stored.failure !== undefined
    if (isKept) return { ...stored, verdict, claim: 'none' }
  }
  const left = holdsClaim ? undefined : stored
  return isInDoubt ? inDoubt(left, undefined) : left
}

/** Returns the state after an attempt with an unknown outcome that does not hold the claim. */
function inDoubt(stored: AwardState | undefined, failure: AwardFailure | undefined): AwardState {
  if (stored === undefined) return { ...NEW, failure, isInDoubt: true }
  if (stored.verdict === undefined) return { ...stored, isInDoubt: true }
  return stored.verdict === 'rejected' ? { ...stored, verdict: 'unconfirmed', isInDoubt: true } : stored
}

/** Returns the recorded result of an award; `undefined` if it has none, or another attempt is under way. */
export function resultOf({ verdict, failure, isInDoubt, claim }: AwardState): AwardResult | undefined {
  if (claim === 'held') return undefined
  if (claim === 'expired') return { verdict: 'indeterminate' }
  if (verdict !== undefined) return { verdict, failure }
  return isInDoubt || failure !== undefined ? { verdict: 'indeterminate', failure } : undefined
}
