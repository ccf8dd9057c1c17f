import { Batches } from '../../shared/batches.ts'
import { isRecord } from '../../shared/types.ts'
import type { AwardRow } from '../award/row.ts'
import type { FinalVerdict, Verdict } from '../award/verdict.ts'
import type { Reopening, Standing } from '../ledger/ledger.ts'
import type { Query } from './database.ts'
import { type Held, Leases } from './leases.ts'
import { statements } from './statements.ts'

/** An award as the table has it. */
export interface StoredAward extends AwardRow {
  readonly verdict: FinalVerdict | null
  /** Whether there was an attempt whose end nobody knows. */
  readonly doubtful: boolean
  /** Whether an attempt holds it. */
  readonly open: boolean
  /** Whether it is the award that was asked about; null where that was an id alone. */
  readonly same: boolean | null
  /** How long its lease lasts, in milliseconds. */
  readonly remaining: number | null
}

/** An attempt that was begun. */
export interface Begun {
  readonly doubtful: boolean
  readonly verdict: FinalVerdict | null
}

/** An attempt's end. */
export interface Ending extends Held {
  readonly verdict: Verdict
  /** As JSON. */
  readonly error: string | null
}

type Intent = AwardRow & Held

type Sought = Pick<AwardRow, 'id'> & Partial<AwardRow>

/** The awards of one run in the database: each change is part of one statement of its own. */
export class AwardTable {
  readonly #query: Query
  readonly #run: string
  readonly #leaseMs: number
  readonly #sql: ReturnType<typeof statements>
  readonly #leases: Leases
  /** One for each way to reopen. */
  readonly #begins = new Map<string, Batches<Intent, Begun | undefined>>()
  readonly #settles: Batches<Ending, Standing>
  readonly #releases: Batches<Held, undefined>
  readonly #states: Batches<Sought, StoredAward | undefined>

  constructor(query: Query, run: string, table: string, leaseMs: number) {
    this.#query = query
    this.#run = run
    this.#leaseMs = leaseMs
    this.#sql = statements(table)
    this.#leases = new Leases(leaseMs, (held) => query(this.#sql.extend, run, JSON.stringify(held), leaseMs))
    this.#settles = new Batches((endings) => this.#settleAll(endings))
    this.#releases = new Batches((held) => this.#releaseAll(held))
    this.#states = new Batches((sought) => this.#readAll(sought))
  }

  /** Begins an attempt where the award is free for it. */
  async begin(intent: Intent, { rejected, unconfirmed }: Reopening): Promise<Begun | undefined> {
    const kind = `${rejected} ${unconfirmed}`
    let begins = this.#begins.get(kind)
    if (begins === undefined) {
      begins = new Batches((intents) => this.#beginAll(intents, { rejected, unconfirmed }))
      this.#begins.set(kind, begins)
    }
    const begun = await begins.ask(intent)
    if (begun !== undefined) this.#leases.hold(intent)
    return begun
  }

  /** Ends an attempt. What stands then may be another one's verdict. */
  async settle(ending: Ending): Promise<Standing> {
    try {
      return await this.#settles.ask(ending)
    } finally {
      this.#leases.letGo(ending)
    }
  }

  async release(held: Held): Promise<void> {
    this.#leases.letGo(held)
    await this.#releases.ask(held)
  }

  read(sought: Sought): Promise<StoredAward | undefined> {
    return this.#states.ask(sought)
  }

  async #beginAll(intents: readonly Intent[], { rejected, unconfirmed }: Reopening) {
    const { begin } = this.#sql
    const given = JSON.stringify(intents)
    const rows = await this.#query(begin, this.#run, given, this.#leaseMs, rejected, unconfirmed)
    const begun = new Map(rows.map((row) => [row.token, row as unknown as Begun]))
    return intents.map(({ token }) => begun.get(token))
  }

  async #settleAll(endings: readonly Ending[]): Promise<readonly Standing[]> {
    const rows = await this.#query(this.#sql.settle, this.#run, JSON.stringify(endings))
    const written = new Set(rows.map(({ token }) => token))
    const others = await Promise.all(
      endings.map(async ({ id, token, verdict }): Promise<Standing> => {
        if (written.has(token)) return verdict
        const stored = await this.read({ id })
        return stored === undefined || stored.open ? 'superseded' : (stored.verdict ?? 'indeterminate')
      }),
    )
    return others
  }

  async #releaseAll(held: readonly Held[]): Promise<readonly undefined[]> {
    await this.#query(this.#sql.release, this.#run, JSON.stringify(held))
    return held.map(() => undefined)
  }

  async #readAll(sought: readonly Sought[]): Promise<readonly (StoredAward | undefined)[]> {
    const rows = await this.#query(this.#sql.state, this.#run, JSON.stringify(sought))
    const stored = new Map(rows.filter(isRecord).map((row) => [row.id, row as unknown as StoredAward]))
    return sought.map(({ id }) => stored.get(id))
  }
}
