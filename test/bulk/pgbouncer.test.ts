import { randomUUID } from 'node:crypto'
import { awardOne, rewardWallets } from 'campaign-client/bulk'
import { postgresLedger, postgresLedgerSchema } from 'campaign-client/bulk/postgres'
import { Pool } from 'pg'
import connect, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../databases/database.ts'
import { pgbouncerMissing, startPgbouncer } from '../databases/pgbouncer.ts'
import { postgres } from '../databases/postgres.ts'
import { skipsWithout } from '../machine/skips-without.ts'
import { award, awards, counts, scene } from './setting.ts'

/** Fewer than the clients have, so that their statements change connections all the time. */
const CONNECTIONS = 3

describe.skipIf(skipsWithout(postgres.name, postgres.missing) || skipsWithout('pgbouncer', pgbouncerMissing))(
  'postgresLedger behind pgbouncer, which lends a connection for one transaction',
  () => {
    const table = `awards_${randomUUID().replaceAll('-', '')}`
    let server: Database
    let bouncer: Database
    let pool: Pool
    let sql: Sql

    beforeAll(async () => {
      server = await postgres.start()
      bouncer = await startPgbouncer(server, CONNECTIONS)
      pool = new Pool({ connectionString: bouncer.url, max: 10 })
      pool.on('error', () => undefined)
      sql = connect(bouncer.url, { max: 10, prepare: false, fetch_types: false })
      await pool.query(postgresLedgerSchema(table))
    })
    afterAll(async () => {
      await pool?.query(`DROP TABLE IF EXISTS ${table}, ${table}_runs`)
      await sql?.end()
      await pool?.end()
      await bouncer?.stop()
      await server?.stop()
    })

    test.each(['pg', 'postgres'])(
      'every award is kept, with %s, also while prepared statements get lost',
      async (kind) => {
        const { client, service } = scene()
        const run = randomUUID()
        const ledger = postgresLedger(kind === 'pg' ? pool : sql, { run, table })
        let rewarded = 0
        const losing = {
          async rewardWallet(row: Parameters<typeof client.rewardWallet>[0]) {
            if (++rewarded % 10 === 0) await pool.query('DEALLOCATE ALL')
            await client.rewardWallet(row)
          },
        }
        const report = await rewardWallets(losing, awards(200), { ledger, concurrency: 16 })
        expect(report).toMatchObject({ counts: counts({ awarded: 200 }), complete: true })
        expect(service.state.awards).toHaveLength(200)
        const kept = `SELECT count(*)::int AS count FROM ${table} WHERE run = $1 AND verdict = 'awarded'`
        expect((await pool.query(kept, [run])).rows).toEqual([{ count: 200 }])
        expect(await awardOne(client, award(0), { ledger })).toBe('awarded')
      },
    )

    test('a sql that prepares statements is refused', async () => {
      const preparing = connect(bouncer.url)
      expect(() => postgresLedger(preparing, { run: 'x', table })).toThrow(/prepare: false/)
      await preparing.end()
    })
  },
)
