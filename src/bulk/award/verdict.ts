/**
 * The result of one award.
 *
 * - `awarded`: the service answered 200.
 * - `alreadyAwarded`: the service refused the id, and `confirm` or `isUsedId` showed that it was used for this award.
 * - `unconfirmed`: the service refused the id after an attempt with an unknown outcome. That attempt very likely made the
 *   award, but the refusal does not show it. Final, unless `confirm` or `isUsedId` gives an answer in a later run.
 * - `rejected`: the row was invalid; or the service refused the award, and no earlier attempt can have made it.
 * - `indeterminate`: the outcome is unknown after the last attempt, or `confirm` or `isUsedId` failed. Not final: run
 *   the list or the job again.
 */
export type Verdict = 'awarded' | 'alreadyAwarded' | 'unconfirmed' | 'rejected' | 'indeterminate'

/** The verdicts that end an award. By default, a later run with the same ledger does not send the award again. */
export type FinalVerdict = Exclude<Verdict, 'indeterminate'>

const VERDICTS: ReadonlySet<unknown> = new Set<Verdict>([
  'awarded',
  'alreadyAwarded',
  'unconfirmed',
  'rejected',
  'indeterminate',
])

export const isVerdict = (value: unknown): value is Verdict => VERDICTS.has(value)

/** The verdict of an award, with the reason for a failure. */
export interface AwardResult {
  readonly verdict: Verdict
  readonly failure?: AwardFailure | undefined
}

/** An {@link AwardResult} that ends the award. */
export interface FinalResult extends AwardResult {
  readonly verdict: FinalVerdict
}

/** The reason for a verdict other than `awarded`, as the ledger records it. */
export interface AwardFailure {
  /**
   * The `code` of the client's error, such as `'bad_request'`; or `'not_confirmed'` (`confirm` returned `false`),
   * `'other_amount'` (the id was used with another amount), `'id_used'` (the id was used, but by no attempt of this ledger),
   * `'evidence_failed'` (`confirm` or `isUsedId` threw), `'unexpected'` (the client threw an unknown error).
   */
  code: string
  /** The HTTP status, if the service answered. */
  status?: number
  /** The reason as text. */
  message: string
}
