import type { CampaignClient } from '../../client.ts'
import type { Attempt, LedgerSession, Standing } from '../ledger/ledger.ts'
import { type Ending, endingOf, failureOf } from './ending.ts'
import { type Evidence, type Judgement, judgeRefusal, judgeUnconfirmed } from './judge.ts'
import type { Verdict } from './verdict.ts'

/** What an attempt came to. */
export type Conclusion =
  /** A verdict, and how the call ended, where there was one. */
  | { readonly kind: 'judged'; readonly judgement: Judgement; readonly ending: Ending | undefined }
  /** None: nothing was said about this award. */
  | { readonly kind: 'unjudged'; readonly ending: Unjudged }

/** How a call ends that says nothing about its award. */
export type Unjudged = Exclude<Ending, { kind: 'awarded' | 'refused' | 'unknown' }>

/** Makes one award, which the ledger has begun. Never rejects. */
export async function attemptAward(
  client: Pick<CampaignClient, 'rewardWallet'>,
  { row, doubtful, reopened }: Attempt,
  evidence: Evidence,
): Promise<Conclusion> {
  // What was taken up again only because `confirm` can tell now need not be sent.
  const known = reopened === 'unconfirmed' ? await judgeUnconfirmed(row, evidence) : undefined
  if (known !== undefined) return { kind: 'judged', judgement: known, ending: undefined }

  const ending = await call(client, row)
  switch (ending.kind) {
    case 'awarded':
      return { kind: 'judged', judgement: { verdict: 'awarded' }, ending }
    case 'unknown':
      return {
        kind: 'judged',
        judgement: { verdict: 'indeterminate', failure: failureOf(ending.error), isDoubtful: true },
        ending,
      }
    case 'refused': {
      const judgement = await judgeRefusal(row, ending.error, doubtful || ending.doubtful, evidence)
      return { kind: 'judged', judgement, ending }
    }
    default:
      return { kind: 'unjudged', ending }
  }
}

/**
 * What the ledger has for an award, if anything, after an attempt that said nothing about it.
 *
 * @param ending - of the call, where there was one
 */
export function whatStands({ doubtful, reopened }: Attempt, ending?: Unjudged): Verdict | undefined {
  if (ending !== undefined && leavesDoubt(ending)) return 'indeterminate'
  return reopened ?? (doubtful ? 'indeterminate' : undefined)
}

const leavesDoubt = (ending: Unjudged): boolean => ending.kind !== 'invalid' && ending.doubtful

/**
 * Writes down what an attempt came to.
 *
 * @returns what stands then; undefined where there was no verdict
 * @throws what the ledger throws
 */
export async function record(
  session: LedgerSession,
  attempt: Attempt,
  conclusion: Conclusion,
): Promise<Standing | undefined> {
  if (conclusion.kind === 'judged') {
    const { verdict, failure, isDoubtful } = conclusion.judgement
    const isNews = verdict !== attempt.reopened && (verdict !== 'indeterminate' || isDoubtful)
    if (isNews) return session.settle(attempt, verdict, failure)
    // What the ledger has stays, with its reason.
    await session.release(attempt)
    return attempt.reopened ?? verdict
  }
  const { ending } = conclusion
  if (leavesDoubt(ending)) {
    await session.settle(attempt, 'indeterminate', failureOf(ending.error))
  } else {
    await session.release(attempt)
  }
  return undefined
}

async function call(client: Pick<CampaignClient, 'rewardWallet'>, row: Attempt['row']): Promise<Ending> {
  try {
    // A copy: what others do to it changes nothing here.
    await client.rewardWallet({ ...row })
    return { kind: 'awarded' }
  } catch (error) {
    return endingOf(error)
  }
}
