import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import type { CampaignDefinition } from './campaign-definition.ts'
import type { User } from './users.ts'

/** A user's entry in a campaign. */
export interface Entry {
  readonly id: string
  readonly user: User
  /** ID of the user's own referral link in the campaign. */
  readonly ref_id: string
  name: string
  alias: string
  team: string
  xp: number
  ref_xp: number
  ugc_xp: number
  xp_mul: number
  readonly completed: Set<string>
  readonly rewards: RewardEntry[]
  referrer: Entry | undefined
  /** How many users this one has referred. */
  referred: number
}

/** A campaign with what has happened in it. */
export class Campaign {
  readonly definition: CampaignDefinition
  readonly inviteCodes = new Map<string, readonly string[]>()
  readonly #entries = new Map<User, Entry>()
  readonly #referralLinks = new Map<string, Entry>()

  constructor(definition: CampaignDefinition) {
    this.definition = definition
  }

  find(user: User): Entry | undefined {
    return this.#entries.get(user)
  }

  add(entry: Entry): void {
    if (this.#referralLinks.has(entry.ref_id)) throw new TypeError(`users: ref_id "${entry.ref_id}" is there twice`)
    this.#entries.set(entry.user, entry)
    this.#referralLinks.set(entry.ref_id, entry)
  }

  byReferralLink(refId: string): Entry | undefined {
    return this.#referralLinks.get(refId)
  }

  entries(): Iterable<Entry> {
    return this.#entries.values()
  }

  /** Whether the user has completed any task, whatever quests and challenges say. */
  hasCompletedTasks(entry: Entry): boolean {
    for (const id of entry.completed) if (this.definition.tasks.has(id)) return true
    return false
  }

  /** 1 for the most XP. Users with equal totals share a rank (assumed). */
  rank(entry: Entry): number {
    const own = totalXp(entry)
    let rank = 1
    for (const other of this.#entries.values()) if (totalXp(other) > own) rank++
    return rank
  }

  totalPoints(): number {
    let total = 0
    for (const entry of this.#entries.values()) total += totalXp(entry)
    return total
  }
}

export const totalXp = (entry: Entry): number => entry.xp + entry.ref_xp + entry.ugc_xp
