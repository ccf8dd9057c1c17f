import { comparableAddress } from '../../shared/wallet-address.ts'
import type { CampaignService } from '../../testing/campaign-service.ts'
import { RecentLog } from '../../testing/recent-log.ts'
import type { CampaignSeed, ChallengeSeed } from '../../testing/seed/seed.ts'
import { rankOf } from '../../testing/state/campaign.ts'
import type { EntrySnapshot } from '../../testing/state/service-state.ts'
import type { CampaignView, ItemView, ProgressView, UserList, UserRow } from '../protocol.ts'
import { shorten } from './request-view.ts'

type User = UserRow & EntrySnapshot

/** The campaigns of a service and their users by rank. */
export class Campaigns {
  readonly #service: CampaignService
  #campaigns: readonly (Pick<CampaignView, 'pid' | 'name' | 'items'> & { readonly users: readonly User[] })[] = []
  #isStale = true

  constructor(service: CampaignService) {
    this.#service = service
  }

  /** Makes the next call read the service again. */
  invalidate(): void {
    this.#isStale = true
  }

  views(): readonly CampaignView[] {
    return this.#read().map(({ users, ...campaign }) => {
      const points = users.reduce((sum, { total }) => sum + total, 0)
      return { ...campaign, users: users.length, points }
    })
  }

  /** Returns the users of a campaign that match the filter, by rank. */
  list(pid: string, find: string, limit: number): UserList {
    const wanted = find.trim().toLowerCase()
    const found = this.#usersOf(pid).filter(({ account, platform, name, team }) =>
      `${account} ${platform} ${name} ${team}`.toLowerCase().includes(wanted),
    )
    return { users: found.slice(0, limit).map(userRow), found: found.length }
  }

  /** Finds a user by one of their accounts, or by their wallet. `*` stands for any campaign or platform. */
  user(pid: string, platform: string, name: string): User | undefined {
    const wallet = comparableAddress(name)
    const isNamed = (user: User) =>
      user.profiles.some(
        (profile) => profile.account === name && (platform === '*' || profile.platform === platform),
      ) ||
      (platform === '*' && comparableAddress(user.wallet) === wallet)
    const campaigns = this.#read().filter((campaign) => pid === '*' || campaign.pid === pid)
    return campaigns.flatMap(({ users }) => users.find(isNamed) ?? [])[0]
  }

  #usersOf(pid: string): readonly User[] {
    return this.#read().find((campaign) => campaign.pid === pid)?.users ?? []
  }

  #read() {
    if (this.#isStale) {
      const { entries } = this.#service.state
      this.#campaigns = (this.#service.exportSeed().campaigns ?? []).map((campaign) => {
        const { id, name = id } = campaign
        const items = itemsOf(campaign)
        const members = entries.filter(({ pid }) => pid === id)
        return { pid: id, name, items, users: ranked(members, items) }
      })
      this.#isStale = false
    }
    return this.#campaigns
  }
}

function ranked(entries: readonly EntrySnapshot[], items: readonly ItemView[]): readonly User[] {
  const tasks = new Set(items.filter(({ kind }) => kind === 'task').map(({ id }) => id))
  const totals = Float64Array.from(entries, ({ total }) => total).sort()
  const sorted = [...entries].sort((one, other) => other.total - one.total)
  return sorted.map((entry, index) => {
    const isTied = [sorted[index - 1], sorted[index + 1]].some((neighbour) => neighbour?.total === entry.total)
    return {
      ...entry,
      rank: rankOf(entry.total, totals),
      isTied,
      completedTasks: entry.completed.filter((id) => tasks.has(id)).length,
    }
  })
}

const userRow = (user: User): UserRow => {
  const { pid, account, platform, name, team, total, rank, isTied, completedTasks } = user
  return { pid, account, platform, name: shorten(name), team: shorten(team), total, rank, isTied, completedTasks }
}

function itemsOf({ actions = [], quests = [], challenges = [] }: CampaignSeed): readonly ItemView[] {
  const itemOf = (kind: ItemView['kind'], { id, name = id, xp = 0, deps = [] }: ChallengeSeed): ItemView => {
    return { id, name, kind, xp, deps }
  }
  return [
    ...actions.map((task) => ({
      ...itemOf('task', task),
      isRecurring: (task.recurrence ?? 'once') !== 'once',
      isOptional: task.is_optional ?? false,
    })),
    ...quests.map((quest) => ({ ...itemOf('quest', quest), actions: quest.actions })),
    ...challenges.map((challenge) => itemOf('challenge', challenge)),
  ]
}

/** The approximate size of a change in memory, in bytes. */
const CHANGE_SIZE = 200

interface Change extends ProgressView {
  /** ID of the user's entry. */
  readonly entry: string
}

/** The changes of each user's XP and completed items, which it finds by comparing entries. */
export class Progress {
  readonly #service: CampaignService
  readonly #changes = new RecentLog<string, Change>()
  /** The last known state of each entry, by ID. */
  readonly #known = new Map<string, Pick<EntrySnapshot, 'total' | 'completed'>>()
  #count = 0

  constructor(service: CampaignService) {
    this.#service = service
    this.reset()
  }

  /** Forgets the changes. Takes the state of the service as the start. */
  reset(): void {
    this.#changes.clear()
    this.#known.clear()
    for (const entry of this.#service.state.entries) this.#known.set(entry.id, entry)
  }

  add(at: number, entries: readonly EntrySnapshot[]): void {
    for (const entry of entries) {
      const known = this.#known.get(entry.id) ?? { total: 0, completed: [] }
      this.#known.set(entry.id, entry)
      const xp = entry.total - known.total
      const completed = entry.completed.slice(known.completed.length)
      if (xp === 0 && completed.length === 0) continue
      const key = `progress-${++this.#count}`
      this.#changes.set(key, { key, entry: entry.id, at, xp, completed }, CHANGE_SIZE)
    }
  }

  /** Returns the changes of an entry, newest first. */
  of(entry: string): readonly ProgressView[] {
    return this.#changes
      .values()
      .filter((change) => change.entry === entry)
      .reverse()
  }
}
