import type { CampaignClient } from '../../client.ts'
import { type CallOutcome, failureOf, outcomeOf } from '../award/call-outcome.ts'
import { type Evidence, judgeRefusal, judgeUnconfirmed } from '../award/judge-refusal.ts'
import type { AwardFailure, Verdict } from '../award/verdict.ts'
import type { Attempt, LedgerSession } from '../ledger/ledger.ts'

export interface AttemptResult {
  /** The outcome of the call; `undefined` if nothing was sent. */
  readonly outcome: CallOutcome | undefined
  /** The verdict; `undefined` if the award must be attempted again, for instance after a 429. */
  readonly verdict: Verdict | undefined
  readonly failure?: AwardFailure | undefined
}

/** Makes a claimed award. Never rejects. */
export async function attemptAward(
  client: Pick<CampaignClient, 'rewardWallet'>,
  { row, isInDoubt, previousVerdict }: Attempt,
  evidence: Evidence,
): Promise<AttemptResult> {
  const confirmed = previousVerdict === 'unconfirmed' ? await judgeUnconfirmed(row, evidence) : undefined
  if (confirmed !== undefined) return { outcome: undefined, ...confirmed }

  const outcome = await call(client, row)
  if (outcome.kind === 'awarded') return { outcome, verdict: 'awarded' }
  if (outcome.kind === 'refused') {
    return { outcome, ...(await judgeRefusal(row, outcome.error, isInDoubt || outcome.maybeApplied, evidence)) }
  }
  const isUnknown = outcome.kind === 'failed' || (outcome.kind === 'unreachable' && outcome.maybeApplied)
  return { outcome, verdict: isUnknown ? 'indeterminate' : undefined, failure: failureOf(outcome.error) }
}

/**
 * Writes the result of an attempt to the ledger.
 *
 * @returns the verdict of the award, if it has one; `busy` while another process attempts the award
 * @throws the error of the ledger
 */
export async function recordAttempt(
  session: LedgerSession,
  attempt: Attempt,
  { outcome, verdict, failure }: AttemptResult,
): Promise<Verdict | 'busy' | undefined> {
  const isFinal = verdict !== undefined && verdict !== 'indeterminate'
  const isStillInDoubt = attempt.isInDoubt && verdict === 'indeterminate'
  const isChanged =
    outcome === undefined ? verdict !== attempt.previousVerdict : isFinal || outcome.maybeApplied || isStillInDoubt
  // Releasing the claim restores the state before the attempt.
  if (!isChanged) {
    await session.release(attempt)
    return verdict
  }
  const recorded = await session.settle(attempt, verdict ?? 'indeterminate', failure)
  return verdict === undefined ? undefined : recorded
}

async function call(client: Pick<CampaignClient, 'rewardWallet'>, row: Attempt['row']): Promise<CallOutcome> {
  try {
    // Pass a copy: the client may change its argument.
    await client.rewardWallet({ ...row })
    return { kind: 'awarded', maybeApplied: false }
  } catch (error) {
    return outcomeOf(error)
  }
}
