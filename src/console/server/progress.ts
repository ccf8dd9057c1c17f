import type { CampaignService, EntrySnapshot } from 'campaign-client/testing'
import type { ProgressView } from '../protocol.ts'
import { RecentRows } from './recent-rows.ts'

/** The approximate size of a change in memory, in bytes. */
const CHANGE_SIZE = 200

interface Change extends ProgressView {
  /** ID of the user's entry. */
  readonly entry: string
}

/** The changes of each user's XP and completed items, which it finds by comparing entries. */
export class Progress {
  readonly #service: CampaignService
  readonly #changes = new RecentRows<Change>(() => CHANGE_SIZE)
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
      // The page does not poll for these rows: they need no revision.
      this.#changes.set({ key: `progress-${++this.#count}`, entry: entry.id, at, xp, completed }, 0)
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
