import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import { copyJson } from '../../shared/text/json.ts'
import type { Campaign, Entry } from './campaign.ts'
import { defineCampaign } from './campaign-definition.ts'
import type { CampaignSeed, UserSeed } from './campaign-seed.ts'
import type { Identifiers } from './identifiers.ts'
import type { ServiceState } from './state.ts'
import { type User, type UserRegistry, WALLET_PLATFORM } from './users.ts'

/**
 * Puts campaigns with their users into a state. The seeds have been checked, but for who is who, which comes out as the
 * users are registered.
 *
 * @throws TypeError when two users claim one account, wallet, entry or link, or a referrer is not there, saying where
 */
export function seedCampaigns(
  caller: string,
  seeds: readonly CampaignSeed[],
  state: ServiceState,
  ids: Identifiers,
): void {
  for (const { id, ref_id } of seeds.flatMap(({ users = [] }) => users)) {
    if (id !== undefined) ids.reserve(id)
    if (ref_id !== undefined) ids.reserve(ref_id)
  }
  for (const [index, seed] of seeds.entries()) {
    const campaign = state.addCampaign(defineCampaign(seed))
    for (const { code, used_by = [] } of seed.invite_codes ?? []) campaign.inviteCodes.set(code, [...used_by])
    const users = (seed.users ?? []).map((user, place) => {
      const where = `${caller}: campaigns.${index}.users.${place}`
      return { user, entry: seedUser(user, campaign, state, where), where }
    })
    // Whoever referred a user may be listed after them.
    for (const { user, entry, where } of users) seedReferrer(user, entry, campaign, state.users, where)
  }
}

function seedUser(seed: UserSeed, campaign: Campaign, state: ServiceState, where: string): Entry {
  const { users } = state
  const user = users.register(seed.account, seed.platform)
  if (campaign.find(user)) throw new TypeError(`${where} is there twice`)
  for (const [index, profile] of (seed.profiles ?? []).entries()) {
    requireOwn(profile, user, users, `${where}.profiles.${index}`)
    users.link(user, profile)
  }
  if (seed.wallet !== undefined) {
    requireOwn({ account: seed.wallet, platform: WALLET_PLATFORM }, user, users, `${where}.wallet`)
    users.connectWallet(user, seed.wallet)
  }
  user.email = seed.email ?? user.email

  for (const field of ['id', 'ref_id'] as const) {
    const id = seed[field]
    if (id !== undefined && campaign.findBy(field, id)) throw new TypeError(`${where}.${field} is there twice`)
  }
  const { id, ref_id, name, alias, team, xp, ref_xp, ugc_xp, xp_mul, completed = [], rewards = [] } = seed
  const entry = state.enter(campaign, user, { id, ref_id })
  campaign.update(entry, { name, alias, team, xp, ref_xp, ugc_xp, xp_mul })
  for (const item of completed) campaign.complete(entry, item)
  for (const reward of rewards) {
    campaign.reward(entry, copyJson(reward))
    state.useRewardId(reward.id)
  }
  return entry
}

function requireOwn({ account, platform }: LinkedProfile, user: User, users: UserRegistry, where: string): void {
  const owner = users.find(account, platform)
  if (owner && owner !== user) throw new TypeError(`${where} belongs to another user`)
}

function seedReferrer(seed: UserSeed, entry: Entry, campaign: Campaign, users: UserRegistry, where: string): void {
  if (seed.referrer === undefined) return
  const { account, platform } =
    typeof seed.referrer === 'string' ? { account: seed.referrer, platform: seed.platform } : seed.referrer
  const user = users.find(account, platform)
  const referrer = user && campaign.find(user)
  if (!referrer || referrer === entry) throw new TypeError(`${where}.referrer must be another user of the campaign`)
  campaign.refer(referrer, entry)
}
