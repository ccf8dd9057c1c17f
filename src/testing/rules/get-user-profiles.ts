import { requireCampaign } from './campaign-access.ts'
import { requireEntry, requireUser } from './entry.ts'
import type { Rule } from './rule.ts'

export const getUserProfiles: Rule<'getUserProfiles'> = ({ account, platform, pid }, context) => {
  const campaign = requireCampaign(pid, context)
  const user = requireUser(account, platform, context)
  const entry = requireEntry(campaign, user)
  return {
    user_id: account,
    xp: entry.xp,
    ref_xp: entry.ref_xp,
    ugc_xp: entry.ugc_xp,
    // The interface does not say how the two differ: here they are equal (assumed).
    refs: entry.referred,
    ref_count: entry.referred,
    profiles: user.profiles,
  }
}
