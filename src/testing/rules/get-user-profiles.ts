import { requireCampaign, requireEntry, requireUser } from './require.ts'
import type { Rule } from './rule.ts'

export const getUserProfiles: Rule<'getUserProfiles'> = ({ account, platform, pid }, context) => {
  const campaign = requireCampaign(pid, context)
  const user = requireUser(account, platform, context)
  const entry = requireEntry(campaign, user)
  const referrals = [...campaign.entries()].filter(({ referrer }) => referrer === entry).length
  return {
    user_id: account,
    xp: entry.xp,
    ref_xp: entry.ref_xp,
    ugc_xp: entry.ugc_xp,
    // Assumed: `refs` and `ref_count` are equal. The API description does not explain the difference.
    refs: referrals,
    ref_count: referrals,
    profiles: user.profiles,
  }
}
