import { randomUUID } from 'node:crypto'
import type { DeliveryStore } from 'campaign-client/webhook'
import { type PostgresStore, postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import { Redis } from 'ioredis'
import { Pool, type PoolClient } from 'pg'
import connect from 'postgres'
import { createClient, createClientPool } from 'redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test, vi } from 'vitest'
import type { Database, PrivateDatabase } from '../../databases/database.ts'
import { postgres } from '../../databases/postgres.ts'
import { redis } from '../../databases/redis.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { type StallingProxy, startStallingProxy } from '../../support/stalling-proxy.ts'
import { deferred, observedReceiver } from '../receiver/observed-receiver.ts'
import { activity, deliveryOf } from '../signed-message.ts'
import { claimed, freshKey } from './store-clock.ts'

/** Several attempts with a limit of 3 s each, on a busy machine. */
const SLOW = { timeout: 240_000 }
const MAX_CONNECTIONS = 4
/** How long the server keeps a transaction whose client is silent. Long enough for a busy client. */
const IDLE_TIMEOUT_MS = 20_000

async function proxyTo(database: Database, { onTestFinished }: TestContext): Promise<StallingProxy> {
  const proxy = await startStallingProxy(database.url)
  onTestFinished(() => proxy.close())
  return proxy
}

/** No lease ends during a test. */
const LEASE_MS = 290_000

/**
 * Claims while no response arrives, and expects that the claim is released when the database responds again.
 *
 * @param direct - a store that does not use the proxy
 */
async function expectLateClaimReleased(
  store: DeliveryStore,
  proxy: StallingProxy,
  direct: DeliveryStore,
  message = /did not respond within 3000 ms/,
): Promise<void> {
  await claimed(store, freshKey(), LEASE_MS)
  const key = freshKey()
  proxy.stall('responses')
  await expect(store.claim(key, LEASE_MS)).rejects.toThrow(message)
  proxy.resume()
  await vi.waitFor(async () => expect((await direct.claim(key, LEASE_MS)).state).toBe('claimed'), SLOW)
}

/** Opens all connections, makes them silent, and expects that each message of the next attempts is handled once. */
async function expectHandledAfterSilence(store: DeliveryStore, proxy: StallingProxy): Promise<void> {
  const { receiver, handled } = observedReceiver({ store, deadlineMs: 20_000 })
  const deliver = async (messages: readonly unknown[]) =>
    Promise.all(messages.map(async (message) => (await receiver.fetch(deliveryOf(message))).status))
  const newMessages = () => Array.from({ length: 2 * MAX_CONNECTIONS }, () => activity())
  const deliverUntilHandled = (messages: readonly unknown[]) =>
    vi.waitFor(async () => expect(new Set(await deliver(messages))).toEqual(new Set([200])), SLOW)
  await deliverUntilHandled(newMessages())
  proxy.silence()
  await deliverUntilHandled(newMessages())
  expect(handled).toHaveLength(4 * MAX_CONNECTIONS)
}

describe.skipIf(skipsWithout(redis.name, redis.missing))('redisStore when connections stay open and silent', () => {
  const prefix = `${randomUUID()}:`
  let service: Database
  beforeAll(async () => {
    service = await redis.start()
  })
  afterAll(() => service?.stop())

  const open = {
    async 'a pool of redis'(url: string) {
      const client = createClientPool({ url, disableOfflineQueue: true }, { maximum: MAX_CONNECTIONS })
      client.on('error', () => undefined)
      await client.connect()
      return { client, close: () => client.destroy() }
    },
    async 'a client of redis'(url: string) {
      const client = createClient({ url, disableOfflineQueue: true })
      client.on('error', () => undefined)
      await client.connect()
      return { client, close: () => client.destroy() }
    },
    async ioredis(url: string) {
      const client = new Redis(url, {
        enableOfflineQueue: false,
        maxRetriesPerRequest: 1,
        socketTimeout: 5_000,
        lazyConnect: true,
      })
      client.on('error', () => undefined)
      await client.connect()
      return { client, close: () => client.disconnect() }
    },
  }

  test.concurrent('a pool of redis: the next attempts are handled', async (context) => {
    const proxy = await proxyTo(service, context)
    const { client, close } = await open['a pool of redis'](proxy.url)
    context.onTestFinished(close)
    await expectHandledAfterSilence(redisStore(client, { prefix }), proxy)
    // The connections are usable for your own commands.
    const values = Array.from({ length: 2 * MAX_CONNECTIONS }, () => client.ping())
    expect(new Set(await Promise.all(values))).toEqual(new Set(['PONG']))
  })

  test.concurrent('a pool of redis with a keyPrefix: a call rejects after 3 s, and keys have the prefix', async (context) => {
    const proxy = await proxyTo(service, context)
    const client = createClientPool({ url: proxy.url, keyPrefix: prefix })
    client.on('error', () => undefined)
    await client.connect()
    context.onTestFinished(() => client.destroy())
    const store = redisStore(client, { prefix: 'p:' })
    const key = freshKey()
    await claimed(store, key, 60_000)
    expect(await client.exists(`p:${key}`)).toBe(1)
    proxy.silence()
    await expect(store.claim(freshKey(), 1000)).rejects.toThrow('redisStore: Redis did not respond within 3000 ms')
  })

  test.concurrent('ioredis with a socketTimeout: the next attempts are handled', async (context) => {
    const proxy = await proxyTo(service, context)
    const { client, close } = await open.ioredis(proxy.url)
    context.onTestFinished(close)
    await expectHandledAfterSilence(redisStore(client, { prefix }), proxy)
  })

  test.concurrent.for(Object.entries(open))(
    '%s: a claim that comes after 3 s is released',
    async ([, connectTo], context) => {
      const proxy = await proxyTo(service, context)
      const [opened, direct] = [await connectTo(proxy.url), await connectTo(service.url)]
      for (const { close } of [opened, direct]) context.onTestFinished(close)
      await expectLateClaimReleased(redisStore(opened.client, { prefix }), proxy, redisStore(direct.client, { prefix }))
    },
  )

  test.concurrent('ioredis with a commandTimeout: a claim that comes after it is released', async (context) => {
    const proxy = await proxyTo(service, context)
    const [client, direct] = [
      new Redis(proxy.url, { commandTimeout: 2_500, lazyConnect: true }),
      new Redis(service.url, { lazyConnect: true }),
    ]
    for (const each of [client, direct]) {
      each.on('error', () => undefined)
      context.onTestFinished(() => each.disconnect())
      await each.connect()
    }
    await expectLateClaimReleased(
      redisStore(client, { prefix }),
      proxy,
      redisStore(direct, { prefix }),
      /Command timed out/,
    )
  })

  test.concurrent('ioredis without a time limit: a call rejects after 3 s', async (context) => {
    const proxy = await proxyTo(service, context)
    const client = new Redis(proxy.url, { lazyConnect: true })
    client.on('error', () => undefined)
    await client.connect()
    context.onTestFinished(() => client.disconnect())
    proxy.silence()
    const call = redisStore(client, { prefix }).claim(freshKey(), 1000)
    await expect(call).rejects.toThrow('redisStore: Redis did not respond within 3000 ms')
  })
})

describe.skipIf(skipsWithout(postgres.name, postgres.missing))(
  'postgresStore when connections stay open and silent',
  () => {
    const table = `silent_${randomUUID().replaceAll('-', '')}`
    let service: Database
    let admin: Pool
    beforeAll(async () => {
      service = await postgres.start()
      admin = new Pool({ connectionString: service.url, max: 2 })
      await admin.query(postgresSchema(table))
    })
    afterAll(async () => {
      await admin?.query(`DROP TABLE ${table}`)
      await admin?.end()
      await service?.stop()
    })

    const SILENT = /^postgresStore: PostgreSQL did not respond within 3000 ms: /

    async function openPg(
      context: TestContext,
      options: { query_timeout?: number; idle_in_transaction_session_timeout?: number } = {},
    ) {
      const proxy = await proxyTo(service, context)
      const pool = new Pool({
        connectionString: proxy.url,
        max: MAX_CONNECTIONS,
        connectionTimeoutMillis: 5_000,
        idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
        ...options,
      })
      pool.on('error', () => undefined)
      context.onTestFinished(() => pool.end())
      return { proxy, pool, store: postgresStore(pool, { table }) }
    }

    async function openPostgres(context: TestContext, max: number) {
      const proxy = await proxyTo(service, context)
      const connection = { idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS }
      const sql = connect(proxy.url, { max, prepare: false, fetch_types: false, connection })
      context.onTestFinished(() => sql.end({ timeout: 0 }))
      return { proxy, sql, store: postgresStore(sql, { table }) }
    }

    test.concurrent('pg: the next attempts are handled', async (context) => {
      const { store, proxy, pool } = await openPg(context)
      await expectHandledAfterSilence(store, proxy)
      expect(pool.waitingCount).toBe(0)
    })

    test.concurrent.for([
      ['pg', (context: TestContext) => openPg(context)],
      ['postgres', (context: TestContext) => openPostgres(context, MAX_CONNECTIONS)],
    ] as const)('%s: a claim that comes after 3 s is released', async ([, open], context) => {
      const { store, proxy } = await open(context)
      await expectLateClaimReleased(store, proxy, postgresStore(admin, { table }))
    })

    /** Makes the connection silent inside `runOnce`, and expects that the next calls run on other connections. */
    async function expectRunsAfterSilence<Tx>(
      { expect }: TestContext,
      { store, proxy }: { store: PostgresStore<Tx>; proxy: StallingProxy },
      apply: (tx: Tx) => unknown,
      words: RegExp,
    ): Promise<void> {
      const keys = Array.from({ length: MAX_CONNECTIONS - 1 }, freshKey)
      await store.runOnce(freshKey(), () => 1)
      // All transactions that the store permits at once are silent.
      let begun = 0
      const silent = keys.map((key) =>
        store.runOnce(key, async (tx) => {
          begun++
          await expect.poll(() => begun).toBe(keys.length)
          proxy.silence()
          await apply(tx)
        }),
      )
      for (const outcome of await Promise.allSettled(silent)) {
        expect(outcome).toMatchObject({ reason: { message: expect.stringMatching(words) } })
      }
      // The server still holds the keys, until it ends the sessions that are idle in a transaction.
      for (const key of keys) {
        const outcome = await vi.waitFor(() => store.runOnce(key, () => 'again'), SLOW)
        expect(outcome).toEqual({ ran: true, result: 'again' })
      }
    }

    test.concurrent('pg: runOnce rejects when COMMIT has no response, and the next attempts run', async (context) => {
      await expectRunsAfterSilence(context, await openPg(context), () => undefined, SILENT)
    })

    test.concurrent('pg with query_timeout: runOnce rejects when a query of its function has no response', async (context) => {
      const opened = await openPg(context, { query_timeout: 10_000 })
      await expectRunsAfterSilence<PoolClient>(context, opened, (tx) => tx.query('SELECT 1'), /timeout/)
    })

    test.concurrent('postgres: runOnce rejects when COMMIT has no response, and the next attempts run', async (context) => {
      await expectRunsAfterSilence(context, await openPostgres(context, 3 * MAX_CONNECTIONS), () => undefined, SILENT)
    })

    test.concurrent('postgres: a call rejects after 3 s, and gives its permit back', async (context) => {
      const { store, proxy } = await openPostgres(context, MAX_CONNECTIONS)
      await claimed(store, freshKey(), 1000)
      proxy.silence()
      await expect(store.claim(freshKey(), 1000)).rejects.toThrow(SILENT)
    })

    test.concurrent.for([
      ['pg', async (context: TestContext) => (await openPg(context)).pool],
      ['postgres', async (context: TestContext) => (await openPostgres(context, MAX_CONNECTIONS)).sql as never],
    ] as const)(
      '%s: a function that takes longer than maxRunMs is rolled back, and its permit given back',
      async ([, open], context) => {
        const store = postgresStore(await open(context), { table, maxRunMs: 200 })
        const key = freshKey()
        const hanging = Array.from({ length: MAX_CONNECTIONS - 1 }, (_, index) =>
          store.runOnce(`${key}${index}`, () => new Promise(() => {})),
        )
        const message = 'the function of runOnce took longer than 200 ms (maxRunMs), so nothing was committed'
        for (const outcome of await Promise.allSettled(hanging)) expect(outcome).toMatchObject({ reason: { message } })
        for (const index of hanging.keys()) {
          expect(await store.runOnce(`${key}${index}`, () => 1)).toEqual({ ran: true, result: 1 })
        }
      },
    )

    test.concurrent('a function that takes longer than 3 s runs', async (context) => {
      const { store } = await openPg(context)
      const outcome = await store.runOnce(freshKey(), (tx) => tx.query('SELECT pg_sleep(3.5)').then(() => 'done'))
      expect(outcome).toEqual({ ran: true, result: 'done' })
    })

    test.concurrent('runOnce rejects when another call holds its key for longer than 3 s', async (context) => {
      // The first call is idle in its transaction.
      const { store } = await openPg(context, { idle_in_transaction_session_timeout: 0 })
      const key = freshKey()
      const begun = deferred()
      const rejected = deferred()
      const first = store.runOnce(key, async () => {
        begun.resolve()
        await rejected.promise
      })
      await begun.promise
      await expect(store.runOnce(key, () => expect.unreachable())).rejects.toThrow(SILENT)
      rejected.resolve()
      expect((await first).ran).toBe(true)
      expect(await store.runOnce(key, () => expect.unreachable())).toEqual({ ran: false })
    })
  },
)

const prefix = `${randomUUID()}:`
const CONNECTION_NAME = `faults-${randomUUID()}`
const SOCKET_TIMEOUT_MS = 300

/** The clients and settings that the guide recommends. They detect a connection that no longer responds. */
const recommendedClients: Readonly<
  Record<string, (url: string) => Promise<{ store: DeliveryStore; close(): unknown }>>
> = {
  async 'a pool of redis'(url) {
    const client = createClientPool({ url, name: CONNECTION_NAME, disableOfflineQueue: true })
    client.on('error', () => undefined)
    await client.connect()
    return { store: redisStore(client, { prefix }), close: () => client.destroy() }
  },
  async 'ioredis with a socketTimeout'(url) {
    const client = new Redis(url, {
      connectionName: CONNECTION_NAME,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      socketTimeout: SOCKET_TIMEOUT_MS,
      lazyConnect: true,
    })
    client.on('error', () => undefined)
    await client.connect()
    return { store: redisStore(client, { prefix }), close: () => client.disconnect() }
  },
}

describe.skipIf(skipsWithout(redis.name, redis.missingPrivate))('a Redis client with the recommended settings', () => {
  let service: PrivateDatabase
  let admin: Redis
  beforeAll(async () => {
    service = await redis.startPrivate()
    admin = new Redis(service.url)
  })
  afterAll(async () => {
    admin?.disconnect()
    await service?.stop()
  })

  /** Returns the idle time of the last used connection, in whole seconds. */
  async function idleSeconds(): Promise<number> {
    const connections = String(await admin.client('LIST')).split('\n')
    const own = connections.filter((line) => line.includes(` name=${CONNECTION_NAME} `))
    return Math.min(...own.map((line) => Number(/ idle=(\d+) /.exec(line)?.[1])))
  }

  const cases = Object.entries(recommendedClients)

  test.each(cases)('%s: no message fails after the connections were idle', async (_, open) => {
    const { store, close } = await open(service.url)
    onTestFinished(async () => void (await close()))
    const { receiver, errors } = observedReceiver({ store })
    for (let round = 0; round < 2; round++) {
      expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
      await expect.poll(idleSeconds).toBeGreaterThan(SOCKET_TIMEOUT_MS / 1000)
    }
    for (let message = 0; message < 5; message++) {
      expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
    }
    expect(errors).toEqual([])
  })

  test.each(cases)('%s: when a connection stops responding, no lease and no later message is lost', async (_, open) => {
    const proxy = await startStallingProxy(service.url)
    const { store, close } = await open(proxy.url)
    onTestFinished(async () => {
      await close()
      await proxy.close()
    })
    const extended = deferred()
    const observedStore: DeliveryStore = {
      ...store,
      async extend(...args) {
        const isExtended = await store.extend(...args)
        extended.resolve()
        return isExtended
      },
    }
    const begun = deferred<AbortSignal>()
    const { receiver, handled, errors, rejections } = observedReceiver({
      store: observedStore,
      leaseMs: 6_000,
      async handle(_event, { signal }) {
        begun.resolve(signal)
        if (handled.length === 1) await extended.promise
      },
    })
    const message = activity()
    const first = receiver.fetch(deliveryOf(message))
    const signal = await begun.promise
    proxy.silence()
    expect((await first).status).toBe(200)
    expect(signal.aborted).toBe(false)
    expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
    expect(await (await receiver.fetch(deliveryOf(message))).json()).toEqual({ ok: true, result: 'duplicate' })
    expect(handled).toHaveLength(2)
    expect(rejections).toEqual([])
    // If `extend` used the silent connection, its timeout is reported. Over another connection, nothing is reported.
    for (const { context } of errors) expect(context.stage).toBe('extend')
  })
})

describe.skipIf(skipsWithout(redis.name, redis.missingPrivate))('a full Redis with noeviction', () => {
  let service: PrivateDatabase
  let admin: Redis
  beforeAll(async () => {
    service = await redis.startPrivate()
    admin = new Redis(service.url)
    await admin.config('SET', 'maxmemory-policy', 'noeviction')
  })
  afterAll(async () => {
    admin?.disconnect()
    await service?.stop()
  })

  test.each(Object.entries(recommendedClients))(
    '%s: while Redis is full, the receiver responds with 503, and handles each message once afterwards',
    async (_, open) => {
      const { store, close } = await open(service.url)
      onTestFinished(async () => void (await close()))
      const { receiver, handled, errors } = observedReceiver({ store })
      const messages = Array.from({ length: 5 }, () => activity())
      const deliver = () => Promise.all(messages.map((message) => receiver.fetch(deliveryOf(message))))
      await admin.config('SET', 'maxmemory', '1')
      for (const { status } of await deliver()) expect(status).toBe(503)
      expect(handled).toHaveLength(0)
      for (const { error, context } of errors) {
        expect(context.stage).toBe('claim')
        expect(String(error)).toMatch(/OOM/)
      }
      await admin.config('SET', 'maxmemory', '0')
      for (const { status } of await deliver()) expect(status).toBe(200)
      for (const response of await deliver()) expect(await response.json()).toMatchObject({ result: 'duplicate' })
      expect(handled).toHaveLength(messages.length)
    },
  )
})
