import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import { comparableAddress, WALLET_ADDRESS } from '../../shared/wallet-address.ts'
import type { CampaignSeed, ChallengeSeed, QuestSeed, TaskSeed } from '../seed/seed.ts'

/** A seed with all its defaults. Only `meta` has no default. */
type WithDefaults<Seed> = { readonly [Name in Exclude<keyof Seed, 'meta'>]-?: Exclude<Seed[Name], undefined> } & {
  readonly meta?: Record<string, unknown>
}

export type Task = WithDefaults<TaskSeed>
export type Quest = WithDefaults<QuestSeed>
export type Challenge = WithDefaults<ChallengeSeed>

/** A user's entry in a campaign. Change it only through the campaign, which records every change. */
export interface Entry {
  readonly campaign: Campaign
  readonly id: string
  readonly user: User
  /** ID of the user's own referral link in the campaign. */
  readonly ref_id: string
  readonly name: string
  readonly alias: string
  readonly team: string
  readonly xp: number
  readonly ref_xp: number
  readonly ugc_xp: number
  readonly xp_mul: number
  readonly completed: Set<string>
  readonly rewards: RewardEntry[]
  readonly referrer: Entry | undefined
}

/** A campaign with its entries and invite codes. */
export class Campaign {
  /** The parts of the campaign that do not change. */
  readonly definition: ReturnType<typeof defineCampaign>
  readonly inviteCodes: ReadonlyMap<string, readonly string[]>
  readonly #entries = new Map<User, Entry>()
  readonly #byId = { id: new Map<string, Entry>(), ref_id: new Map<string, Entry>() }
  readonly #changed = new Set<Entry>()
  /** The totals of all entries in ascending order; `undefined` after a change. */
  #totals: Float64Array | undefined

  /** @param seed - already validated; its users are not added */
  constructor(seed: CampaignSeed) {
    this.definition = defineCampaign(seed)
    this.inviteCodes = new Map((seed.invite_codes ?? []).map(({ code, used_by = [] }) => [code, used_by]))
  }

  find(user: User | undefined): Entry | undefined {
    return user && this.#entries.get(user)
  }

  /** Returns the entry with this ID or this referral link. */
  findBy(field: 'id' | 'ref_id', id: string): Entry | undefined {
    return this.#byId[field].get(id)
  }

