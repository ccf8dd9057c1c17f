import type { CampaignClient } from 'campaign-client'
import type { AwardRow, Confirmation } from 'campaign-client/bulk'
import type { Profile } from '../check/profile.ts'

/** How progress shows an award: from a profile of `check`, or assumed, since the interface does not show it. */
export interface AwardEvidence {
  /** The platform under which the progress of a wallet is read. */
  readonly platform: string
  /** Whether a reward of the type `xp` gives its amount. */
  readonly hasAmounts: boolean
  readonly isAssumed: boolean
}

/** Returns what a profile says of awards. Without a profile, or where it says nothing, the assumptions apply. */
export const evidenceOf = ({ walletPlatform, listsRewards }: Profile['award'] = {}): AwardEvidence => ({
  platform: walletPlatform ?? 'ethereum',
  hasAmounts: listsRewards !== 'ids',
  isAssumed: walletPlatform === undefined || listsRewards === undefined,
})

/**
 * Looks for an award in the progress of its wallet: a reward with the id of the award was made.
 * An award that is not listed may have been made all the same.
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
