import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { awardOne } from 'campaign-client/bulk'
import { postgresLedger, postgresLedgerSchema } from 'campaign-client/bulk/postgres'
import type { DeliveryStore } from 'campaign-client/webhook'
import { type PostgresStore, postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { type IoredisClient, type NodeRedisClient, redisStore } from 'campaign-client/webhook/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import connect, { type Sql } from 'postgres'
import { createClient, createClientPool } from 'redis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type FailoverServers, startPostgresFailover, startRedisFailover } from '../../databases/failover.ts'
import { pgbouncerMissing, startPgbouncer } from '../../databases/pgbouncer.ts'
import { postgres } from '../../databases/postgres.ts'
import { redis } from '../../databases/redis.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { observedReceiver } from '../receiver/observed-receiver.ts'
import { activity, deliveryOf } from '../signed-message.ts'

const CONNECTIONS = 10
const MESSAGES = 12
const RETRY_DELAYS_MS = [1_000, 2_000, 4_000, 8_000]
const MAX_FAILURES = 5
const TIMEOUT_MS = 120_000

/** A program whose connections are open before the failover. */
interface Program {
  /** Opens all connections of the client, without a write. */
  warmUp(): Promise<void>
  /** Makes one attempt to deliver the message or to make the award with this number. Resolves to whether it succeeded. */
  attempt(index: number): Promise<boolean>
  /** How often each message was handled. */
  timesHandled(): Promise<readonly number[]>
  close(): Promise<unknown>
}

interface Outcome {
  /** Whether each message was delivered. */
  readonly delivered: readonly boolean[]
  readonly failures: number
  readonly timesHandled: readonly number[]
}

/** Sends a message a second, one after the other. Repeats a failed attempt after 1, 2, 4 and 8 s. */
async function deliverMessages({ attempt, timesHandled }: Program): Promise<Outcome> {
  let failures = 0
  const deliver = async (index: number): Promise<boolean> => {
    for (const delayMs of [...RETRY_DELAYS_MS, undefined]) {
      if (await attempt(index)) return true
      failures++
      if (delayMs !== undefined) await wait(delayMs)
    }
    return false
  }
  const delivered: boolean[] = []
  for (let index = 0; index < MESSAGES; index++) {
    delivered.push(await deliver(index))
    await wait(1_000)
  }
  return { delivered, failures, timesHandled: await timesHandled() }
}

/** Opens the programs, fails the servers over, and expects that each program goes on without a restart. */
function expectRecovery(
  start: () => Promise<FailoverServers>,
  prepare: (url: string) => Promise<void>,
  programs: Readonly<Record<string, (url: string) => Promise<Program>>>,
): void {
  let servers: FailoverServers
  const outcomes = new Map<string, Promise<Outcome>>()
  const opened: Program[] = []
  beforeAll(async () => {
    servers = await start()
    await prepare(servers.url)
    for (const [name, open] of Object.entries(programs)) {
      const program = await open(servers.url)
      opened.push(program)
      await program.warmUp()
      expect(await program.attempt(MESSAGES), name).toBe(true)
    }
    await servers.failOver()
    // A client may have lost its connections.
    for (const program of opened) await vi.waitFor(() => program.warmUp(), { timeout: 90_000, interval: 100 })
    servers.switchAddress()
    Object.keys(programs).forEach((name, index) => {
      outcomes.set(name, deliverMessages(opened[index] as Program))
    })
    await Promise.all(outcomes.values())
  }, TIMEOUT_MS)
  afterAll(async () => {
    for (const program of opened) await program.close()
    await servers?.stop()
  }, TIMEOUT_MS)

  test.each(Object.keys(programs))('%s: handles every message', async (name) => {
    const outcome = await outcomes.get(name)
    expect(outcome).toMatchObject({ delivered: Array<boolean>(MESSAGES).fill(true) })
    expect(outcome?.failures).toBeLessThanOrEqual(MAX_FAILURES)
    expect(outcome?.timesHandled).toEqual(Array<number>(MESSAGES).fill(1))
  })
}

/** A receiver over a store. @param handle - called with the key of each delivery */
function receiverOver(
  store: DeliveryStore,
  client: Pick<Program, 'warmUp' | 'close'>,
  handle: (key: string) => Promise<unknown> = async () => undefined,
): Program {
  const { receiver, handled } = observedReceiver({ store, handle: (_event, { key }) => handle(key) })
  const messages = Array.from({ length: MESSAGES + 1 }, () => activity())
  return {
    ...client,
    attempt: async (index) => (await receiver.fetch(deliveryOf(messages[index]))).status === 200,
    timesHandled: async () =>
      messages.slice(0, MESSAGES).map((message) => handled.filter(({ id }) => id === message.id).length),
  }
}

describe.skipIf(skipsWithout(redis.name, redis.missingPrivate))('redisStore when the primary becomes a replica', () => {
  const over = (client: IoredisClient | NodeRedisClient, warmUp: () => Promise<unknown>, close: () => void): Program =>
    receiverOver(redisStore(client), { warmUp: async () => void (await warmUp()), close: async () => close() })

  expectRecovery(startRedisFailover, async () => undefined, {
    async ioredis(url) {
      const client = new Redis(url, {
        socketTimeout: 5_000,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 1,
        lazyConnect: true,
      })
      client.on('error', () => undefined)
      await client.connect()
      return over(
        client,
        () => client.ping(),
        () => client.disconnect(),
      )
    },
    async 'redis, createClient'(url) {
      const client = createClient({ url, disableOfflineQueue: true })
      client.on('error', () => undefined)
      await client.connect()
      return over(
        client,
        () => client.ping(),
        () => client.destroy(),
      )
    },
    async 'redis, createClientPool'(url) {
      const pool = createClientPool({ url, disableOfflineQueue: true }, { minimum: CONNECTIONS, maximum: CONNECTIONS })
      pool.on('error', () => undefined)
      await pool.connect()
      return over(
        pool,
        () => Promise.all(Array.from({ length: CONNECTIONS }, () => pool.ping())),
        () => pool.destroy(),
      )
    },
  })
})

describe.skipIf(skipsWithout(postgres.name, postgres.missingPrivate))('when the primary becomes a standby', () => {
  const openPg = (connectionString: string): Pool => {
    // Keeps the connections to the old primary until the store closes them.
    const limits = { connectionTimeoutMillis: 5_000, query_timeout: 10_000, idleTimeoutMillis: 0 }
    const pool = new Pool({ connectionString, max: CONNECTIONS, ...limits })
    pool.on('error', () => undefined)
    return pool
  }
  const pgClient = (pool: Pool): Pick<Program, 'warmUp' | 'close'> => ({
    async warmUp() {
      const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.connect()))
      for (const client of clients) client.release()
    },
    close: () => pool.end(),
  })
  const openSql = (url: string): Sql =>
    connect(url, { max: CONNECTIONS, prepare: false, fetch_types: false, onnotice: () => undefined })
  const sqlClient = (sql: Sql): Pick<Program, 'warmUp' | 'close'> => ({
    async warmUp() {
      // `postgres` sends concurrent queries over all its connections.
      await Promise.all(Array.from({ length: CONNECTIONS }, () => sql`SELECT 1`))
    },
    close: () => sql.end({ timeout: 1 }),
  })

  /** A receiver whose handler writes with `runOnce`. */
  function runningOnce<Tx>(
    store: PostgresStore<Tx>,
    client: Pick<Program, 'warmUp' | 'close'>,
    query: (tx: Tx | undefined, text: string, values: string[]) => Promise<readonly unknown[]>,
  ): Program {
    const keys: string[] = []
    const program = receiverOver(store, client, async (key) => {
      keys.push(key)
      await store.runOnce(key, (tx) => query(tx, 'INSERT INTO applied (key) VALUES ($1)', [key]))
    })
    return {
      ...program,
      async timesHandled() {
        const own = [...new Set(keys)].slice(1)
        // `postgres` rejects the first query of a connection with the error that ended the previous one.
        const times = own.map((key) =>
          vi.waitFor(() => query(undefined, 'SELECT FROM applied WHERE key = $1', [key]), 10_000),
        )
        return (await Promise.all(times)).map((rows) => rows.length)
      },
    }
  }

  /** A worker that makes awards. */
  function awardingOne(database: Pool | Sql, client: Pick<Program, 'warmUp' | 'close'>): Program {
    const ledger = postgresLedger(database as Pool, { run: randomUUID() })
    const sent: string[] = []
    const service = { rewardWallet: async ({ id }: { id: string }) => void sent.push(id) }
    const id = (index: number) => `award-${index}`
    return {
      ...client,
      async attempt(index) {
        const row = { address: `0x${'1'.repeat(40)}`, pid: 'demo', id: id(index), xp: 1 }
        return awardOne(service, row, { ledger }).then(
          (verdict) => verdict === 'awarded',
          () => false,
        )
      },
      timesHandled: async () =>
        Array.from({ length: MESSAGES }, (_, index) => sent.filter((each) => each === id(index)).length),
    }
  }

  const prepare = async (url: string): Promise<void> => {
    const pool = openPg(url)
    await pool.query(postgresSchema())
    await pool.query(postgresLedgerSchema())
    await pool.query('CREATE TABLE applied (key text NOT NULL)')
    await pool.end()
  }

  expectRecovery(startPostgresFailover, prepare, {
    async 'postgresStore over pg'(url) {
      const pool = openPg(url)
      return receiverOver(postgresStore(pool), pgClient(pool))
    },
    async 'postgresStore over postgres'(url) {
      const sql = openSql(url)
      return receiverOver(postgresStore(sql), sqlClient(sql))
    },
    async 'runOnce over pg'(url) {
      const pool = openPg(url)
      const query = async (tx: { query: Pool['query'] } | undefined, text: string, values: string[]) =>
        (await (tx ?? pool).query(text, values)).rows
      return runningOnce(postgresStore(pool), pgClient(pool), query)
    },
    async 'runOnce over postgres'(url) {
      const sql = openSql(url)
      return runningOnce(postgresStore(sql), sqlClient(sql), async (tx, text, values) =>
        (tx ?? sql).unsafe(text, values),
      )
    },
    async 'postgresLedger over pg'(url) {
      const pool = openPg(url)
      return awardingOne(pool, pgClient(pool))
    },
    async 'postgresLedger over postgres'(url) {
      const sql = openSql(url)
      return awardingOne(sql, sqlClient(sql))
    },
    ...(pgbouncerMissing === undefined && {
      async 'postgresStore over pg behind PgBouncer'(url: string) {
        const bouncer = await startPgbouncer({ url }, 3)
        const pool = openPg(bouncer.url)
        const client = pgClient(pool)
        return receiverOver(postgresStore(pool), {
          async warmUp() {
            await client.warmUp()
            await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('SELECT pg_sleep(0.1)')))
          },
          async close() {
            await pool.end()
            await bouncer.stop()
          },
        })
      },
    }),
  })
})
