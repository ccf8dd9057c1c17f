import { accessDenied, badRequest } from '../http/http-error.ts'
import type { Campaign, Entry } from '../state/campaign.ts'
import type { User } from '../state/user-registry.ts'
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

export function requireUser(account: string, platform: string, { state }: RuleContext): User {
  const user = state.users.find(account, platform)
  if (!user) throw badRequest(`there is no user "${account}" on "${platform}"`)
  return user
}

export function requireEntry(campaign: Campaign, user: User): Entry {
  const entry = campaign.find(user)
  if (!entry) throw badRequest(`the user "${user.account}" has no entry in the campaign`)
  return entry
}

/** Returns the user's entry. If the campaign's registration is open, adds a missing user and a missing entry. */
export function enterUser(campaign: Campaign, account: string, platform: string, { state }: RuleContext): Entry {
  if (campaign.definition.registration === 'open') {
    return state.enter(campaign, state.users.register(account, platform))
  }
  const user = state.users.find(account, platform)
  const entry = user && campaign.find(user)
  if (!entry) throw badRequest(`"${account}" has no entry in the campaign, whose registration is closed`)
  return entry
}

/** Refuses a user who has a referrer or completed tasks. An unknown user is accepted. */
export function requireReferable(campaign: Campaign, user: User | undefined): void {
  const entry = user && campaign.find(user)
  if (!entry) return
  if (entry.referrer) throw badRequest(`the user "${entry.user.account}" has a referrer already`)
  if (campaign.hasCompletedTasks(entry)) throw badRequest(`the user "${entry.user.account}" has completed tasks`)
}
