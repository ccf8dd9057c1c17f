import { rewardId } from 'campaign-client/bulk'
import { isRecord } from '../../shared/types.ts'
import { dataOf, isReply, type Outcome } from './probe.ts'
import type { Profile } from './profile.ts'
import {
  asAssumed,
  type Check,
  cannotTell,
  differs,
  errorDetail,
  type Group,
  noData,
  type Question,
} from './question.ts'

const PLATFORMS = ['ethereum', 'evm', 'wallet'] as const
type Platform = (typeof PLATFORMS)[number]

/** When progress is read after the award, in seconds. */
const READ_AFTER_S = [0, 2, 5, 10]
const REASON = 'campaign-client check'
const XP = 1

/** The award that `--allow-writes` sends. Its id is always the same, so only the first run of an account awards XP. */
export const awardOf = ({ pid, address = '' }: Check['args']) => ({
  address,
  pid,
  id: rewardId({ pid, address, reason: REASON }),
  xp: XP,
})

interface Sighting {
  readonly platform: Platform
  readonly listed: boolean
  readonly hasAmount: boolean
}

interface Written {
  readonly first: Outcome
  readonly second?: Outcome
  readonly seen?: Sighting
}

const written = new WeakMap<Check, Written>()

/** Whether an award was sent whose outcome nobody knows. */
export function isOutcomeUnknown(check: Check): boolean {
  const { first, second } = written.get(check) ?? {}
  return [first, second].some((outcome) => {
    if (outcome === undefined) return false
    const { status = 0 } = outcome
    if (!isReply(outcome)) return outcome.sent && (status < 400 || status === 408 || status >= 500)
    const { body } = outcome
    if (status >= 300) return false
    return body.kind === 'other' || (body.kind === 'error' && Number(body.code) >= 500)
  })
}

/** What `award` needs to find an award that is in doubt. */
export function awardProfileOf(check: Check): Profile['award'] {
  const seen = written.get(check)?.seen
  if (seen === undefined) return {}
  return {
    walletPlatform: seen.platform,
    ...(seen.listed && { listsRewards: seen.hasAmount ? ('ids_and_amounts' as const) : ('ids' as const) }),
  }
}

// `rewardWallet` answers without data.
const isAccepted = (outcome: Outcome | undefined): boolean =>
  isReply(outcome) && outcome.status < 300 && outcome.body.kind === 'data'

async function readProgress(check: Check): Promise<ReadonlyMap<Platform, Outcome>> {
  const { address } = check.args
  const readings = new Map<Platform, Outcome>()
  for (const platform of PLATFORMS) {
    readings.set(
      platform,
      await check.send('getUserProgress', {}, { ...(address !== undefined && { account: address }), platform }),
    )
  }
  return readings
}

function xpOf(outcome: Outcome | undefined): number {
  const data = dataOf(outcome)
  return isRecord(data) && typeof data.xp === 'number' ? data.xp : 0
}

/** Finds the award in progress: by its id, or by the XP that it added. */
function sightingOf(
  before: ReadonlyMap<Platform, Outcome>,
  after: ReadonlyMap<Platform, Outcome>,
  id: string,
  isNew: boolean,
): Sighting | undefined {
  const sightings = PLATFORMS.flatMap((platform): Sighting[] => {
    const data = dataOf(after.get(platform))
    const rewards = isRecord(data) && Array.isArray(data.rewards) ? data.rewards.filter(isRecord) : []
    const reward = rewards.find((each) => each.id === id)
    if (reward) return [{ platform, listed: true, hasAmount: reward.type === 'xp' && Number(reward.reward) === XP }]
    const rose = isNew && isReply(before.get(platform)) && xpOf(after.get(platform)) > xpOf(before.get(platform))
    return rose ? [{ platform, listed: false, hasAmount: false }] : []
  })
  return sightings.find(({ listed }) => listed) ?? sightings[0]
}

const NEEDS = ['allowWrites', 'address'] as const

const usedId: Question = {
  id: 'writes.used-id',
  text: 'error for a used reward id',
  assumed: 'HTTP 400, standard',
  needs: NEEDS,
  async ask(check) {
    const award = awardOf(check.args)
    const before = await readProgress(check)
    const first = await check.probe.post('wallet/reward', award)
    written.set(check, { first })
    if (!isReply(first) || isOutcomeUnknown(check)) return
    const second = await check.probe.post('wallet/reward', award)
    written.set(check, { first, second })
    let waitedS = 0
    for (const atS of READ_AFTER_S) {
      await check.probe.wait((atS - waitedS) * 1_000)
      waitedS = atS
      const seen = sightingOf(before, await readProgress(check), award.id, isAccepted(first))
      if (seen) written.set(check, { first, second, seen })
      if (seen?.listed) return
    }
  },
  judge(check) {
    const { first, second, seen } = written.get(check) ?? {}
    if (!isReply(second)) return noData(second ?? first)
    const detail = errorDetail(second)
    if (isAccepted(second)) {
      return differs(
        'the service accepts the same id twice',
        'do not rely on ids to prevent double awards: set maxRetries to 0 for rewardWallet, and ask the operator',
        detail,
      )
    }
    const { status, body } = second
    const form = body.kind === 'data' ? 'data' : body.form
    if (!isAccepted(first) && !seen?.listed)
      return cannotTell(`HTTP ${status}, but nothing shows that the id was used`, detail)
    if (status === 400 && form === 'standard') return { ...asAssumed(), detail }
    return differs(
      `HTTP ${status}, ${form}`,
      'pass isUsedId to rewardWallets, so that it recognises this error',
      detail,
    )
  },
}

const platformOfWallets: Question = {
  id: 'writes.wallet-platform',
  text: "platform of a wallet's progress",
  assumed: 'ethereum',
  needs: NEEDS,
  judge(check) {
    const { first, seen } = written.get(check) ?? {}
    if (seen === undefined) {
      return isReply(first) ? cannotTell('no progress shows the award within 10 s') : noData(first)
    }
    if (seen.platform === 'ethereum') return asAssumed()
    return differs(seen.platform, 'give award the saved profile: --profile FILE')
  },
}

const listOfRewards: Question = {
  id: 'writes.lists-rewards',
  text: 'rewards in progress',
  assumed: 'list an award by its id, with its amount',
  needs: NEEDS,
  judge(check) {
    const { first, seen } = written.get(check) ?? {}
    if (seen === undefined) {
      return isReply(first) ? cannotTell('no progress shows the award within 10 s') : noData(first)
    }
    if (seen.hasAmount) return asAssumed()
    const advice = 'give award the saved profile: --profile FILE'
    return differs(seen.listed ? 'the id without the amount' : 'the XP rises, but the id is not listed', advice)
  },
}

/** Questions whose answers only the first award can give. */
export const FIRST_AWARD_QUESTIONS: ReadonlySet<string> = new Set(
  [usedId, platformOfWallets, listOfRewards].map(({ id }) => id),
)

export const writes: Group = { title: 'writes', questions: [usedId, platformOfWallets, listOfRewards] }
