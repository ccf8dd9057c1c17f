import { badRequest, Refusal } from '../refusal.ts'
import type { Campaign, Entry } from '../world/campaign.ts'

export function requireReferable(campaign: Campaign, entry: Entry | undefined): void {
  if (!entry) return
  if (entry.referrer) throw badRequest(`the user "${entry.user.account}" has a referrer already`)
  if (campaign.hasCompletedTasks(entry)) throw badRequest(`the user "${entry.user.account}" has completed tasks`)
}

// The interface does not show the status of the two string-form errors: 400 is assumed.
export const selfReferral = (): Refusal =>
  new Refusal({ status: 400, stringError: 'self_referral_not_allowed', reason: 'referrer and referral are one user' })

export const missingUser = (account: string): Refusal =>
  new Refusal({ status: 400, stringError: 'missing_user', reason: `there is no user "${account}"` })
