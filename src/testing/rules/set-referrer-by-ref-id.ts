import { badRequest } from '../http/http-error.ts'
import { enterUser, requireCampaign, requireReferable } from './require.ts'
import type { Rule } from './rule.ts'

export const setReferrerByRefId: Rule<'setReferrerByRefId'> = ({ account, platform, pid, ref_id }, context) => {
  const campaign = requireCampaign(pid, context)
  const referrer = campaign.findBy('ref_id', ref_id)
  if (!referrer) throw badRequest(`there is no referral link "${ref_id}" in the campaign`)
  const user = context.state.users.find(account, platform)
  if (user === referrer.user) throw badRequest(`the referral link "${ref_id}" is the user's own`)
  requireReferable(campaign, user)

  campaign.update(enterUser(campaign, account, platform, context), { referrer })
  return {}
}
