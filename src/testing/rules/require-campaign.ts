import { accessDenied } from '../http/http-error.ts'
import type { Campaign } from '../state/campaign.ts'
import type { RuleContext } from './rule.ts'

export function requireCampaign(pid: string, { state, grant }: RuleContext): Campaign {
  const campaign = state.campaigns.get(pid)
  // 403 for an unknown campaign too, so that the response does not reveal which campaigns exist (assumed).
  if (!campaign) throw accessDenied(`there is no campaign "${pid}"`)
  const isForeign = grant.organization !== undefined && grant.organization !== campaign.definition.organization
  if (isForeign || (grant.campaigns && !grant.campaigns.includes(pid))) {
    throw accessDenied(`the token has no permission for the campaign "${pid}"`)
  }
  return campaign
}
