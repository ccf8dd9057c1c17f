import { HttpError } from '../http/http-error.ts'
import { enterUser, requireCampaign, requireReferable } from './require.ts'
import type { Rule } from './rule.ts'

// The API description does not show the status of the two string-form errors: 400 is assumed.
const SELF_REFERRAL = { status: 400, stringError: 'self_referral_not_allowed' } as const
const MISSING_USER = { status: 400, stringError: 'missing_user' } as const

export const setReferrer: Rule<'setReferrer'> = ({ referrer, referral, platform, pid }, context) => {
  const campaign = requireCampaign(pid, context)
  const { users } = context.state
  if (users.areSameUser(referrer, referral, platform)) {
    throw new HttpError({ ...SELF_REFERRAL, reason: 'referrer and referral are one user' })
  }
  for (const account of [referrer, referral]) {
    const user = users.find(account, platform)
    if (campaign.definition.registration === 'closed' && !(user && campaign.find(user))) {
      throw new HttpError({ ...MISSING_USER, reason: `there is no user "${account}"` })
    }
  }
  requireReferable(campaign, users.find(referral, platform))

  const entry = enterUser(campaign, referrer, platform, context)
  campaign.update(enterUser(campaign, referral, platform, context), { referrer: entry })
  return {}
}
