import type { CampaignClient } from 'campaign-client'
import type { AwardRow, Confirmation } from 'campaign-client/bulk'
import type { Profile } from '../check/profile.ts'

/** How the service lists awards in the progress of a wallet. The API description does not show it. */
export interface ProgressFormat {
  /** The platform of wallets. */
  readonly platform: string
  /** Whether a reward with the type `xp` has its amount in the field `reward`. `undefined`: assumed, not proven. */
  readonly hasAmounts: boolean | undefined
  /** Whether a part of the format is assumed, because no profile has it. */
  readonly isAssumed: boolean
}

/** Reads the format from a profile. Assumes the missing parts. */
export const progressFormatOf = ({ walletPlatform, listsRewards }: Profile['award'] = {}): ProgressFormat => ({
  platform: walletPlatform ?? 'ethereum',
  hasAmounts: listsRewards === undefined ? undefined : listsRewards === 'ids_and_amounts',
  isAssumed: walletPlatform === undefined || listsRewards === undefined,
})

/**
 * Looks for an award in the progress of its wallet. A missing reward proves nothing. If the format of amounts is assumed,
 * another amount proves nothing either: the service may round it.
 */
export async function findAward(
  client: Pick<CampaignClient, 'getUserProgress'>,
  { address, pid, id, xp: awardedXp }: AwardRow,
  { platform, hasAmounts }: ProgressFormat,
): Promise<Confirmation> {
  try {
    const { rewards } = await client.getUserProgress({ account: address, platform, pid })
    const found = rewards.find((reward) => reward.id === id)
    if (found === undefined) return undefined
    const isAmount = found.type === 'xp' && found.reward.trim() !== '' && Number.isFinite(Number(found.reward))
    const xp = Number(found.reward)
    if (hasAmounts === undefined) return isAmount && xp === awardedXp ? true : undefined
    return hasAmounts && isAmount ? { xp } : true
  } catch {
    return undefined
  }
}
