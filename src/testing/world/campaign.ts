import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import type { CampaignDefinition } from './campaign-definition.ts'
import type { User } from './users.ts'

/** A user's entry in a campaign. Only the campaign changes it, so that every change is noticed. */
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
  readonly completed: ReadonlySet<string>
  readonly rewards: readonly RewardEntry[]
  readonly referrer: Entry | undefined
  /** How many users this one has referred. */
  readonly referred: number
}

/** The fields of an entry that can be set. */
type EntryFields = Pick<Entry, 'name' | 'alias' | 'team' | 'xp' | 'ref_xp' | 'ugc_xp' | 'xp_mul'>

interface StoredEntry extends EntryFields, Omit<Entry, keyof EntryFields> {
  readonly completed: Set<string>
  readonly rewards: RewardEntry[]
  referrer: Entry | undefined
  referred: number
}

/** A campaign with its entries and invite codes. */
export class Campaign {
  readonly definition: CampaignDefinition
  readonly inviteCodes = new Map<string, readonly string[]>()
  readonly #entries = new Map<User, StoredEntry>()
  readonly #byId = { id: new Map<string, Entry>(), ref_id: new Map<string, Entry>() }
  readonly #onChange: (entry: Entry) => void

  constructor(definition: CampaignDefinition, onChange: (entry: Entry) => void) {
    this.definition = definition
    this.#onChange = onChange
  }

  find(user: User): Entry | undefined {
    return this.#entries.get(user)
  }

  /** Adds an entry for a user who has none. */
  add(user: User, ids: Pick<Entry, 'id' | 'ref_id'>): Entry {
    const entry: StoredEntry = {
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
      referred: 0,
    }
    this.#entries.set(user, entry)
    this.#byId.id.set(entry.id, entry)
    this.#byId.ref_id.set(entry.ref_id, entry)
    this.#onChange(entry)
    return entry
  }

  /** Sets fields of an entry. Undefined fields keep their value. */
  update(entry: Entry, fields: { readonly [Name in keyof EntryFields]?: EntryFields[Name] | undefined }): void {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined)
    Object.assign(this.#stored(entry), Object.fromEntries(given))
    this.#onChange(entry)
  }

  complete(entry: Entry, id: string): void {
    this.#stored(entry).completed.add(id)
    this.#onChange(entry)
  }

  reward(entry: Entry, reward: RewardEntry): void {
    this.#stored(entry).rewards.push(reward)
    this.#onChange(entry)
  }

  refer(referrer: Entry, referral: Entry): void {
    this.#stored(referral).referrer = referrer
    this.#stored(referrer).referred++
    this.#onChange(referral)
  }

  /** Returns the entry with this ID or this referral link. */
  findBy(field: 'id' | 'ref_id', id: string): Entry | undefined {
    return this.#byId[field].get(id)
  }

  entries(): Iterable<Entry> {
    return this.#entries.values()
  }

  /** Whether the user has completed any task. Quests and challenges do not count. */
  hasCompletedTasks(entry: Entry): boolean {
    for (const id of entry.completed) if (this.definition.tasks.has(id)) return true
    return false
  }

  /** Returns the rank: 1 for the most XP. Users with equal totals share a rank (assumed). */
  rank(entry: Entry): number {
    const own = totalXp(entry)
    let rank = 1
    for (const other of this.#entries.values()) if (totalXp(other) > own) rank++
    return rank
  }

  totalPoints(): number {
    let total = 0
    for (const entry of this.#entries.values()) total = finiteXp(total + totalXp(entry))
    return total
  }

  #stored(entry: Entry): StoredEntry {
    return this.#entries.get(entry.user) as StoredEntry
  }
}

/** Limits XP to finite numbers: JSON has no infinity and would send null. */
export const finiteXp = (xp: number): number => Math.max(-Number.MAX_VALUE, Math.min(xp, Number.MAX_VALUE))

export const totalXp = (entry: Entry): number => finiteXp(finiteXp(entry.xp + entry.ref_xp) + entry.ugc_xp)
