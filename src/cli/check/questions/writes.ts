import { rewardId } from '../../../bulk/reward-id.ts'
import { listedXp } from '../../../shared/award.ts'
import { isRecord } from '../../../shared/type-checks.ts'
import { WALLET_PLATFORM } from '../../../shared/wallet-address.ts'
import { dataOf, isReply, type Outcome } from '../probe.ts'
import type { Profile } from '../profile.ts'
import {
  asAssumed,
  type Check,
  type CheckFinding,
  cannotTell,
  describeReply,
  detailOf,
  differs,
  noData,
  type Question,
} from '../question.ts'

const PLATFORMS = [WALLET_PLATFORM, 'evm', 'wallet']

/** The delays before each read of the progress after the award: 10 s in total. */
const DELAYS_MS = [0, 2_000, 3_000, 5_000]
const XP = 1

/** The award of `--allow-writes`. Its id is the same in each run, so that only the first run awards XP. */
export const awardOf = ({ pid, address = '' }: Check['args']) => ({
  address,
  pid,
  id: rewardId({ pid, address, reason: 'campaign-client check' }),
  xp: XP,
})

/** Returns whether the outcome of a sent award is unknown. */
export const isOutcomeUnknown = ({ awards: { first, second } }: Check): boolean =>
  first?.mayBeApplied === true || second?.mayBeApplied === true

const isAccepted = (outcome: Outcome | undefined): boolean => outcome?.kind === 'data'

/** The progress of the wallet on one platform. */
interface Progress {
  readonly platform: string
  /** `undefined` without a reply. */
  readonly xp: number | undefined
  readonly rewards: readonly Readonly<Record<string, unknown>>[]
}

async function readProgress(check: Check): Promise<readonly Progress[]> {
  const { address = '' } = check.args
  const readings: Progress[] = []
  for (const platform of PLATFORMS) {
    const outcome = await check.send('getUserProgress', { values: { account: address, platform } })
    const data = dataOf(outcome)
    const { xp, rewards } = isRecord(data) ? data : {}
    readings.push({
      platform,
      xp: isReply(outcome) ? Number(xp ?? 0) : undefined,
      rewards: Array.isArray(rewards) ? rewards.filter(isRecord) : [],
    })
  }
  return readings
}

/** Finds the award by its id in the wallet's progress. */
function findById(progress: readonly Progress[], id: string): Profile['award'] | undefined {
  for (const { platform, rewards } of progress) {
    const listed = listedXp(rewards, id)
    if (listed.length === 0) continue
    return { walletPlatform: platform, listsRewards: listed.includes(XP) ? 'ids_and_amounts' : 'ids' }
  }
  return undefined
}

/** Finds a platform on which the wallet has more XP than before. */
function findByXp(before: readonly Progress[], after: readonly Progress[]): Profile['award'] | undefined {
  const increased = after.find(({ xp = 0 }, index) => xp > (before[index]?.xp ?? Infinity))
  return increased && { walletPlatform: increased.platform }
}

const NEEDS = ['allowWrites', 'address'] as const

const usedId: Question = {
  id: 'writes.used-id',
  text: 'error for a used award id',
  assumed: 'a standard error with HTTP 400',
  needs: NEEDS,
  async ask(check) {
    const { awards, args, probe } = check
    const award = awardOf(args)
    const before = await readProgress(check)
    awards.first = await probe.post('rewardWallet', award)
    if (!isReply(awards.first) || isOutcomeUnknown(check)) return
    awards.second = await probe.post('rewardWallet', award)
    for (const delayMs of DELAYS_MS) {
      await probe.wait(delayMs)
      const after = await readProgress(check)
      const shown = findById(after, award.id) ?? (isAccepted(awards.first) ? findByXp(before, after) : undefined)
      if (shown !== undefined) awards.shown = shown
      if (shown?.listsRewards !== undefined) return
    }
  },
  judge({ awards: { first, second, shown } }) {
    if (!isReply(second)) return noData(second ?? first)
    const detail = detailOf(second)
    if (isAccepted(second)) {
      return differs(
        'the service accepts the same id twice',
        'ids do not prevent double awards: set maxRetries to 0 for rewardWallet, and ask the operator',
        detail,
      )
    }
    if (!isAccepted(first) && shown?.listsRewards === undefined) {
      return cannotTell(`${describeReply(second)}, but nothing shows that the id was used`, detail)
    }
    if (second.status === 400 && second.form === 'standard') return asAssumed(undefined, detail)
    return differs(describeReply(second), 'pass isUsedId to rewardWallets, so that it recognises this error', detail)
  },
}

const ADVICE = 'run award with the saved profile: --profile FILE'

/** Judges the format of the award in the wallet's progress. */
function judgeShown(
  { awards: { first, shown } }: Check,
  judge: (award: Profile['award']) => CheckFinding,
): CheckFinding {
  if (shown !== undefined) return judge(shown)
  return isReply(first) ? cannotTell("the award did not appear in the wallet's progress within 10 s") : noData(first)
}

const walletPlatform: Question = {
  id: 'writes.wallet-platform',
  text: "platform of a wallet's progress",
  assumed: WALLET_PLATFORM,
  needs: NEEDS,
  judge: (check) =>
    judgeShown(check, ({ walletPlatform: platform = '' }) =>
      platform === WALLET_PLATFORM ? asAssumed() : differs(platform, ADVICE),
    ),
}

const listsRewards: Question = {
  id: 'writes.lists-rewards',
  text: "rewards in a wallet's progress",
  assumed: 'list an award by its id, with its amount',
  needs: NEEDS,
  judge: (check) =>
    judgeShown(check, ({ listsRewards: listed }) => {
      if (listed === 'ids_and_amounts') return asAssumed()
      return differs(listed ? 'the id without the amount' : 'the XP increases, but the id is not listed', ADVICE)
    }),
}

/** Only the first award to a wallet can answer all of these questions. */
export const writes: readonly Question[] = [usedId, walletPlatform, listsRewards]
