import type { Campaign, Entry } from './campaign.ts'
import type { ServiceState } from './state.ts'

/** Names a user of a campaign. */
export interface NamedEntry {
  /** Account identifier of a user who has an entry in the campaign. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Campaign ID. */
  pid: string
}

/** @throws TypeError when the campaign does not exist, or the user has no entry in it */
export function findNamedEntry(
  caller: string,
  { pid, account, platform }: NamedEntry,
  state: ServiceState,
): { campaign: Campaign; entry: Entry } {
  const campaign = state.campaigns.get(pid)
  if (!campaign) throw new TypeError(`${caller}: pid: there is no campaign "${pid}"`)
  const user = state.users.find(account, platform)
  const entry = user && campaign.find(user)
  if (!entry) throw new TypeError(`${caller}: there is no user "${account}" on "${platform}" in "${pid}"`)
  return { campaign, entry }
}
