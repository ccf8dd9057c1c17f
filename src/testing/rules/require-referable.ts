import { badRequest } from '../http/http-error.ts'
import type { Campaign } from '../state/campaign.ts'
import type { User } from '../state/user-registry.ts'

/** Refuses a user who has a referrer or completed tasks. An unknown user is accepted. */
export function requireReferable(campaign: Campaign, user: User | undefined): void {
  const entry = user && campaign.find(user)
  if (!entry) return
  if (entry.referrer) throw badRequest(`the user "${entry.user.account}" has a referrer already`)
  if (campaign.hasCompletedTasks(entry)) throw badRequest(`the user "${entry.user.account}" has completed tasks`)
}
