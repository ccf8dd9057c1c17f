import { badRequest } from '../refusal.ts'
import { requireCampaign } from './campaign-access.ts'
import { enterUser } from './entry.ts'
import { refer, requireReferable } from './referral.ts'
import type { Rule } from './rule.ts'

export const setReferrerByRefId: Rule<'setReferrerByRefId'> = ({ account, platform, pid, ref_id }, context) => {
  const campaign = requireCampaign(pid, context)
  const referrer = campaign.byReferralLink(ref_id)
  if (!referrer) throw badRequest(`there is no referral link "${ref_id}" in the campaign`)
  const user = context.state.users.find(account, platform)
  if (user === referrer.user) throw badRequest(`the referral link "${ref_id}" is the user's own`)
  if (user) requireReferable(campaign, campaign.find(user))

  refer(referrer, enterUser(campaign, account, platform, context))
  return {}
}
