import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type PostgresStore, postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool, type PoolClient } from 'pg'
import connect, { type TransactionSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENT_CONNECTIONS, databaseBehindPgbouncer, pgbouncerMissing } from '../../databases/pgbouncer.ts'
import { FULL_SIZE } from '../../support/full-size.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { type ObservedReceiver, observedReceiver } from '../receiver/observed-receiver.ts'
import { activity, deliveryOf } from '../signed-message.ts'
import { durationContract, storeContract } from './contract.ts'
import { claimed, freshKey } from './store-clock.ts'

/** On a busy machine, PostgreSQL may respond later than the store waits. The next attempt then succeeds. */
const exceptTimeouts = (errors: ObservedReceiver['errors']) =>
  errors.filter(({ error }) => !String(error).includes('did not respond within'))

describe.skipIf(skipsWithout('pgbouncer', pgbouncerMissing))('postgresStore behind pgbouncer', () => {
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  const table = `${schema}.deliveries`
  const database = databaseBehindPgbouncer()

  beforeAll(async () => {
    await database.pool.query(`CREATE SCHEMA ${schema}`)
    await database.pool.query(postgresSchema(table))
    await database.pool.query(`CREATE TABLE ${schema}.applied (key text NOT NULL)`)
  })
  afterAll(() => database.pool.query(`DROP SCHEMA ${schema} CASCADE`))

  const insert = `INSERT INTO ${schema}.applied (key) VALUES ($1)`
  const timesApplied = async (keys: string[]): Promise<number> =>
    (await database.pool.query(`SELECT FROM ${schema}.applied WHERE key = ANY ($1)`, [keys])).rowCount ?? 0

  describe('with a pool of pg', () => {
    storeContract(() => postgresStore(database.pool, { table }))
    durationContract(() => postgresStore(database.pool, { table }))
    sharedTests<PoolClient>(
      () => postgresStore(database.pool, { table }),
      (tx, key) => tx.query(insert, [key]),
      () => database.pool.query('SELECT $1::text', ['alive']),
    )
  })

  describe('with the sql of postgres', () => {
    // Both clients send the same statements, so the contract runs again only in CI.
    if (FULL_SIZE) storeContract(() => postgresStore(database.sql, { table }))
    sharedTests<TransactionSql>(
      () => postgresStore(database.sql, { table }),
      (tx, key) => tx.unsafe(insert, [key]),
      () => database.sql.unsafe('SELECT $1::text', ['alive']),
    )
  })

  test.each(['docs/webhook-stores.md', 'docs/databases.md', 'examples/webhook-postgres.ts'])(
    'a pool with the options of %s connects',
    async (file) => {
      const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
      const options = [...text.matchAll(/new Pool\(\{(.+?)\n?\}\)/gs)].map(([, body = '']) => body)
      expect(options.length).toBeGreaterThan(0)
      for (const body of options) {
        const numbers = [...body.matchAll(/(\w+): ([\d_]+)/g)].map(([, name = '', value = '']) => [
          name,
          Number(value.replaceAll('_', '')),
        ])
        const pool = new Pool({ connectionString: database.url, ...Object.fromEntries(numbers) })
        await pool.query('SELECT 1')
        await pool.end()
      }
    },
  )

  test('a sql of postgres that prepares statements is refused', async () => {
    const preparing = connect(database.url, { max: 10 })
    expect(() => postgresStore(preparing, { table })).toThrow(/with prepare: false/)
    await preparing.end()
  })

  function sharedTests<Tx>(
    open: () => PostgresStore<Tx>,
    apply: (tx: Tx, key: string) => PromiseLike<unknown>,
    ping: () => PromiseLike<unknown>,
  ): void {
    test('runOnce runs one of many concurrent calls per key, and rolls back a failed call', async () => {
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

    test('20 concurrent messages that are sent twice are applied once each', async () => {
      await applyConcurrently(open())
    })

    test('every connection responds after the first statements of several stores', async () => {
      for (let stores = 0; stores < 20; stores++) await applyConcurrently(open())
      let responses = 0
      for (let connection = 0; connection < CLIENT_CONNECTIONS; connection++) void ping().then(() => responses++)
      await expect.poll(() => responses).toBe(CLIENT_CONNECTIONS)
    })

    async function applyConcurrently(store: PostgresStore<Tx>): Promise<void> {
      const { receiver, errors } = observedReceiver({
        store,
        handle: async (_event, { key }) => {
          await store.runOnce(key, (tx) => apply(tx, key))
        },
      })
      const messages = Array.from({ length: 20 }, () => activity())
      const deliver = () =>
        Promise.all([...messages, ...messages].map((message) => receiver.fetch(deliveryOf(message))))
      await expect.poll(async () => (await deliver()).every(({ status }) => status === 200)).toBe(true)
      expect(exceptTimeouts(errors)).toEqual([])
      expect(await timesApplied(messages.map(({ id }) => JSON.stringify(['campaign', id])))).toBe(messages.length)
    }

    test('every message with the response 200 is applied, even if prepared statements are lost', async () => {
      const store = open()
      const { receiver, errors } = observedReceiver({
        store,
        handle: async (_event, { key }) => {
          await store.runOnce(key, (tx) => apply(tx, key))
        },
      })
      const messages = Array.from({ length: 20 }, () => activity())
      let isOver = false
      const deallocate = async () => {
        while (!isOver) await database.pool.query('DEALLOCATE ALL')
      }
      const deallocating = [deallocate(), deallocate(), deallocate()]
      const deliver = () => Promise.all(messages.map((message) => receiver.fetch(deliveryOf(message))))
      await expect.poll(async () => (await deliver()).every(({ status }) => status === 200)).toBe(true)
      isOver = true
      await Promise.all(deallocating)
      expect(exceptTimeouts(errors)).toEqual([])
      expect(await timesApplied(messages.map(({ id }) => JSON.stringify(['campaign', id])))).toBe(messages.length)
    })

    test('prune deletes expired records', async () => {
      const store = open()
      const key = freshKey()
      expect(await store.complete(key, await claimed(store, key, 1000), 1)).toBe(true)
      const rowsLeft = async () => {
        await store.prune(10_000)
        return (await database.pool.query(`SELECT FROM ${table} WHERE key = $1`, [key])).rowCount
      }
      await expect.poll(rowsLeft).toBe(0)
    })
  }
})
