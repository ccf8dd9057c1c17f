import { randomUUID } from 'node:crypto'
import type { AwardLedger } from 'campaign-client/bulk'
import { type PostgresLedgerOptions, postgresLedger, postgresLedgerSchema } from 'campaign-client/bulk/postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import type { Database } from '../databases/database.ts'
import { postgres } from '../databases/postgres.ts'
import type { Told } from './expect-agreement.ts'
import type { ChildTask } from './run-program.ts'

/** A ledger of its own in a database that others use as well. */
export interface PostgresLedgerUnderTest {
  /** For a process that opens it itself. */
  readonly task: ChildTask['ledger']
  readonly open: (options?: Omit<PostgresLedgerOptions, 'run'>) => AwardLedger
  /** What it says, past the package. */
  readonly read: () => Promise<Told[]>
  readonly remove: () => Promise<unknown>
}

/** Opens a server with the tests of a `describe`, and gives what makes a ledger in it. */
export function postgresLedgers(): () => PostgresLedgerUnderTest {
  let server: Database
  let pool: Pool
  beforeAll(async () => {
    server = await postgres.start()
    pool = new Pool({ connectionString: server.url, max: 4 })
    await pool.query(postgresLedgerSchema())
  }, 60_000)
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  return () => {
    const run = randomUUID()
    const text = `SELECT id, xp, coalesce(verdict, 'indeterminate') AS verdict FROM campaign_awards WHERE run = $1`
    return {
      task: { database: server.url, run },
      open: (options) => postgresLedger(pool, { run, ...options }),
      read: async () => (await pool.query<Told>(text, [run])).rows,
      remove: () => pool.query('DELETE FROM campaign_awards WHERE run = $1', [run]),
    }
  }
}
