import { randomUUID } from 'node:crypto'
import { type PostgresStore, postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool, type PoolClient } from 'pg'
import connect, { type Sql, type TransactionSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../databases/database.ts'
import { pgbouncerMissing, startPgbouncer } from '../../databases/pgbouncer.ts'
import { postgres } from '../../databases/postgres.ts'
import { skipsWithout } from '../../machine/skips-without.ts'
import { observedReceiver } from '../receiver/observed-receiver.ts'
import { activity, deliveryOf } from '../signed-message.ts'
import { storeContract } from './contract.ts'
import { claimed, freshKey } from './store-clock.ts'

/** Fewer than the clients have, so that their statements change connections all the time. */
const CONNECTIONS = 3

describe.skipIf(skipsWithout(postgres.name, postgres.missing) || skipsWithout('pgbouncer', pgbouncerMissing))(
  'postgresStore behind pgbouncer, which lends a connection for one transaction',
  () => {
    const schema = `test_${randomUUID().replaceAll('-', '')}`
    const table = `${schema}.deliveries`
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
      await pool.query(`CREATE SCHEMA ${schema}`)
      await pool.query(postgresSchema(table))
      await pool.query(`CREATE TABLE ${schema}.applied (key text NOT NULL)`)
    })

    afterAll(async () => {
      await pool?.query(`DROP SCHEMA ${schema} CASCADE`)
      await sql?.end()
      await pool?.end()
      await bouncer?.stop()
      await server?.stop()
    })

    const insert = `INSERT INTO ${schema}.applied (key) VALUES ($1)`
    const timesApplied = async (keys: string[]): Promise<number> =>
      (await pool.query(`SELECT FROM ${schema}.applied WHERE key = ANY ($1)`, [keys])).rowCount ?? 0

    describe('with a pool of pg', () => {
      storeContract(() => postgresStore(pool, { table }))
      promises<PoolClient>(
        () => postgresStore(pool, { table }),
        (tx, key) => tx.query(insert, [key]),
      )
    })

    describe('with the sql of postgres', () => {
      // The statements are those of the other client: all of it once more is for the gate.
      if (process.env.CAMPAIGN_TEST_FULL_STORM === '1') storeContract(() => postgresStore(sql, { table }))
      promises<TransactionSql>(
        () => postgresStore(sql, { table }),
        (tx, key) => tx.unsafe(insert, [key]),
      )
    })

    test('a sql of postgres that prepares statements is refused', async () => {
      const preparing = connect(bouncer.url, { max: 10 })
      expect(() => postgresStore(preparing, { table })).toThrow(/with prepare: false/)
      await preparing.end()
    })

    function promises<Tx>(open: () => PostgresStore<Tx>, apply: (tx: Tx, key: string) => PromiseLike<unknown>): void {
      test('runOnce applies one of many concurrent calls per key, and nothing of failed ones', async () => {
        const store = open()
        const keys = Array.from({ length: 12 }, freshKey)
        const outcomes = await Promise.all(
          [...keys, ...keys, ...keys].map((key) => store.runOnce(key, (tx) => apply(tx, key))),
        )
        expect(outcomes.filter(({ ran }) => ran)).toHaveLength(keys.length)
        expect(await timesApplied(keys)).toBe(keys.length)
        const failed = freshKey()
        const failing = store.runOnce(failed, async (tx) => {
          await apply(tx, failed)
          throw new Error('no')
        })
        await expect(failing).rejects.toThrow('no')
        expect(await timesApplied([failed])).toBe(0)
        expect((await store.runOnce(failed, (tx) => apply(tx, failed))).ran).toBe(true)
      })

      test('a message in two copies is handled once, 60 of them at once', async () => {
        const store = open()
        const { receiver, handled, errors } = observedReceiver({
          store,
          handle: async (_event, { key }) => {
            await store.runOnce(key, (tx) => apply(tx, key))
          },
        })
        const messages = Array.from({ length: 60 }, () => activity())
        const deliver = () =>
          Promise.all([...messages, ...messages].map((message) => receiver.fetch(deliveryOf(message))))
        for (const { status } of await deliver()) expect([200, 503]).toContain(status)
        for (const { status } of await deliver()) expect(status).toBe(200)
        expect(handled).toHaveLength(messages.length)
        expect(errors).toEqual([])
        expect(await timesApplied(messages.map(({ id }) => JSON.stringify(['campaign', id])))).toBe(messages.length)
      })

      test('every message answered with 200 is applied, though the server forgets its prepared statements', async () => {
        const store = open()
        const { receiver, errors } = observedReceiver({
          store,
          handle: async (_event, { key }) => {
            await store.runOnce(key, (tx) => apply(tx, key))
          },
        })
        const messages = Array.from({ length: 50 }, () => activity())
        let isOver = false
        const forget = async () => {
          while (!isOver) await pool.query('DEALLOCATE ALL')
        }
        const forgetting = [forget(), forget(), forget()]
        const answers = await Promise.all(messages.map((message) => receiver.fetch(deliveryOf(message))))
        isOver = true
        await Promise.all(forgetting)
        expect(answers.map(({ status }) => status)).toEqual(messages.map(() => 200))
        expect(errors).toEqual([])
        expect(await timesApplied(messages.map(({ id }) => JSON.stringify(['campaign', id])))).toBe(messages.length)
      })

      test('prune deletes ended entries', async () => {
        const store = open()
        const key = freshKey()
        expect(await store.complete(key, await claimed(store, key, 1000), 1)).toBe(true)
        const rowsLeft = async () => {
          await store.prune(10_000)
          return (await pool.query(`SELECT FROM ${table} WHERE key = $1`, [key])).rowCount
        }
        await expect.poll(rowsLeft).toBe(0)
      })
    }
  },
)
