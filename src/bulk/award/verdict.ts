/**
 * What became of one award.
 *
 * - `awarded`: the service said so.
 * - `alreadyAwarded`: the service refused the id, and `isUsedId` or `confirm` said that it had been used for this award.
 * - `unconfirmed`: the service refused the id after an attempt of ours whose end nobody knows. Very likely that attempt
 *   awarded it; the service's refusal is the same for every reason. Final until `confirm` or `isUsedId` tells.
 * - `rejected`: refused by the service, with no such attempt; or wrong here, and never sent.
 * - `indeterminate`: the attempts are used up, and nobody knows; or it was refused, and `isUsedId` or `confirm` failed. Not
 *   final: running it again goes on.
 */
export type Verdict = 'awarded' | 'alreadyAwarded' | 'unconfirmed' | 'rejected' | 'indeterminate'

/** The verdicts that end an award. A later run with the same ledger does not send it again. */
export type FinalVerdict = Exclude<Verdict, 'indeterminate'>

export const isFinal = (verdict: Verdict): verdict is FinalVerdict => verdict !== 'indeterminate'

/** Why an award has not been made, as a ledger keeps it: from the error of the client, without its stack. */
export interface AwardFailure {
  /** The `code` of the error, such as `'bad_request'`. */
  code: string
  /** The HTTP status, where the service answered. */
  status?: number
  /** The error's message. */
  message: string
}
