import type { CampaignClient } from 'campaign-client'
import type { AwardRow } from 'campaign-client/bulk'

/** The platform under which a wallet's progress is read. Assumed: the interface does not show it. */
export const WALLET_PLATFORM = 'ethereum'

/**
 * Looks for an award in the progress of its wallet.
 *
 * Assumed: the rewards are listed by the ids of the awards, and a reward of the type `xp` has its amount as `reward`.
 * So an award that is listed was made; an award that is not listed may have been made all the same.
 */
export async function confirmAward(
  client: Pick<CampaignClient, 'getUserProgress'>,
  { address, pid, id }: AwardRow,
): Promise<true | undefined> {
  try {
    const { rewards } = await client.getUserProgress({ account: address, platform: WALLET_PLATFORM, pid })
    return rewards.some((reward) => reward.id === id) || undefined
  } catch {
    return undefined
  }
}
