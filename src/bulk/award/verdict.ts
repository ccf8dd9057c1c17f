/**
 * The result of one award.
 *
 * - `awarded`: the service answered 200.
 * - `alreadyAwarded`: the service refused the id, and `confirm` or `isUsedId` showed that it was used for this award.
 * - `unconfirmed`: the service refused the id after an attempt of ours whose outcome is unknown. Very likely that attempt
 *   awarded it: the published refusal is the same for every reason. Final until `confirm` or `isUsedId` can tell.
 * - `rejected`: the service refused the award, and no earlier attempt made it; or the row was wrong and never sent.
 * - `indeterminate`: the attempts are used up and the outcome is unknown, or `confirm` or `isUsedId` failed. Not final:
 *   run it again.
 */
export type Verdict = 'awarded' | 'alreadyAwarded' | 'unconfirmed' | 'rejected' | 'indeterminate'

/** The verdicts that end an award. A later run with the same ledger does not send it again. */
export type FinalVerdict = Exclude<Verdict, 'indeterminate'>

const VERDICTS: ReadonlySet<unknown> = new Set<Verdict>([
  'awarded',
  'alreadyAwarded',
  'unconfirmed',
  'rejected',
  'indeterminate',
])

export const isVerdict = (value: unknown): value is Verdict => VERDICTS.has(value)

/** A verdict, with its reason. */
export interface Judgement {
  readonly verdict: Verdict
  readonly failure?: AwardFailure | undefined
}

/** Why an award was not made, as recorded in the ledger: taken from the client's error, without its stack. */
export interface AwardFailure {
  /**
   * The `code` of the client's error, such as `'bad_request'`; or `'not_confirmed'` (`confirm` says no), `'other_amount'`
   * (the id was used with another amount), `'id_used'` (the id was used, and not by this run), `'evidence_failed'`
   * (`confirm` or `isUsedId` threw), `'unexpected'` (the client threw an unknown error).
   */
  code: string
  /** The HTTP status, where the service answered. */
  status?: number
  /** The reason in words. */
  message: string
}
