import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { ConfigurationError } from 'campaign-client'
import {
  type PgClient,
  type PgPool,
  type PostgresStore,
  postgresSchema,
  postgresStore,
} from 'campaign-client/webhook/postgres'
import fc from 'fast-check'
import { Client, Pool, type PoolClient, type PoolConfig } from 'pg'
import connect, { type Options, type Sql, type TransactionSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../databases/database.ts'
import { fakePool } from '../../databases/fake-pool.ts'
import { postgres } from '../../databases/postgres.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { failedMessages, observedReceiver } from '../receiver/observed-receiver.ts'
import { activity, deliveryOf } from '../signed-message.ts'
import { durationContract, failedClockContract, failedContract, pruneContract, storeContract } from './contract.ts'
import { expectOutageHandled } from './outage.ts'
import { runOnceContract } from './run-once.ts'
import { claimed, freshKey, waitOnStoreClock } from './store-clock.ts'

describe.skipIf(skipsWithout(postgres.name, postgres.missing))('postgresStore over a real PostgreSQL', () => {
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

  /** Opens a pool of pg for one test. */
  function ownPool(options: PoolConfig): Pool {
    const own = new Pool({ connectionString: service.url, ...options })
    own.on('error', () => undefined)
    onTestFinished(() => own.end())
    return own
  }

  /** Opens a sql of postgres for one test. */
  function ownSql(options: Options<Record<string, never>>): Sql {
    const own = connect(service.url, { prepare: false, ...options })
    onTestFinished(() => own.end({ timeout: 0 }))
    return own
  }

  const observe = async (text: string, ...values: string[]) => (await pool.query(text, values)).rows

  describe('with a pool of pg', () => {
    storeContract(() => postgresStore(pool, { table }))
    failedContract(() => postgresStore(pool, { table }))
    durationContract(() => postgresStore(pool, { table }))

    describe('runOnce', () => {
      runOnceContract<PoolClient>(() => ({
        open: (options) => postgresStore(pool, { table, ...options }),
        openSeparate: (max = 2) => postgresStore(ownPool({ max }), { table }),
        query: async (tx, text, ...values) => (await tx.query(text, values)).rows,
        observe,
        applied,
      }))

      test('after a COMMIT whose reply was lost, the next call resolves to ran: false', async () => {
        const key = freshKey()
        const lossy: PgPool = {
          query: (text, values) => pool.query(text, values),
          connect(callback) {
            pool.connect((error, client, release) => {
              const query = async (text: string, values?: unknown[]) => {
                const result = await (client as PoolClient).query(text, values)
                if (text !== 'COMMIT') return result
                throw new Error('Connection terminated unexpectedly')
              }
              callback(error, { query }, release)
            })
          },
        }
        const apply = (tx: PgClient) => tx.query(`INSERT INTO ${applied} (key) VALUES ($1)`, [key])
        await expect(postgresStore(lossy, { table }).runOnce(key, apply)).rejects.toThrow('Connection terminated')
        expect(await postgresStore(pool, { table }).runOnce(key, () => expect.unreachable())).toEqual({ ran: false })
        expect(await observe(`SELECT FROM ${applied} WHERE key = $1`, key)).toHaveLength(1)
      })

      test('the process survives when the server ends sessions repeatedly', async () => {
        const store = postgresStore(ownPool({ max: 4, application_name: schema }), { table })
        const uncaught: unknown[] = []
        const listener = (error: unknown) => uncaught.push(error)
        process.on('uncaughtException', listener)
        onTestFinished(() => void process.off('uncaughtException', listener))
        for (let round = 0; round < 40; round++) {
          const runs = Array.from({ length: 8 }, () => store.runOnce(freshKey(), (tx) => tx.query('SELECT 1')))
          const settled = Promise.allSettled(runs)
          for (let i = 0; i < 3; i++) {
            await observe('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', schema)
          }
          await settled
        }
        expect(uncaught).toEqual([])
      })

      test('tx cannot be released to the pool inside the transaction', async () => {
        const key = freshKey()
        const store = postgresStore(pool, { table })
        await expect(store.runOnce(key, (tx) => tx.release())).rejects.toThrow(/do not release tx/)
        expect((await store.runOnce(key, (tx) => tx.query('SELECT 1').then(({ rows }) => rows.length))).ran).toBe(true)
      })

      test('tx supports callbacks, settings and query objects', async () => {
        const rows = await postgresStore(pool, { table }).runOnce(freshKey(), async (tx) => {
          expect(tx).toBeInstanceOf(Client)
          const called = await new Promise((resolve, reject) => {
            tx.query('SELECT 1 AS n', (error, result) => (error ? reject(error) : resolve(result.rows)))
          })
          const typed = await tx.query({ text: 'SELECT $1::int AS n', values: [2], rowMode: 'array' })
          return [called, typed.rows]
        })
        expect(rows).toEqual({ ran: true, result: [[{ n: 1 }], [[2]]] })
      })

      test('every connection returns to the pool, except a broken one', async () => {
        const small = ownPool({ max: 1 })
        const store = postgresStore(small, { table })
        for (let i = 0; i < 3; i++) {
          await store.runOnce(freshKey(), () => 1)
          await store.runOnce(freshKey(), () => Promise.reject(new Error('no'))).catch(() => undefined)
        }
        expect([small.totalCount, small.idleCount]).toEqual([1, 1])
        await store
          .runOnce(freshKey(), async (tx) => {
            const [backend] = (await tx.query('SELECT pg_backend_pid() AS pid')).rows
            await observe('SELECT pg_terminate_backend($1::int)', backend.pid)
          })
          .catch(() => undefined)
        expect([small.totalCount, small.idleCount]).toEqual([0, 0])
        expect((await store.runOnce(freshKey(), (tx) => tx.listenerCount('error'))).ran).toBe(true)
      })

      test('listeners do not accumulate on the connections', async () => {
        const store = postgresStore(ownPool({ max: 1 }), { table })
        const count = () => store.runOnce(freshKey(), (tx) => tx.listenerCount('error'))
        const first = await count()
        for (let i = 0; i < 5; i++) await count()
        expect(await count()).toEqual(first)
      })
    })
  })

  describe('with the sql of postgres', () => {
    storeContract(() => postgresStore(sql, { table }))
    failedContract(() => postgresStore(sql, { table }))
    durationContract(() => postgresStore(sql, { table }))

    describe('runOnce', () => {
      runOnceContract<TransactionSql>(() => ({
        open: (options) => postgresStore(sql, { table, ...options }),
        openSeparate: (max = 2) =>
          postgresStore(ownSql({ max, backoff: () => 0, onnotice: () => undefined }), { table }),
        query: async (tx, text, ...values) => tx.unsafe(text, values),
        observe,
        applied,
      }))
    })

    test('tx is not a thenable: an asynchronous function can return it', async () => {
      const store = postgresStore(sql, { table })
      const identity = async (tx: TransactionSql) => tx
      const outcome = await store.runOnce(freshKey(), async (tx) => (await identity(tx)) === tx)
      expect(outcome).toEqual({ ran: true, result: true })
    })

    test('savepoints work', async () => {
      const key = freshKey()
      const store = postgresStore(sql, { table })
      const insert = (tx: TransactionSql, text: string) => tx`INSERT INTO ${tx(applied)} (key) VALUES (${text})`
      const outcome = await store.runOnce(key, async (tx) => {
        await insert(tx, `${key}-outer`)
        await tx.savepoint('named', (inner) => insert(inner, `${key}-named`))
        await tx
          .savepoint(async (inner) => {
            await insert(inner, `${key}-undone`)
            await inner`SELECT 1 / 0`
          })
          .catch(() => undefined)
        return tx.savepoint(async () => 'inner')
      })
      expect(outcome).toEqual({ ran: true, result: 'inner' })
      const rows = await observe(`SELECT key FROM ${applied} WHERE starts_with(key, $1) ORDER BY key`, key)
      expect(rows.map((row) => row.key)).toEqual([`${key}-named`, `${key}-outer`])
    })

    test.each(['tagged', 'unsafe', 'savepoint', 'within a savepoint'])(
      'a statement after a lost connection (%s) does not run in the new session',
      async (way) => {
        const single = ownSql({ max: 1, backoff: () => 0 })
        const key = freshKey()
        const insert = `INSERT INTO ${applied} (key) VALUES ('${key}')`
        const loseConnection = async (tx: TransactionSql) => {
          const [backend] = await tx`SELECT pg_backend_pid() AS pid`
          await observe('SELECT pg_terminate_backend($1::int)', backend?.pid)
          // Wait until the client has replaced its only connection.
          await expect.poll(() => single`SELECT 1 AS n`.catch(() => [])).toEqual([{ n: 1 }])
        }
        const run = postgresStore(single, { table }).runOnce(key, async (tx) => {
          if (way === 'within a savepoint') {
            await tx.savepoint(async (inner) => {
              await loseConnection(tx)
              await inner.unsafe(insert)
            })
            return
          }
          await loseConnection(tx)
          if (way === 'tagged') await tx`INSERT INTO ${tx(applied)} (key) VALUES (${key})`
          if (way === 'unsafe') await tx.unsafe(insert)
          if (way === 'savepoint') await tx.savepoint((inner) => inner.unsafe(insert))
        })
        await expect(run).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
        expect(await single.unsafe(`SELECT key FROM ${applied} WHERE key = '${key}'`)).toHaveLength(0)
        expect((await postgresStore(single, { table }).runOnce(key, (tx) => tx.unsafe(insert))).ran).toBe(true)
      },
    )

    test('runOnce waits for its function after a lost connection', async () => {
      const steps: string[] = []
      const run = postgresStore(ownSql({ max: 1 }), { table }).runOnce(freshKey(), async (tx) => {
        const [backend] = await tx`SELECT pg_backend_pid() AS pid`
        await observe('SELECT pg_terminate_backend($1::int)', backend?.pid)
        const alive = async () => (await tx`SELECT 1`) && 'alive'
        const LOST = 'the connection of the transaction was lost'
        await expect.poll(() => alive().catch((error: Error) => error.message)).toBe(LOST)
        await observe('SELECT 1 AS n')
        steps.push('function ended')
      })
      await expect(run.finally(() => steps.push('runOnce ended'))).rejects.toThrow()
      expect(steps).toEqual(['function ended', 'runOnce ended'])
    })
  })

  describe('a client that changes names or values', () => {
    const upperCase = (value: unknown) => (typeof value === 'string' ? value.toUpperCase() : value)
    const openSql = (options: Options<Record<string, never>>): PostgresStore<unknown> =>
      postgresStore(ownSql({ max: 3, fetch_types: false, ...options }), { table })
    const openPool = (getTypeParser: () => (value: string) => unknown): PostgresStore<unknown> =>
      postgresStore(ownPool({ max: 3, types: { getTypeParser } }), { table })

    test.each([
      ['postgres with column names in Pascal case', () => openSql({ transform: connect.pascal })],
      ['postgres with column names in camel case', () => openSql({ transform: connect.camel })],
      [
        'postgres with upper-case column names',
        () => openSql({ transform: { column: { from: (name) => `_${name}` } } }),
      ],
      ['pg with all values as text', () => openPool(() => String)],
    ])('%s works', async (_, open) => {
      const store = open()
      const key = freshKey()
      const token = await claimed(store, key, 60_000)
      const busy = await store.claim(key, 60_000)
      if (busy.state !== 'busy') expect.unreachable(busy.state)
      expect(busy.retryMs).toBeGreaterThan(50_000)
      expect(await store.complete(key, token, 60_000)).toBe(true)
      expect(await store.claim(key, 60_000)).toEqual({ state: 'done' })
      expect((await store.runOnce(key, () => 1)).ran).toBe(true)
      expect((await store.runOnce(key, () => 1)).ran).toBe(false)
    })

    test.each([
      ['postgres with a transform of values', () => openSql({ transform: { value: { from: upperCase } } })],
      ['pg with a type parser for text', () => openPool(() => upperCase)],
    ])('%s is refused before a message is handled', async (_, open) => {
      const { receiver, handled, errors, rejections } = observedReceiver({ store: open() })
      expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(503)
      expect(rejections).toMatchObject([{ reason: 'store_unavailable' }])
      expect(errors).toMatchObject([{ context: { stage: 'claim' } }])
      expect(String(errors[0]?.error)).toMatch(/can't read rows: .*type parser \(pg\)/)
      expect(handled).toHaveLength(0)
    })
  })

  test('a trigger that drops inserts makes claim and runOnce reject', async () => {
    const own = `${schema}.dropping`
    await pool.query(postgresSchema(own))
    await pool.query(
      `CREATE FUNCTION ${schema}.drop_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
    )
    await pool.query(
      `CREATE TRIGGER dropping BEFORE INSERT ON ${own} FOR EACH ROW EXECUTE FUNCTION ${schema}.drop_row()`,
    )
    const words = /^postgresStore: the database did not store the record, .* drops inserts: remove it$/
    for (const store of [postgresStore(pool, { table: own }), postgresStore(sql, { table: own })]) {
      await expect(store.claim(freshKey(), 1000)).rejects.toThrow(words)
      await expect(store.runOnce(freshKey(), () => expect.unreachable())).rejects.toThrow(words)
    }
  })

  test('a trigger that writes the row to a child table, as old partitioning does, loses no work', async () => {
    const own = `${schema}.partitioned`
    await pool.query(postgresSchema(own))
    await pool.query(`CREATE TABLE ${schema}.child () INHERITS (${own})`)
    await pool.query(
      `CREATE FUNCTION ${schema}.to_child() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO ${schema}.child VALUES (NEW.*); RETURN NULL; END'`,
    )
    await pool.query(
      `CREATE TRIGGER to_child BEFORE INSERT ON ${own} FOR EACH ROW EXECUTE FUNCTION ${schema}.to_child()`,
    )
    const insert = `INSERT INTO ${applied} (key) VALUES ($1::text)`
    const viaPg = postgresStore(pool, { table: own })
    const viaPostgres = postgresStore(sql, { table: own })
    const key = freshKey()
    expect(await viaPg.runOnce(key, (tx) => tx.query(insert, [key]).then(() => 1))).toEqual({ ran: true, result: 1 })
    const other = freshKey()
    const run = viaPostgres.runOnce(other, (tx) => tx.unsafe(insert, [other]).then(() => 2))
    expect(await run).toEqual({ ran: true, result: 2 })
    for (const store of [viaPg, viaPostgres]) {
      for (const done of [key, other]) {
        expect(await store.runOnce(done, () => expect.unreachable())).toEqual({ ran: false })
        expect(await observe(`SELECT key FROM ${applied} WHERE key = $1`, done)).toHaveLength(1)
      }
      const delivery = freshKey()
      const token = await claimed(store, delivery, 60_000)
      expect((await store.claim(delivery, 60_000)).state).toBe('busy')
      expect(await store.extend(delivery, token, 60_000)).toBe(true)
      expect(await store.complete(delivery, token, 60_000)).toBe(true)
      expect(await store.claim(delivery, 60_000)).toEqual({ state: 'done' })
    }
  })

  test('a table with row level security and no policy works for its owner, and shows no row to other roles', async () => {
    const suffix = randomUUID().replaceAll('-', '')
    const [owner, anon] = [`owner_${suffix}`, `anon_${suffix}`]
    const own = `${schema}.secured`
    await pool.query(`CREATE ROLE ${owner} LOGIN PASSWORD '${suffix}'; CREATE ROLE ${anon}`)
    await pool.query(`GRANT ALL ON SCHEMA ${schema} TO ${owner}, ${anon}`)
    const url = new URL(service.url)
    Object.assign(url, { username: owner, password: suffix })
    const ownPool = new Pool({ connectionString: url.href, max: 3 })
    ownPool.on('error', () => undefined)
    try {
      await ownPool.query(postgresSchema(own))
      await ownPool.query(`GRANT ALL ON ${own} TO ${anon}; ALTER TABLE ${own} ENABLE ROW LEVEL SECURITY`)
      const store = postgresStore(ownPool, { table: own })
      const key = freshKey()
      const token = await claimed(store, key, 60_000)
      expect(await pool.query(`BEGIN; SET LOCAL ROLE ${anon}; DELETE FROM ${own}; COMMIT`)).toMatchObject([
        {},
        {},
        { command: 'DELETE', rowCount: 0 },
        {},
      ])
      expect(await store.complete(key, token, 60_000)).toBe(true)
      expect((await store.runOnce(key, () => 1)).ran).toBe(true)
      expect((await store.runOnce(key, () => 1)).ran).toBe(false)
    } finally {
      await ownPool.end()
      await pool.query(`DROP OWNED BY ${owner}, ${anon}; DROP ROLE ${owner}, ${anon}`)
    }
  })

  failedClockContract(
    () => postgresStore(pool, { table }),
    (keys, ms) =>
      pool.query(`UPDATE ${table} SET expires_at = expires_at + $1::int * interval '1 ms' WHERE key = ANY ($2)`, [
        ms,
        keys,
      ]),
  )

  test.for([
    ['pg', () => postgresStore(pool, { table: `${schema}.locked` })],
    ['postgres', () => postgresStore(sql, { table: `${schema}.locked` })],
  ] as const)('%s: a claim that waits for a lock for more than 3 s is released', async ([, open]) => {
    await pool.query(postgresSchema(`${schema}.locked`))
    const store = open()
    const key = freshKey()
    const locker = await pool.connect()
    await locker.query(`BEGIN; LOCK TABLE ${schema}.locked IN ACCESS EXCLUSIVE MODE`)
    await expect(store.claim(key, 290_000)).rejects.toThrow(/did not respond within 3000 ms/)
    await locker.query('COMMIT')
    locker.release()
    await expect.poll(async () => (await store.claim(key, 290_000)).state).toBe('claimed')
  })

  test('a database in LATIN1 or SQL_ASCII stores keys and failed messages with any characters', async () => {
    for (const encoding of ['LATIN1', 'SQL_ASCII']) {
      const name = `encoding_${randomUUID().replaceAll('-', '')}`
      await pool.query(`CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`)
      const url = new URL(service.url)
      url.pathname = `/${name}`
      const own = new Pool({ connectionString: url.href, max: 4 })
      own.on('error', () => undefined)
      try {
        await own.query(postgresSchema())
        const store = postgresStore(own)
        const keys = ['заказ ✓ 🦊', 'ä', '\\u00e4', '\\\\u00e4', 'a\tb'].map((text) => freshKey() + text)
        for (const key of keys) {
          const token = await claimed(store, key, 60_000)
          expect((await store.runOnce(key, () => 1)).ran).toBe(true)
          expect(await store.complete(key, token, 60_000)).toBe(true)
        }
        for (const key of keys) expect((await store.runOnce(key, () => 1)).ran).toBe(false)
        const { receiver } = observedReceiver({
          endpoint: 'заказ 🦊',
          store,
          keepFailed: true,
          handle() {
            throw new Error('漢')
          },
        })
        await receiver.fetch(deliveryOf(activity({ id: 'ä 🦊' })))
        const failed = await failedMessages(receiver)
        expect(failed).toMatchObject([{ key: '["заказ 🦊","ä 🦊"]', id: 'ä 🦊', error: 'Error: 漢' }])
      } finally {
        await own.end()
        await pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
      }
    }
  })

  test('keys that differ only in an escaped character are different', async () => {
    const key = freshKey()
    const store = postgresStore(pool, { table })
    for (const text of ['ä', '\\u00e4', '\\\\u00e4', 'a\u0308']) await claimed(store, key + text, 60_000)
  })

  test('the default of runOnceRetainMs is 365 days', async () => {
    const key = freshKey()
    await postgresStore(pool, { table }).runOnce(key, () => 1)
    const days = 'round(extract(epoch FROM expires_at - clock_timestamp()) / 86400)::int AS days'
    expect(await observe(`SELECT ${days} FROM ${table} WHERE key = $1`, key)).toEqual([{ days: 365 }])
  })

  test('keepFailed needs no further statement for a message that is handled at the first attempt', async () => {
    const counts: number[] = []
    for (const keepFailed of [false, true]) {
      let count = 0
      const counting: PgPool = {
        query: (text, values) => pool.query(text, values),
        connect(callback) {
          pool.connect((error, client, release) => {
            const query = (text: string, values?: unknown[]) => {
              count += 1
              return (client as PoolClient).query(text, values)
            }
            callback(error, { query }, release)
          })
        },
      }
      const store = postgresStore(counting, { table })
      const { receiver } = observedReceiver({
        store,
        keepFailed,
        handle: (_event, { key }) => store.runOnce(key, (tx) => tx.query('SELECT 1')),
      })
      await receiver.fetch(deliveryOf(activity()))
      count = 0
      expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
      counts.push(count)
    }
    // A claim, BEGIN, the key, the function's query, the check, COMMIT, and the completion.
    expect(counts).toEqual([7, 7])
  })

  test('both clients see the same deliveries and keys', async () => {
    const key = freshKey()
    const token = await claimed(postgresStore(pool, { table }), key, 60_000)
    expect((await postgresStore(sql, { table }).claim(key, 60_000)).state).toBe('busy')
    expect(await postgresStore(sql, { table }).complete(key, token, 60_000)).toBe(true)
    expect((await postgresStore(sql, { table }).runOnce(key, () => 1)).ran).toBe(true)
    expect((await postgresStore(pool, { table }).runOnce(key, () => 1)).ran).toBe(false)
  })

  test.each<[string, () => PostgresStore<unknown>]>([
    [
      'pg',
      () => postgresStore(ownPool({ max: 10, options: '-c default_transaction_isolation=serializable' }), { table }),
    ],
    [
      'postgres',
      () =>
        postgresStore(ownSql({ max: 10, connection: { default_transaction_isolation: 'serializable' } }), { table }),
    ],
  ])(
    'one of 20 concurrent runOnce calls runs, and one of 20 concurrent claims succeeds, with serializable transactions (%s)',
    async (_, open) => {
      const store = open()
      const key = freshKey()
      const runs = await Promise.all(Array.from({ length: 20 }, () => store.runOnce(key, () => 1)))
      expect(runs.filter(({ ran }) => ran)).toHaveLength(1)
      const claims = await Promise.allSettled(Array.from({ length: 20 }, () => store.claim(key, 60_000)))
      const succeeded = claims.filter((claim) => claim.status === 'fulfilled' && claim.value.state === 'claimed')
      expect(succeeded).toHaveLength(1)
    },
  )

  describe('prune', () => {
    const own = `${schema}.pruned`
    beforeAll(() => pool.query(postgresSchema(own)))
    pruneContract((options) => postgresStore(pool, { table: own, ...options }))

    test('a locked row is skipped', async () => {
      const store = postgresStore(pool, { table: own })
      const [held, free] = [freshKey(), freshKey()]
      await store.complete(held, 'token', 1)
      await store.complete(free, 'token', 1)
      await waitOnStoreClock(postgresStore(pool, { table }), 1)
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        await client.query(`SELECT FROM ${own} WHERE key = $1 FOR UPDATE`, [held])
        expect(await store.prune()).toBe(1)
      } finally {
        await client.query('ROLLBACK')
        client.release()
      }
      expect(await store.prune()).toBe(1)
    })

    test('concurrent calls delete different rows', async () => {
      const store = postgresStore(pool, { table: own })
      await Promise.all(Array.from({ length: 60 }, () => store.complete(freshKey(), 'token', 1)))
      await waitOnStoreClock(postgresStore(pool, { table }), 1)
      const pruned = await Promise.all(Array.from({ length: 6 }, () => store.prune(20)))
      expect(pruned.reduce((sum, count) => sum + count)).toBe(60)
    })
  })

  describe('the schema', () => {
    test('can be created by many sessions at once, and repeatedly', async () => {
      const name = `${schema}.created_at_once`
      await Promise.all([
        ...Array.from({ length: 10 }, () => pool.query(postgresSchema(name))),
        ...Array.from({ length: 10 }, () => sql.unsafe(postgresSchema(name))),
      ])
      await claimed(postgresStore(pool, { table: name }), freshKey(), 60_000)
      await pool.query(postgresSchema(name))
      expect(await observe(`SELECT FROM ${name}`)).toHaveLength(1)
    })

    test('needs no right to create tables when the table exists', async () => {
      const role = `role_${randomUUID().slice(0, 8)}`
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        await client.query(`CREATE ROLE ${role}`)
        await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
        await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${role}`)
        await client.query(`SET LOCAL ROLE ${role}`)
        await client.query(postgresSchema(table))
      } finally {
        await client.query('ROLLBACK')
        client.release()
      }
    })

    describe('of an earlier version', () => {
      let older: string
      beforeAll(async () => {
        older = `${schema}."Older"`
        await pool.query(`CREATE TABLE ${older} (
          purpose text NOT NULL CHECK (purpose IN ('delivery', 'run_once')), key_hash bytea NOT NULL, key text NOT NULL,
          state text NOT NULL CHECK (state IN ('claimed', 'done')), token text, expires_at timestamptz NOT NULL,
          PRIMARY KEY (purpose, key_hash))`)
      })
      const open = () => postgresStore(pool, { table: `${schema}.Older` })

      test('goes on working without keepFailed', async () => {
        const store = open()
        const key = freshKey()
        await store.release(key, await claimed(store, key, 60_000), {
          reason: 'interrupted',
          rawBody: new Uint8Array(),
        })
        const token = await claimed(store, key, 60_000)
        expect((await store.runOnce(key, () => 1)).ran).toBe(true)
        expect(await store.complete(key, token, 60_000)).toBe(true)
        await store.complete(freshKey(), 'token', 1)
        await waitOnStoreClock(store, 1)
        expect(await store.prune()).toBeGreaterThanOrEqual(1)
      })

      test('is left with a warning by a session that does not own it', async () => {
        const role = `role_${randomUUID().slice(0, 8)}`
        const client = await pool.connect()
        const notices: (string | undefined)[] = []
        client.on('notice', ({ message }) => notices.push(message))
        try {
          await client.query('BEGIN')
          await client.query(`CREATE ROLE ${role}`)
          await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
          await client.query(`SET LOCAL ROLE ${role}`)
          await client.query(postgresSchema(`${schema}.Older`))
        } finally {
          await client.query('ROLLBACK')
          client.release()
        }
        expect(notices).toEqual([expect.stringMatching(/^campaign-client: only the owner of .* can run: ALTER TABLE /)])
      })

      test('with keepFailed causes 503 and an error with the statement to run; the schema adds the columns, too', async () => {
        const janitor = open()
        await janitor.prune()
        const { receiver, errors, handled } = observedReceiver({ store: open(), keepFailed: true })
        expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(503)
        const [{ error, context } = { error: undefined, context: undefined }] = errors
        expect(error).toBeInstanceOf(ConfigurationError)
        expect(context).toMatchObject({ stage: 'claim' })
        const [, statement = ''] = /Run: (ALTER TABLE [^()]*)/.exec(String(error)) ?? []
        const client = await pool.connect()
        try {
          await client.query('BEGIN')
          await client.query(statement)
          const columns = `SELECT attname, atttypid FROM pg_attribute WHERE attnum > 0 AND attrelid = $1::regclass ORDER BY 1`
          const altered = (await client.query(columns, [older])).rows
          expect(altered).toEqual((await client.query(columns, [table])).rows)
        } finally {
          await client.query('ROLLBACK')
          client.release()
        }
        await pool.query(postgresSchema(`${schema}.Older`))
        expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
        expect(handled).toHaveLength(1)

        const [key, message] = [freshKey(), { endpoint: freshKey(), rawBody: new Uint8Array([1]), retainMs: 60_000 }]
        const claim = await open().claim(key, 60_000, message)
        await open().release(key, (claim as { token: string }).token)
        while ((await janitor.prune(1000)) === 1000);
        expect(await open().failed(message.endpoint)).toMatchObject([{ key }])
      })
    })

    test('supports the search path, mixed case and reserved words', async () => {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        await client.query(`SET LOCAL search_path TO ${schema}`)
        for (const name of ['Order', '_', 'Campaign_Deliveries_2']) {
          await client.query(postgresSchema(name))
          expect((await client.query(`SELECT FROM ${schema}."${name}"`)).rows).toEqual([])
        }
      } finally {
        await client.query('ROLLBACK')
        client.release()
      }
    })

    test('the error of a missing table names the table', async () => {
      await expect(postgresStore(pool, { table: `${schema}.nowhere` }).claim(freshKey(), 1)).rejects.toThrow(
        /relation ".*nowhere" does not exist/,
      )
    })
  })

  test('a connection error does not contain the password', async () => {
    const password = randomUUID()
    const url = new URL(service.url)
    // An unknown user, because the server may accept known users without a password.
    url.username = `nobody_${randomUUID()}`
    url.password = password
    const unknownPool = ownPool({ connectionString: url.href, max: 1 })
    const unknownSql = connect(url.href, { max: 1, prepare: false })
    onTestFinished(() => unknownSql.end())
    for (const store of [postgresStore(unknownPool, { table }), postgresStore(unknownSql, { table })]) {
      const error = await store.claim(freshKey(), 1).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: expect.stringMatching(/^28/) })
      expect(String(error) + JSON.stringify(error)).not.toContain(password)
      await expect(store.runOnce(freshKey(), () => 1)).rejects.toMatchObject({ code: expect.stringMatching(/^28/) })
    }
  })
})

describe.skipIf(skipsWithout('PostgreSQL server', postgres.missingPrivate))(
  'postgresStore while PostgreSQL is down',
  () => {
    test.each(['pg', 'postgres'])(
      '%s: calls reject and the receiver responds with 503, until PostgreSQL runs again',
      async (name) => {
        const service = await postgres.startPrivate()
        const pool = new Pool({ connectionString: service.url, connectionTimeoutMillis: 2000 })
        pool.on('error', () => undefined)
        const sql = connect(service.url, {
          prepare: false,
          connect_timeout: 2,
          backoff: () => 0.01,
          onnotice: () => undefined,
        })
        try {
          await pool.query(postgresSchema())
          const store = name === 'pg' ? postgresStore(pool) : postgresStore(sql)
          await expectOutageHandled(service, store, { keepsRecords: true })
        } finally {
          await pool.end()
          await sql.end({ timeout: 0 })
          await service.stop()
        }
      },
    )
  },
)

describe('a client of a pg pool', () => {
  test('does not end the process when it fails at once', async () => {
    const { query } = fakePool(() => [{}])
    const client = Object.assign(new EventEmitter(), { query })
    const released: unknown[] = []
    const pool: PgPool = {
      query: client.query,
      connect(callback) {
        // pg-pool also removes its own listener here.
        callback(undefined, client, () => released.push(client.listenerCount('error')))
        client.emit('error', new Error('terminating connection due to administrator command'))
      },
    }
    expect(await postgresStore(pool).runOnce('key', () => 'applied')).toEqual({ ran: true, result: 'applied' })
    expect(new Set(released)).toEqual(new Set([0]))
  })

  test('gives tx all its members, and refuses calls after runOnce', async () => {
    const client = { ...fakePool(() => [{}]), processID: 7, listenerCount: () => 0 }
    const pool: PgPool = { query: client.query, connect: (callback) => callback(undefined, client, () => undefined) }
    let kept = client as unknown as PoolClient & { processID: number }
    await postgresStore(pool).runOnce('key', (tx) => {
      kept = tx as typeof kept
      expect([kept.processID, kept.listenerCount('error')]).toEqual([7, 0])
    })
    await expect(kept.query('SELECT 1')).rejects.toThrow(/runOnce has ended/)
    expect(() => kept.listenerCount('error')).toThrow(/runOnce has ended/)
  })

  test.each([
    ['is destroyed when ROLLBACK failed', true],
    ['is reused after a ROLLBACK', false],
  ])('%s', async (_, rollbackFails) => {
    const released: unknown[] = []
    const { query: respond } = fakePool(() => [{}])
    const query: PgClient['query'] = async (text, values) => {
      if (text === 'ROLLBACK' && rollbackFails) throw new Error('timed out')
      return respond(text, values)
    }
    const pool: PgPool = {
      query,
      connect: (callback) => callback(undefined, { query }, (destroy) => released.push(destroy)),
    }
    const store = postgresStore(pool)
    const reason = new Error('the work failed')
    await expect(store.runOnce('key', () => Promise.reject(reason))).rejects.toBe(reason)
    expect(released.at(-1)).toBe(rollbackFails)
  })
})

describe('the arguments of postgresStore', () => {
  const never = () => Promise.reject(new Error('never asked'))
  const fake: PgPool = { query: never, connect: never }

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a URL', 'postgres://localhost'],
    ['an empty object', {}],
    ['a function', () => undefined],
    ['the sql of a transaction', Object.assign(() => undefined, { unsafe: never, savepoint: never })],
    ['a function with only begin', Object.assign(() => undefined, { begin: never })],
    ['an object with the methods of a sql', { unsafe: never, begin: never }],
    ['an object with only connect', { connect: never }],
    ['a function with the methods of a pool', Object.assign(() => undefined, { query: never, connect: never })],
  ])('%s is refused', (_, database) => {
    expect(() => postgresStore(database as PgPool)).toThrow(
      /^postgresStore: database must be a Pool of "pg" or the sql of "postgres"/,
    )
  })

  test('a single client of pg is refused, with a fix', () => {
    expect(() => postgresStore(new Client() as unknown as PgPool)).toThrow(/must be a Pool .* not a single client/)
  })

  const malformed = [
    ...['', 'a b', 'a"b', "a'b", 'a;DROP TABLE b', 'a.b.c', '.a', 'a.', '1a', 'a$campaign_client$b', 'a-b', 'ä', 'a\n'],
    ...['a\0', 'a'.repeat(64), `${'a'.repeat(64)}.b`, 5, ['a']],
  ]
  test.each<unknown>(malformed)('the table %j is refused', (value) => {
    const table = value as string
    expect(() => postgresStore(fake, { table })).toThrow(/^postgresStore: table must be a name/)
    expect(() => postgresSchema(table)).toThrow(ConfigurationError)
    expect(() => postgresSchema(table)).toThrow(/^postgresSchema: table must be a name/)
  })

  test.each<[table: unknown, shown: string]>([
    ['a\nb', '"a\\nb"'],
    [5, 'number'],
  ])('the error for the table %j is one line', (table, shown) => {
    expect(() => postgresSchema(table as string)).toThrow(
      'postgresSchema: table must be a name, or a schema, a dot and a name: letters, digits and ' +
        `underscores, not starting with a digit, at most 63 characters each; got ${shown}`,
    )
  })

  test('any table name is refused, or is quoted in the statement', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\w.$"' ;-]*$/)), (table) => {
        let statement: string
        try {
          statement = postgresSchema(table)
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigurationError)
          return
        }
        const name = table
          .split('.')
          .map((part) => `"${part}"`)
          .join('.')
        expect(statement).toContain(`CREATE TABLE ${name} (`)
        expect(statement.replaceAll(name, '').match(/["]/g)).toBeNull()
        expect(statement.match(/\$campaign_client\$/g)).toHaveLength(2)
      }),
    )
  })
})