  entries(): readonly Entry[] {
    return [...this.#entries.values()]
  }

  /** Returns the entries that changed since the last call. */
  takeChanged(): readonly Entry[] {
    const changed = [...this.#changed]
    this.#changed.clear()
    return changed
  }

  /** Adds an entry for a user who has none. */
  add(user: User, ids: Pick<Entry, 'id' | 'ref_id'>): Entry {
    const entry: Entry = {
      ...ids,
      campaign: this,
      user,
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
    }
    this.#entries.set(user, entry)
    this.#byId.id.set(entry.id, entry)
    this.#byId.ref_id.set(entry.ref_id, entry)
    this.#recordChange(entry)
    return entry
  }

  /** Sets fields of an entry. Undefined fields keep their value. */
  update(entry: Entry, fields: { readonly [Name in keyof Entry]?: Entry[Name] | undefined }): void {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined)
    Object.assign(entry, Object.fromEntries(given))
    this.#recordChange(entry)
  }

  complete(entry: Entry, id: string): void {
    entry.completed.add(id)
    this.#recordChange(entry)
  }

  reward(entry: Entry, reward: RewardEntry): void {
    entry.rewards.push(reward)
    this.#recordChange(entry)
  }

  rank(entry: Entry): number {
    this.#totals ??= Float64Array.from(this.#entries.values(), totalXp).sort()
    return rankOf(totalXp(entry), this.#totals)
  }

  #recordChange(entry: Entry): void {
    this.#totals = undefined
    this.#changed.add(entry)
  }
}

const ITEM_DEFAULTS = { xp: 0, xp_mul: 1, deps: [] }
const TASK_DEFAULTS = { ...ITEM_DEFAULTS, type: 'custom', recurrence: 'once', ref_xp: 0, is_optional: false }

const defineCampaign = (seed: CampaignSeed) => ({
  id: seed.id,
  name: seed.name ?? seed.id,
  organization: seed.organization ?? 'demo',
  registration: seed.registration ?? 'open',
  seasons: seed.seasons ?? [{ name: 'Season 1', max_xp: 1_000_000 }],
  tasks: withDefaults<Task>(TASK_DEFAULTS, seed.actions),
  quests: withDefaults<Quest>(ITEM_DEFAULTS, seed.quests),
  challenges: withDefaults<Challenge>(ITEM_DEFAULTS, seed.challenges),
})

const withDefaults = <Item>(defaults: object, seeds: readonly ChallengeSeed[] = []): ReadonlyMap<string, Item> =>
  new Map(seeds.map((seed) => [seed.id, { ...defaults, name: seed.id, ...seed } as Item]))

/** Limits XP to finite numbers: JSON has no infinity and would send null. */
export const finiteXp = (xp: number): number => Math.max(-Number.MAX_VALUE, Math.min(xp, Number.MAX_VALUE))

/** The XP of a task, quest or challenge for a user: multiplied by the item's multiplier and the user's (assumed). */
export const earnedXp = (item: { readonly xp: number; readonly xp_mul: number }, entry: Entry): number =>
  finiteXp(finiteXp(item.xp * item.xp_mul) * entry.xp_mul)

export const totalXp = (entry: Entry): number => finiteXp(finiteXp(entry.xp + entry.ref_xp) + entry.ugc_xp)

/** A user, in all campaigns. */
export interface User {
  /** The account the user was registered with. */
  readonly account: string
  /** The platform of that account. */
  readonly platform: string
  readonly profiles: LinkedProfile[]
  wallet: string
  email: string
}

/**
 * All users. `find` accepts any account of a user. The platform and the letter case of a wallet address do not matter
 * (assumed): the API description does not show the platform on which `rewardWallet` registers an address.
 */
export class UserRegistry {
  readonly #byAccount = new Map<string, User>()

  find(account: string, platform: string): User | undefined {
    return this.#byAccount.get(accountKey(account, platform))
  }

  /** Whether two accounts of a platform belong to one user. The user need not be registered. */
  areSameUser(first: string, second: string, platform: string): boolean {
    if (accountKey(first, platform) === accountKey(second, platform)) return true
    const user = this.find(first, platform)
    return user !== undefined && user === this.find(second, platform)
  }

  /** Returns the user with this account. Registers a user if there is none. */
  register(account: string, platform: string): User {
    const known = this.find(account, platform)
    if (known) return known
    const user: User = {
      account,
      platform,
      profiles: [],
      wallet: WALLET_ADDRESS.test(account) ? account : '',
      email: '',
    }
    this.link(user, { account, platform })
    return user
  }

  /** Adds an account to a user. Returns false if the account belongs to another user. */
  link(user: User, { account, platform }: LinkedProfile): boolean {
    const key = accountKey(account, platform)
    const owner = this.#byAccount.get(key)
    if (owner) return owner === user
    this.#byAccount.set(key, user)
    user.profiles.push({ account, platform })
    return true
  }
}

const accountKey = (account: string, platform: string): string =>
  WALLET_ADDRESS.test(account) ? comparableAddress(account) : JSON.stringify([platform, account])

/**
 * Returns the rank of a total among all totals: 1 for the most XP. Users with equal totals share a rank (assumed).
 *
 * @param ascending - all totals, in ascending order
 */
export function rankOf(total: number, ascending: ArrayLike<number>): number {
  let [first, end] = [0, ascending.length]
  // Binary search for the first total that is greater.
  while (first < end) {
    const middle = (first + end) >> 1
    if ((ascending[middle] as number) > total) end = middle
    else first = middle + 1
  }
  return 1 + ascending.length - first
}
