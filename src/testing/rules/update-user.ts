import { enterUser, requireCampaign } from './require.ts'
import type { Rule } from './rule.ts'

export const updateUser: Rule<'updateUser'> = ({ account, platform, pid, name, alias, team }, context) => {
  const campaign = requireCampaign(pid, context)
  const entry = enterUser(campaign, account, platform, context)
  campaign.update(entry, { name, alias, team })
  return {}
}
