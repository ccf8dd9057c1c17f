import { badRequest } from '../refusal.ts'
import { requireCampaign } from './campaign-access.ts'
import { enterUser } from './entry.ts'
import { requireReferable } from './referral.ts'
import type { Rule } from './rule.ts'

export const setReferrerByRefId: Rule<'setReferrerByRefId'> = ({ account, platform, pid, ref_id }, context) => {
  const campaign = requireCampaign(pid, context)
  const referrer = campaign.findBy('ref_id', ref_id)
  if (!referrer) throw badRequest(`there is no referral link "${ref_id}" in the campaign`)
  const user = context.state.users.find(account, platform)
  if (user === referrer.user) throw badRequest(`the referral link "${ref_id}" is the user's own`)
  if (user) requireReferable(campaign, campaign.find(user))

  campaign.refer(referrer, enterUser(campaign, account, platform, context))
  return {}
}
