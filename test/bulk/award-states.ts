import type { AwardFailure, FinalVerdict, Verdict } from 'campaign-client/bulk'
import type { AwardState, RetryableVerdicts } from '../../src/bulk/ledger/award-state.ts'

const FINAL: readonly (FinalVerdict | undefined)[] = [undefined, 'awarded', 'alreadyAwarded', 'unconfirmed', 'rejected']
const FAILURES: readonly (AwardFailure | undefined)[] = [
  undefined,
  { code: 'bad_request', status: 400, message: 'refused' },
  { code: 'other_amount', message: 'another amount' },
  { code: 'evidence_failed', message: 'confirm threw' },
]

/** Whether an attempt can leave a state. A rejected award has the failure of its refusal, and no verdict while it is claimed. */
function isPossible({ verdict, failure, isInDoubt, claim }: AwardState): boolean {
  const isUndecided = failure?.code === 'evidence_failed'
  if (verdict === 'rejected') return failure !== undefined && !isUndecided && !isInDoubt && claim === 'none'
  return verdict !== undefined || isInDoubt || claim !== 'none' || isUndecided
}

/** Every stored state; `undefined` if nothing is stored. */
export const STATES: readonly (AwardState | undefined)[] = [
  undefined,
  ...FINAL.flatMap((verdict) =>
    FAILURES.flatMap((failure) =>
      [false, true].flatMap((isInDoubt) =>
        (['none', 'held', 'expired'] as const)
          .map((claim) => ({ verdict, failure, isInDoubt, claim }))
          .filter(isPossible),
      ),
    ),
  ),
]

export const RETRYABLE: readonly RetryableVerdicts[] = [false, true].flatMap((rejected) =>
  [false, true].map((unconfirmed) => ({ rejected, unconfirmed })),
)

/** Every way to end an attempt; without a verdict, it is released. */
export const ENDS: readonly { readonly verdict?: Verdict; readonly failure?: AwardFailure }[] = [
  {},
  { failure: { code: 'evidence_failed', message: 'confirm threw this time' } },
  { verdict: 'awarded' },
  { verdict: 'alreadyAwarded' },
  { verdict: 'alreadyAwarded', failure: { code: 'used_before', message: 'by another list' } },
  { verdict: 'indeterminate' },
  ...(['unconfirmed', 'rejected', 'indeterminate'] as const).map((verdict) => ({
    verdict,
    failure: { code: 'network', message: `${verdict} this time` },
  })),
]

/** Returns a state in a few words, for the table of the rule. */
export const shown = (state: AwardState | undefined): string =>
  state === undefined
    ? 'nothing'
    : [state.verdict ?? 'no verdict', state.isInDoubt && 'in doubt', state.claim !== 'none' && state.claim]
        .filter((word) => word !== false)
        .join(', ')
