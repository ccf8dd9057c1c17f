import { accessDenied } from '../refusal.ts'
import type { Campaign } from '../world/campaign.ts'
import type { RuleContext } from './rule.ts'

export function requireCampaign(pid: string, { state, grant }: RuleContext): Campaign {
  const campaign = state.campaigns.get(pid)
  // The same answer for both, so that nobody learns which campaigns others have (assumed).
  if (!campaign) throw accessDenied(`there is no campaign "${pid}"`)
  const foreign = grant.organization !== undefined && grant.organization !== campaign.definition.organization
  if (foreign || (grant.campaigns && !grant.campaigns.includes(pid))) {
    throw accessDenied(`the token has no permission for the campaign "${pid}"`)
  }
  return campaign
}
