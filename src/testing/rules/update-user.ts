import { requireCampaign } from './campaign-access.ts'
import { enterUser } from './entry.ts'
import type { Rule } from './rule.ts'

export const updateUser: Rule<'updateUser'> = ({ account, platform, pid, name, alias, team }, context) => {
  const campaign = requireCampaign(pid, context)
  const entry = enterUser(campaign, account, platform, context)
  entry.name = name ?? entry.name
  entry.alias = alias ?? entry.alias
  entry.team = team ?? entry.team
  return {}
}
