import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import { rankOf } from '../../shared/rank.ts'
import type { CampaignDefinition } from './campaign-definition.ts'
import type { User } from './user-registry.ts'

/** A user's entry in a campaign. Change it only through the campaign, which records every change. */
export interface Entry {
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
  readonly definition: CampaignDefinition
  readonly inviteCodes = new Map<string, readonly string[]>()
  readonly #entries = new Map<User, Entry>()
  readonly #byId = { id: new Map<string, Entry>(), ref_id: new Map<string, Entry>() }
  readonly #onChange: (entry: Entry) => void
  /** The totals of all entries in ascending order; `undefined` after a change. */
  #totals: Float64Array | undefined

  constructor(definition: CampaignDefinition, onChange: (entry: Entry) => void) {
    this.definition = definition
    this.#onChange = (entry) => {
      this.#totals = undefined
      onChange(entry)
    }
  }

  find(user: User): Entry | undefined {
    return this.#entries.get(user)
  }

  /** Returns the entry with this ID or this referral link. */
  findBy(field: 'id' | 'ref_id', id: string): Entry | undefined {
    return this.#byId[field].get(id)
  }

  entries(): Iterable<Entry> {
    return this.#entries.values()
  }

  /** Adds an entry for a user who has none. */
  add(user: User, ids: Pick<Entry, 'id' | 'ref_id'>): Entry {
    const entry: Entry = {
      ...ids,
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
    this.#onChange(entry)
    return entry
  }

  /** Sets fields of an entry. Undefined fields keep their value. */
  update(entry: Entry, fields: { readonly [Name in keyof Entry]?: Entry[Name] | undefined }): void {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined)
    Object.assign(entry, Object.fromEntries(given))
    this.#onChange(entry)
  }

  complete(entry: Entry, id: string): void {
    entry.completed.add(id)
    this.#onChange(entry)
  }

  reward(entry: Entry, reward: RewardEntry): void {
    entry.rewards.push(reward)
    this.#onChange(entry)
  }

  /** Whether the user has completed any task. Quests and challenges do not count. */
  hasCompletedTasks(entry: Entry): boolean {
    return [...entry.completed].some((id) => this.definition.tasks.has(id))
  }

  rank(entry: Entry): number {
    this.#totals ??= Float64Array.from(this.#entries.values(), totalXp).sort()
    return rankOf(totalXp(entry), this.#totals)
  }

  totalPoints(): number {
    return [...this.#entries.values()].reduce((total, entry) => finiteXp(total + totalXp(entry)), 0)
  }
}

/** Limits XP to finite numbers: JSON has no infinity and would send null. */
export const finiteXp = (xp: number): number => Math.max(-Number.MAX_VALUE, Math.min(xp, Number.MAX_VALUE))

export const totalXp = (entry: Entry): number => finiteXp(finiteXp(entry.xp + entry.ref_xp) + entry.ugc_xp)
