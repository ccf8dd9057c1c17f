import type { CampaignSeed, EntrySnapshot } from 'campaign-client/testing'
import type { CampaignView, ItemView, UserList, UserRow, UserView } from '../protocol.ts'
import { shorten } from './request-rows.ts'

/** The campaigns and their users, kept up to date by the events of the service. */
export class Campaigns {
  readonly #campaigns = new Map<string, { readonly seed: CampaignSeed; readonly items: readonly ItemView[] }>()
  readonly #entries = new Map<string, EntrySnapshot>()
  #ranked: ReadonlyMap<string, readonly UserRow[]> | undefined

  /** Replaces everything. */
  reset(campaigns: readonly CampaignSeed[], entries: readonly EntrySnapshot[]): void {
    this.#campaigns.clear()
    this.#entries.clear()
    for (const seed of campaigns) this.#campaigns.set(seed.id, { seed, items: itemsOf(seed) })
    this.change(entries)
  }

  /** Adds or replaces entries. */
  change(entries: readonly EntrySnapshot[]): void {
    for (const entry of entries) this.#entries.set(keyOf(entry.pid, entry.platform, entry.account), entry)
    this.#ranked = undefined
  }

  has(pid: string): boolean {
    return this.#campaigns.has(pid)
  }

  views(): readonly CampaignView[] {
    return [...this.#campaigns.entries()].map(([pid, { seed, items }]) => {
      const rows = this.#rows(pid)
      const points = rows.reduce((sum, { total }) => sum + total, 0)
      return { pid, name: seed.name ?? pid, items, users: rows.length, points }
    })
  }

  /** The users of a campaign that match the filter, by rank. */
  list(pid: string, find: string, limit: number): UserList {
    const wanted = find.trim().toLowerCase()
    const found = this.#rows(pid).filter(
      ({ account, platform, name, team }) =>
        wanted === '' || `${account} ${platform} ${name} ${team}`.toLowerCase().includes(wanted),
    )
    const users = found.slice(0, limit).map((row) => ({ ...row, name: shorten(row.name), team: shorten(row.team) }))
    return { users, found: found.length }
  }

  user(pid: string, platform: string, account: string): UserView | undefined {
    const entry = this.#entries.get(keyOf(pid, platform, account))
    const row = this.#rows(pid).find((each) => each.account === account && each.platform === platform)
    return entry && row && { ...entry, ...row }
  }

  /** Returns the entry of an account on any platform, in the given campaign or in any campaign. */
  entryOf(account: string, pid?: string): EntrySnapshot | undefined {
    for (const entry of this.#entries.values()) {
      if (pid !== undefined && entry.pid !== pid) continue
      if (entry.account === account || entry.profiles.some((profile) => profile.account === account)) return entry
    }
    return undefined
  }

  #rows(pid: string): readonly UserRow[] {
    this.#ranked ??= this.#rank()
    return this.#ranked.get(pid) ?? []
  }

  #rank(): ReadonlyMap<string, readonly UserRow[]> {
    const tasks = new Map([...this.#campaigns].map(([pid, { items }]) => [pid, taskIds(items)]))
    const byCampaign = new Map<string, (UserRow & { rank: number; isTied: boolean })[]>()
    for (const { pid, account, platform, name, team, total, completed } of this.#entries.values()) {
      const completedTasks = completed.filter((id) => tasks.get(pid)?.has(id)).length
      const row = { pid, account, platform, name, team, total, rank: 1, isTied: false, completedTasks }
      const rows = byCampaign.get(pid)
      if (rows) rows.push(row)
      else byCampaign.set(pid, [row])
    }
    for (const rows of byCampaign.values()) {
      rows.sort((one, other) => other.total - one.total)
      for (const [index, row] of rows.entries()) {
        const before = rows[index - 1]
        row.rank = index + 1
        if (before?.total !== row.total) continue
        row.rank = before.rank
        row.isTied = before.isTied = true
      }
    }
    return byCampaign
  }
}

const keyOf = (pid: string, platform: string, account: string): string => JSON.stringify([pid, platform, account])

const taskIds = (items: readonly ItemView[]): ReadonlySet<string> =>
  new Set(items.filter(({ kind }) => kind === 'task').map(({ id }) => id))

function itemsOf({ actions = [], quests = [], challenges = [] }: CampaignSeed): readonly ItemView[] {
  return [
    ...actions.map(
      ({ id, name = id, xp = 0, deps = [], recurrence = 'once', is_optional = false }): ItemView => ({
        ...{ id, name, kind: 'task', xp, deps },
        recurring: recurrence !== 'once',
        optional: is_optional,
      }),
    ),
    ...quests.map(
      ({ id, name = id, xp = 0, deps = [], actions }): ItemView => ({ id, name, kind: 'quest', xp, deps, actions }),
    ),
    ...challenges.map(({ id, name = id, xp = 0, deps = [] }): ItemView => ({ id, name, kind: 'challenge', xp, deps })),
  ]
}
