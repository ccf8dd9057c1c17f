import type { CampaignClient } from 'campaign-client'
import type { AwardRow } from 'campaign-client/bulk'

/** The platform under which a wallet's progress is read. Assumed: the interface does not show it. */
export const WALLET_PLATFORM = 'ethereum'

/**
 * Looks for an award in the progress of its wallet.
 *
 * Assumed: the rewards are listed by the ids of the awards, and a reward of the type `xp` has its amount as `reward`.
 * So an award that is listed was made, an id that is listed with another amount belongs to another award, and an award
 * that is not listed may have been made all the same.
 */
export async function confirmAward(
  client: Pick<CampaignClient, 'getUserProgress'>,
  { address, pid, id, xp }: AwardRow,
): Promise<boolean | undefined> {
  try {
    const { rewards } = await client.getUserProgress({ account: address, platform: WALLET_PLATFORM, pid })
    const listed = rewards.find((reward) => reward.id === id)
    if (listed === undefined) return undefined
    return listed.type !== 'xp' || !/^\d+(?:\.\d+)?$/.test(listed.reward) || Number(listed.reward) === xp
  } catch {
    return undefined
  }
}
