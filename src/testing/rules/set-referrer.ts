import { requireCampaign } from './campaign-access.ts'
import { enterUser } from './entry.ts'
import { missingUser, requireReferable, selfReferral } from './referral.ts'
import type { Rule } from './rule.ts'

export const setReferrer: Rule<'setReferrer'> = ({ referrer, referral, platform, pid }, context) => {
  const campaign = requireCampaign(pid, context)
  const { users } = context.state
  if (users.areSame(referrer, referral, platform)) throw selfReferral()
  for (const account of [referrer, referral]) {
    const user = users.find(account, platform)
    if (campaign.definition.registration === 'closed' && !(user && campaign.find(user))) throw missingUser(account)
  }
  const known = users.find(referral, platform)
  if (known) requireReferable(campaign, campaign.find(known))

  campaign.refer(enterUser(campaign, referrer, platform, context), enterUser(campaign, referral, platform, context))
  return {}
}
