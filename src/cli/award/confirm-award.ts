import type { CampaignClient } from 'campaign-client'
import type { AwardRow, Confirmation } from 'campaign-client/bulk'
import type { Profile } from '../check/profile.ts'

/**
 * How an award appears in the progress of its wallet. The interface does not describe this: it is read from a profile of
 * `check`, or assumed.
 */
export interface AwardEvidence {
  /** The platform under which the progress of a wallet is read. */
  readonly platform: string
  /** Whether the field `reward` of a reward with the type `xp` holds the amount. */
  readonly hasAmounts: boolean
  readonly isAssumed: boolean
}

/** Returns how a profile describes awards. The assumptions fill the gaps. */
export const evidenceOf = ({ walletPlatform, listsRewards }: Profile['award'] = {}): AwardEvidence => ({
  platform: walletPlatform ?? 'ethereum',
  hasAmounts: listsRewards !== 'ids',
  isAssumed: walletPlatform === undefined || listsRewards === undefined,
})

/**
 * Looks for an award in the progress of its wallet. A reward with the id of the award proves that it was made.
 * A missing reward proves nothing.
 */
export async function confirmAward(
  client: Pick<CampaignClient, 'getUserProgress'>,
  { address, pid, id }: AwardRow,
  { platform, hasAmounts }: AwardEvidence,
): Promise<Confirmation> {
  try {
    const { rewards } = await client.getUserProgress({ account: address, platform, pid })
    const found = rewards.find((reward) => reward.id === id)
    if (found === undefined) return undefined
    const xp = Number(found.reward)
    const givesAmount = hasAmounts && found.type === 'xp' && found.reward.trim() !== '' && Number.isFinite(xp)
    return givesAmount ? { xp } : true
  } catch {
    return undefined
  }
}
