import { requireOptions } from '../../shared/options.ts'
import { Campaign, type Entry } from './campaign.ts'
import { defineCampaign } from './campaign-definition.ts'
import {
  type CampaignSeed,
  INVITE_CODE_SEED,
  type InviteCodeSeed,
  PROFILE_SEED,
  USER_SEED,
  type UserSeed,
} from './campaign-seed.ts'
import type { IdSource } from './identifiers.ts'
import { type User, UserRegistry } from './users.ts'

/** A reward given by `rewardWallet`. */
export interface AwardRecord {
  /** The reward's ID, which is used up. */
  id: string
  /** Campaign ID. */
  pid: string
  /** The wallet address, as it was sent. */
  address: string
  /** Amount of XP. */
  xp: number
  /** When, in milliseconds since the epoch, by the service's clock. */
  at: number
}

/** A value recorded by `recordActionValue`. */
export interface ValueRecord {
  /** Account identifier of the user. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Campaign ID. */
  pid: string
  /** Quest ID. */
  cid: string
  /** Task ID. */
  aid: string
  /** The value. */
  value: number
  /** When, in milliseconds since the epoch, by the service's clock. */
  at: number
}

/** Everything the service remembers, but its webhooks. */
export class ServiceState {
  readonly campaigns = new Map<string, Campaign>()
  readonly users = new UserRegistry()
  /** By reward ID: used once in the whole service, whatever the campaign (assumed). */
  readonly awards = new Map<string, AwardRecord>()
  readonly values: ValueRecord[] = []
  readonly #usedRewardIds = new Set<string>()
  readonly #ids: IdSource

  /** @throws TypeError when a seed contradicts itself, saying where. */
  constructor(seeds: readonly CampaignSeed[], ids: IdSource) {
    this.#ids = ids
    for (const seed of seeds) {
      const campaign = new Campaign(defineCampaign(seed))
      if (this.campaigns.has(seed.id)) throw new TypeError(`campaigns: "${seed.id}" is there twice`)
      this.campaigns.set(seed.id, campaign)
      for (const user of seed.users ?? []) this.#seedUser(campaign, user)
      for (const [index, code] of (seed.invite_codes ?? []).entries()) seedInviteCode(campaign, code, index)
    }
  }

  /** The user's entry in the campaign, made when there is none. */
  enter(campaign: Campaign, user: User, refId?: string): Entry {
    const known = campaign.find(user)
    if (known) return known
    const entry: Entry = {
      id: this.#ids.short('entry'),
      user,
      ref_id: refId ?? this.#ids.short('ref'),
      name: user.account,
      alias: '',
      team: '',
      xp: 0,
      ref_xp: 0,
      ugc_xp: 0,
      xp_mul: 1,
      completed: new Set(),
      rewards: [],
      referrer: undefined,
      referred: 0,
    }
    campaign.add(entry)
    return entry
  }

  isRewardIdUsed(id: string): boolean {
    return this.#usedRewardIds.has(id)
  }

  award(award: AwardRecord): void {
    this.#usedRewardIds.add(award.id)
    this.awards.set(award.id, award)
  }

  #seedUser(campaign: Campaign, seed: UserSeed): void {
    const where = `campaign "${campaign.definition.id}": user "${seed?.account}"`
    requireOptions(where, seed, USER_SEED)
    for (const field of ['account', 'platform'] as const) {
      if (typeof seed[field] !== 'string' || seed[field] === '') {
        throw new TypeError(`${where}: ${field} must be a non-empty string`)
      }
    }
    const user = this.users.register(seed.account, seed.platform)
    if (campaign.find(user)) throw new TypeError(`${where} is there twice`)
    for (const [index, profile] of (seed.profiles ?? []).entries()) {
      requireOptions(`${where}: profiles[${index}]`, profile, PROFILE_SEED)
      this.users.link(user, profile)
    }
    if (seed.wallet !== undefined) this.users.connectWallet(user, seed.wallet)
    if (seed.email !== undefined) user.email = seed.email

    const entry = this.enter(campaign, user, seed.ref_id)
    for (const field of ['name', 'alias', 'team'] as const) entry[field] = seed[field] ?? entry[field]
    for (const field of ['xp', 'ref_xp', 'ugc_xp', 'xp_mul'] as const) {
      entry[field] = seed[field] ?? entry[field]
      if (!Number.isFinite(entry[field])) throw new TypeError(`${where}: ${field} must be a finite number`)
    }
    const { tasks, quests, challenges } = campaign.definition
    for (const id of seed.completed ?? []) {
      if (!tasks.has(id) && !quests.has(id) && !challenges.has(id)) {
        throw new TypeError(`${where}: completed names "${id}", which is not there`)
      }
      entry.completed.add(id)
    }
    for (const reward of seed.rewards ?? []) {
      entry.rewards.push({ ...reward })
      this.#usedRewardIds.add(reward.id)
    }
    if (seed.referrer !== undefined) {
      const referrer = this.users.find(seed.referrer, seed.platform)
      const referrerEntry = referrer && campaign.find(referrer)
      if (!referrerEntry || referrerEntry === entry) {
        throw new TypeError(`${where}: referrer "${seed.referrer}" must be another user listed before`)
      }
      entry.referrer = referrerEntry
      referrerEntry.referred++
    }
  }
}

function seedInviteCode(campaign: Campaign, seed: InviteCodeSeed, index: number): void {
  requireOptions(`campaign "${campaign.definition.id}": invite_codes[${index}]`, seed, INVITE_CODE_SEED)
  campaign.inviteCodes.set(seed.code, [...(seed.used_by ?? [])])
}
