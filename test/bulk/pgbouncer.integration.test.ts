import { randomUUID } from 'node:crypto'
import { awardOne, rewardWallets } from 'campaign-client/bulk'
import { postgresLedger, postgresLedgerSchema } from 'campaign-client/bulk/postgres'
import connect from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseBehindPgbouncer, pgbouncerMissing } from '../databases/pgbouncer.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { award, awards, counts, setup } from './fixtures.ts'

describe.skipIf(skipsWithout('pgbouncer', pgbouncerMissing))('postgresLedger behind pgbouncer', () => {
  const table = `awards_${randomUUID().replaceAll('-', '')}`
  const database = databaseBehindPgbouncer()

  beforeAll(() => database.pool.query(postgresLedgerSchema(table)))
  afterAll(() => database.pool.query(`DROP TABLE IF EXISTS ${table}, ${table}_runs`))

  test.each(['pg', 'postgres'])('with %s, records every award while prepared statements are lost', async (kind) => {
    const { pool, sql } = database
    const { client, service } = setup()
    const run = randomUUID()
    const ledger = postgresLedger(kind === 'pg' ? pool : sql, { run, table })
    let calls = 0
    const losing = {
      async rewardWallet(row: Parameters<typeof client.rewardWallet>[0]) {
        if (++calls % 10 === 0) await pool.query('DEALLOCATE ALL')
        await client.rewardWallet(row)
      },
    }
    const report = await rewardWallets(losing, awards(200), { ledger, concurrency: 16 })
    expect(report).toMatchObject({ counts: counts({ awarded: 200 }), complete: true })
    expect(service.state.awards).toHaveLength(200)
    const countAwarded = `SELECT count(*)::int AS count FROM ${table} WHERE run = $1 AND verdict = 'awarded'`
    expect((await pool.query(countAwarded, [run])).rows).toEqual([{ count: 200 }])
    expect(await awardOne(client, award(0), { ledger })).toBe('awarded')
  })

  test('refuses a client of the postgres package that prepares statements', async () => {
    const preparing = connect(database.url)
    expect(() => postgresLedger(preparing, { run: 'x', table })).toThrow(/prepare: false/)
    await preparing.end()
  })
})
