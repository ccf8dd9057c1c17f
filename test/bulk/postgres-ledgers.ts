import { randomUUID } from 'node:crypto'
import type { AwardLedger } from 'campaign-client/bulk'
import { type PostgresLedgerOptions, postgresLedger, postgresLedgerSchema } from 'campaign-client/bulk/postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import type { Database } from '../databases/database.ts'
import { postgres } from '../databases/postgres.ts'
import type { RunTask } from './run-program.ts'

/** An award in a ledger. */
export interface RecordedAward {
  readonly id: string
  readonly xp: number
  readonly verdict: string
}

/** A ledger in a shared database, with its own run name. */
export interface PostgresLedgerUnderTest {
  /** The ledger of a {@link RunTask}. */
  readonly task: RunTask['ledger']
  readonly open: (options?: Omit<PostgresLedgerOptions, 'run'>) => AwardLedger
  /** Reads the awards from the table, without the package. */
  readonly read: () => Promise<RecordedAward[]>
  readonly remove: () => Promise<unknown>
}

/** Opens a database with the tables of awards, for the tests of a `describe`. @returns its URL and a pool, in tests and hooks */
export function awardTables(): () => { readonly url: string; readonly pool: Pool } {
  let server: Database
  let pool: Pool
  beforeAll(async () => {
    server = await postgres.start()
    pool = new Pool({ connectionString: server.url, max: 8 })
    pool.on('error', () => undefined)
    await pool.query(postgresLedgerSchema())
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })
  return () => ({ url: server.url, pool })
}

/** Opens a database for the tests of a `describe`. @returns a function that creates a ledger */
export function postgresLedgers(): () => PostgresLedgerUnderTest {
  const tables = awardTables()
  return () => {
    const { url, pool } = tables()
    const run = randomUUID()
    const text = `SELECT id, xp, coalesce(verdict, 'indeterminate') AS verdict FROM campaign_awards WHERE run = $1`
    return {
      task: { database: url, run },
      open: (options) => postgresLedger(pool, { run, ...options }),
      read: async () => (await pool.query<RecordedAward>(text, [run])).rows,
      remove: () => pool.query('DELETE FROM campaign_awards WHERE run = $1', [run]),
    }
  }
}
