import { randomUUID } from 'node:crypto'
import { type PostgresStore, postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool } from 'pg'
import connect, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../databases/database.ts'
import { postgres } from '../../databases/postgres.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { crashContract } from './crash.ts'
import {
  expectHandledOnce,
  SimulatedCrash,
  type SimulationReport,
  simulateCrashes,
  sizeOf,
} from './crash-simulation.ts'

describe.skipIf(skipsWithout(postgres.name, postgres.missing))('postgresStore when processes die', () => {
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  const table = `${schema}.deliveries`
  const applied = `${schema}.applied`
  let service: Database
  let pool: Pool
  let sql: Sql

  beforeAll(async () => {
    service = await postgres.start()
    pool = new Pool({ connectionString: service.url, max: 10 })
    pool.on('error', () => undefined)
    sql = connect(service.url, { max: 10, prepare: false })
    await pool.query(`CREATE SCHEMA ${schema}`)
    await pool.query(postgresSchema(table))
    await pool.query(`CREATE TABLE ${applied} (key text NOT NULL)`)
  })

  afterAll(async () => {
    await pool?.query(`DROP SCHEMA ${schema} CASCADE`)
    await sql?.end()
    await pool?.end()
    await service?.stop()
  })

  describe.concurrent.each(['pg', 'postgres'] as const)('with %s,', (client) => {
    crashContract(client, () => ({ url: service.url, namespace: schema }), { exactlyOnce: true })
  })

  describe('many deliveries, each in two copies, to processes that crash at random points', () => {
    const insert = `INSERT INTO ${applied} (key) VALUES ($1)`

    const expectEachAppliedOnce = async (report: SimulationReport) => {
      const counts = [...report.applied.values()]
      expect(counts.filter((count) => count !== 1)).toEqual([])
      const keys = [...report.applied.keys()]
      const rows = await pool.query(
        `SELECT count(*)::int AS rows, count(DISTINCT key)::int AS keys FROM ${applied} WHERE key = ANY ($1)`,
        [keys],
      )
      expect(rows.rows).toEqual([{ rows: keys.length, keys: keys.length }])
    }

    /** Simulates crashes while `runOnce` inserts each key. */
    async function expectExactlyOnce<Tx>(
      store: PostgresStore<Tx>,
      { count, seed }: { count: number; seed: number },
      insertKey: (tx: Tx, key: string) => Promise<unknown>,
    ) {
      const report = await simulateCrashes(
        store,
        { count, concurrency: 40, leaseMs: 1000, seed },
        async (key, crashes) => {
          const { ran } = await store.runOnce(key, async (tx) => {
            await insertKey(tx, key)
            if (crashes) throw new SimulatedCrash()
          })
          return ran
        },
      )
      await expectHandledOnce(store, report, count)
      await expectEachAppliedOnce(report)
    }

    test('with pg, none is lost, none is handled twice at once, and runOnce applies none twice', async () => {
      const store = postgresStore(pool, { table })
      await expectExactlyOnce(store, { count: sizeOf(10_000), seed: 1 }, (tx, key) => tx.query(insert, [key]))
    })

    test('with postgres, none is lost, none is handled twice at once, and runOnce applies none twice', async () => {
      const store = postgresStore(sql, { table })
      await expectExactlyOnce(store, { count: sizeOf(6_000), seed: 2 }, (tx, key) => tx.unsafe(insert, [key]))
    })
  })
})
