import { postgresLedgerSchema } from 'campaign-client/bulk/postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import type { Database } from '../databases/database.ts'
import { postgres } from '../databases/postgres.ts'

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
