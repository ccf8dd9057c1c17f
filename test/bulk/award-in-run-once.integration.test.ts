import { randomUUID } from 'node:crypto'
import { awardOne, type FinalVerdict, type SharedLedger } from 'campaign-client/bulk'
import { postgresLedger, postgresLedgerSchema } from 'campaign-client/bulk/postgres'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool } from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../databases/database.ts'
import { postgres } from '../databases/postgres.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { award, setup } from './fixtures.ts'

const CONNECTIONS = 5
const MESSAGES = 3 * CONNECTIONS

describe.skipIf(skipsWithout('PostgreSQL', postgres.missing))('awardOne inside runOnce', () => {
  let server: Database
  beforeAll(async () => {
    server = await postgres.start()
  })
  afterAll(() => server?.stop())

  /** Makes the first awards of a run, each in the transaction of a message. */
  async function expectAwards(
    ledger: SharedLedger,
    runOnce: (key: string, apply: () => Promise<FinalVerdict>) => Promise<unknown>,
  ) {
    const { client, service } = setup()
    const awarded = Array.from({ length: MESSAGES }, (_, number) =>
      runOnce(randomUUID(), () => awardOne(client, award(number), { ledger })),
    )
    expect(await Promise.all(awarded)).toEqual(Array(MESSAGES).fill({ ran: true, result: 'awarded' }))
    expect(service.state.awards).toHaveLength(MESSAGES)
  }

  test('ends on one pool of five connections of pg', async () => {
    const pool = new Pool({ connectionString: server.url, max: CONNECTIONS })
    onTestFinished(() => pool.end())
    pool.on('error', () => undefined)
    await pool.query(postgresSchema())
    await pool.query(postgresLedgerSchema())
    await expectAwards(postgresLedger(pool, { run: randomUUID() }), postgresStore(pool).runOnce)
  })

  test('ends on one pool of five connections of postgres', async () => {
    const options = { max: CONNECTIONS, prepare: false, fetch_types: false, onnotice: () => undefined }
    const sql = postgresJs(server.url, options)
    onTestFinished(() => sql.end())
    await sql.unsafe(postgresSchema())
    await sql.unsafe(postgresLedgerSchema())
    await expectAwards(postgresLedger(sql, { run: randomUUID() }), postgresStore(sql).runOnce)
  })
})
