import type { CampaignClient } from 'campaign-client'
import type { AwardRow, Confirmation } from 'campaign-client/bulk'
import type { Profile } from '../check/profile.ts'

/** How the service lists awards in the progress of a wallet. The interface does not document it. */
export interface ProgressFormat {
  /** The platform of wallets. */
  readonly platform: string
  /** Whether a reward with the type `xp` has its amount in the field `reward`. */
  readonly hasAmounts: boolean
  /** Whether a part of the format is assumed, because the profile does not have it. */
  readonly isAssumed: boolean
}

/** Reads the format from a profile. Assumes the missing parts. */
export const progressFormatOf = ({ walletPlatform, listsRewards }: Profile['award'] = {}): ProgressFormat => ({
  platform: walletPlatform ?? 'ethereum',
  hasAmounts: listsRewards !== 'ids',
  isAssumed: walletPlatform === undefined || listsRewards === undefined,
})

/**
 * Looks for an award in the progress of its wallet. A reward with the same id proves that the award was made. A missing
 * reward proves nothing.
 */
export async function findAward(
  client: Pick<CampaignClient, 'getUserProgress'>,
  { address, pid, id }: AwardRow,
  { platform, hasAmounts }: ProgressFormat,
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
