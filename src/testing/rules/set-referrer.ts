import { requireCampaign } from './campaign-access.ts'
import { enterUser } from './entry.ts'
import { missingUser, requireReferable, selfReferral } from './referral.ts'
import type { Rule } from './rule.ts'

export const setReferrer: Rule<'setReferrer'> = ({ referrer, referral, platform, pid }, context) => {
  const campaign = requireCampaign(pid, context)
  if (referrer === referral) throw selfReferral()
  const { users } = context.state
  const accounts = [referrer, referral].map((account) => ({ account, user: users.find(account, platform) }))
  for (const { account, user } of accounts) {
    if (campaign.definition.registration === 'closed' && !(user && campaign.find(user))) throw missingUser(account)
  }
  const [first, second] = accounts
  if (first?.user && first.user === second?.user) throw selfReferral()
  if (second?.user) requireReferable(campaign, campaign.find(second.user))

  campaign.refer(enterUser(campaign, referrer, platform, context), enterUser(campaign, referral, platform, context))
  return {}
}
