export const FINAL_VERDICTS = ['awarded', 'alreadyAwarded', 'unconfirmed', 'rejected'] as const

/** The verdicts of awards, in the order of the summaries. */
export const VERDICTS = [...FINAL_VERDICTS, 'indeterminate'] as const

/** Whether the verdict ends the award. */
export const isFinal = (verdict: string): verdict is (typeof FINAL_VERDICTS)[number] => verdict !== 'indeterminate'

/** Whether the award was made. */
export const isAwarded = (verdict: string): verdict is 'awarded' | 'alreadyAwarded' =>
  verdict === 'awarded' || verdict === 'alreadyAwarded'

/** Whether the award may or may not have been made. */
export const isUnknown = (verdict: string): boolean => verdict === 'indeterminate' || verdict === 'unconfirmed'

/**
 * Whether `retryRejected` sends an award with this result again. An id that was used with another amount is never sent
 * again.
 */
export const isRetryableRejection = (verdict: string, failure: { readonly code: string } | undefined): boolean =>
  verdict === 'rejected' && failure?.code !== 'other_amount'

/** The failure code of an award that was made, but by no attempt of its ledger. */
export const USED_BEFORE = 'used_before'

/** Whether an award was made, but by no attempt of its ledger. */
export const isUsedBefore = (verdict: string, failure: { readonly code: string } | undefined): boolean =>
  verdict === 'alreadyAwarded' && failure?.code === USED_BEFORE
