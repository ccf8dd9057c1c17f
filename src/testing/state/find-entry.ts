import type { OptionRules } from '../../shared/option-checks.ts'
import { mustBeIdentifier } from '../option-readers.ts'
import type { Campaign, Entry } from './campaign.ts'
import type { ServiceState } from './service-state.ts'

/** A user of a campaign. */
export interface EntryOptions {
  /** Account identifier of a user who has an entry in the campaign. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Campaign ID. */
  pid: string
}

export const ENTRY_RULES: OptionRules<EntryOptions> = {
  account: mustBeIdentifier,
  platform: mustBeIdentifier,
  pid: mustBeIdentifier,
}

/** @throws TypeError when the campaign does not exist, or the user has no entry in it */
export function findEntry(
  caller: string,
  { pid, account, platform }: EntryOptions,
  state: ServiceState,
): { campaign: Campaign; entry: Entry } {
  const campaign = state.campaigns.get(pid)
  if (!campaign) throw new TypeError(`${caller}: pid: there is no campaign "${pid}"`)
  const user = state.users.find(account, platform)
  const entry = user && campaign.find(user)
  if (!entry) throw new TypeError(`${caller}: there is no user "${account}" on "${platform}" in "${pid}"`)
  return { campaign, entry }
}
