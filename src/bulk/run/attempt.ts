import type { CampaignClient } from '../../client.ts'
import { type Evidence, judgeRefusal, judgeUnconfirmed } from '../award/evidence.ts'
import { type CallOutcome, failureOf, outcomeOf } from '../award/outcome.ts'
import type { AwardFailure, Verdict } from '../award/verdict.ts'
import type { Attempt, LedgerSession } from '../ledger/ledger.ts'

/** The result of an attempt. */
export interface AttemptResult {
  /** Undefined where nothing was sent. */
  readonly outcome: CallOutcome | undefined
  /** Undefined where the outcome says nothing about the award. */
  readonly verdict: Verdict | undefined
  readonly failure?: AwardFailure | undefined
}

/** Makes one award that the ledger has begun. Never rejects. */
export async function attemptAward(
  client: Pick<CampaignClient, 'rewardWallet'>,
  { row, isDoubtful, reopened }: Attempt,
  evidence: Evidence,
): Promise<AttemptResult> {
  // An unconfirmed award is sent again only when `confirm` gives no answer and `isUsedId` can judge another refusal.
  const known = reopened === 'unconfirmed' ? await judgeUnconfirmed(row, evidence) : undefined
  if (known !== undefined) return { outcome: undefined, ...known }

  const outcome = await call(client, row)
  if (outcome.kind === 'awarded') return { outcome, verdict: 'awarded' }
  if (outcome.kind === 'refused') {
    return { outcome, ...(await judgeRefusal(row, outcome.error, isDoubtful || outcome.maybeApplied, evidence)) }
  }
  const isUsedUp = outcome.kind === 'failed' || (outcome.kind === 'unreachable' && outcome.maybeApplied)
  return { outcome, verdict: isUsedUp ? 'indeterminate' : undefined, failure: failureOf(outcome.error) }
}

/**
 * Writes the result of an attempt to the ledger.
 *
 * @returns the verdict of the award, if there is one; `open` where another process is still attempting it
 * @throws what the ledger throws
 */
export async function recordAttempt(
  session: LedgerSession,
  attempt: Attempt,
  { outcome, verdict, failure }: AttemptResult,
): Promise<Verdict | 'open' | undefined> {
  const maybeApplied = outcome?.maybeApplied ?? false
  // Whether the ledger needs a new entry. Without a final verdict: if this attempt may have been applied, or an award in
  // doubt stays `indeterminate`. With one: if it differs from the verdict that the ledger has.
  const isNews =
    verdict === undefined || verdict === 'indeterminate'
      ? maybeApplied || (attempt.isDoubtful && verdict === 'indeterminate')
      : verdict !== attempt.reopened
  if (!isNews) {
    await session.release(attempt)
    return verdict
  }
  const standing = await session.settle(attempt, verdict ?? 'indeterminate', failure)
  return verdict === undefined ? undefined : standing
}

async function call(client: Pick<CampaignClient, 'rewardWallet'>, row: Attempt['row']): Promise<CallOutcome> {
  try {
    // A copy: the client may change it.
    await client.rewardWallet({ ...row })
    return { kind: 'awarded', maybeApplied: false }
  } catch (error) {
    return outcomeOf(error)
  }
}
