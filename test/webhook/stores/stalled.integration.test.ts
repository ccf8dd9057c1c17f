import { randomUUID } from 'node:crypto'
import type { DeliveryStore } from 'campaign-client/webhook'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import connect from 'postgres'
import { createClient, createClientPool } from 'redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Database, DatabaseSource, PrivateDatabase } from '../../databases/database.ts'
import { postgres } from '../../databases/postgres.ts'
import { redis } from '../../databases/redis.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { type StallingProxy, startStallingProxy } from '../../support/stalling-proxy.ts'
import { deferred, observedReceiver } from '../receiver/observed-receiver.ts'
import { activity, deliveryOf } from '../signed-message.ts'

/** A store with its own connections. */
interface OpenStore {
  store: DeliveryStore
  close(): unknown
}

type Open = (url: string) => Promise<OpenStore>

const prefix = `${randomUUID()}:`
const CONNECTION_NAME = `stalled-${randomUUID()}`
const table = `stalled_${randomUUID().replaceAll('-', '')}`

const redisClients: Readonly<Record<string, Open>> = {
  async redis(url) {
    const client = createClient({ url, disableOfflineQueue: true })
    client.on('error', () => undefined)
    await client.connect()
    return { store: redisStore(client, { prefix }), close: () => client.destroy() }
  },
  async ioredis(url) {
    const client = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, lazyConnect: true })
    client.on('error', () => undefined)
    await client.connect()
    return { store: redisStore(client, { prefix }), close: () => client.disconnect() }
  },
}

const SOCKET_TIMEOUT_MS = 300

async function redisPool(url: string): Promise<OpenStore> {
  const client = createClientPool({ url, name: CONNECTION_NAME, disableOfflineQueue: true })
  client.on('error', () => undefined)
  await client.connect()
  return { store: redisStore(client, { prefix }), close: () => client.destroy() }
}

/** The clients and settings that the guide recommends. They detect a connection that no longer responds. */
const recommendedClients: Readonly<Record<string, Open>> = {
  'a pool of redis': redisPool,
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

const postgresClients: Readonly<Record<string, Open>> = {
  async pg(url) {
    const pool = new Pool({ connectionString: url, max: 4 })
    pool.on('error', () => undefined)
    await pool.query(postgresSchema(table))
    return { store: postgresStore(pool, { table }), close: () => pool.end() }
  },
  async postgres(url) {
    const sql = connect(url, { max: 4, prepare: false, fetch_types: false, onnotice: () => undefined })
    await sql.unsafe(postgresSchema(table))
    return { store: postgresStore(sql, { table }), close: () => sql.end({ timeout: 1 }) }
  },
}

stalling(redis, { ...redisClients, 'a pool of redis': redisPool }, async () => undefined)
stalling(postgres, postgresClients, async (url) => {
  const pool = new Pool({ connectionString: url })
  await pool.query(`DROP TABLE IF EXISTS ${table}`)
  await pool.end()
})

function stalling(
  source: DatabaseSource,
  clients: Readonly<Record<string, Open>>,
  cleanUp: (url: string) => Promise<void>,
): void {
  describe.skipIf(skipsWithout(source.name, source.missing))(`${source.name} that stalls`, () => {
    let service: Database
    beforeAll(async () => {
      service = await source.start()
    })
    afterAll(async () => {
      if (service) await cleanUp(service.url)
      await service?.stop()
    })

    async function openBehindProxy(open: Open): Promise<{ store: DeliveryStore; proxy: StallingProxy }> {
      const proxy = await startStallingProxy(service.url)
      const { store, close } = await open(proxy.url)
      onTestFinished(async () => {
        proxy.resume()
        await close()
        await proxy.close()
      })
      return { store, proxy }
    }

    const cases = Object.entries(clients).flatMap(([client, open]) =>
      (['requests', 'responses'] as const).map((direction) => [client, direction, open] as const),
    )

    test.each(cases)(
      '%s: if %s stall at the claim, the receiver responds with 503, and handles each message once afterwards',
      async (_, direction, open) => {
        const { store, proxy } = await openBehindProxy(open)
        const { receiver, handled, errors, rejections } = observedReceiver({
          store,
          deadlineMs: 1_500,
          leaseMs: 20_000,
        })
        const messages = Array.from({ length: 10 }, () => activity())
        const deliver = () => Promise.all(messages.map((message) => receiver.fetch(deliveryOf(message))))
        proxy.stall(direction)
        for (const { status } of await deliver()) expect(status).toBe(503)
        expect(handled).toHaveLength(0)
        expect(new Set(rejections.map(({ reason }) => reason))).toEqual(new Set(['store_unavailable']))
        expect(errors).toHaveLength(messages.length)
        for (const { error, context } of errors) {
          expect(context.stage).toBe('claim')
          expect((error as Error).message).toMatch(/claim\(\) did not respond within 1500 ms/)
        }
        proxy.resume()
        // A claim that arrived late was released, so no attempt waits for the end of its lease.
        await expect.poll(async () => (await deliver()).every(({ status }) => status === 200)).toBe(true)
        expect(handled).toHaveLength(messages.length)
      },
    )

    test.each(cases)(
      '%s: if %s stall while the handler runs, the receiver responds with 200, and records the delivery',
      async (_, direction, open) => {
        const { store, proxy } = await openBehindProxy(open)
        const begun = deferred()
        const running = deferred()
        const { receiver, handled, errors } = observedReceiver({
          store,
          leaseMs: 6_000,
          async handle() {
            begun.resolve()
            await running.promise
          },
        })
        const message = activity()
        const first = receiver.fetch(deliveryOf(message))
        await begun.promise
        proxy.stall(direction)
        running.resolve()
        expect((await first).status).toBe(200)
        proxy.resume()
        // The claim may overtake the record of the delivery. It is then refused as busy, and the service tries again.
        await expect
          .poll(async () => (await receiver.fetch(deliveryOf(message))).json())
          .toEqual({ ok: true, result: 'duplicate' })
        expect(handled).toHaveLength(1)
        expect(errors).toEqual([])
        await receiver.close()
      },
    )
  })
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

  test.each(cases)(
    '%s: while Redis hangs, the response is 503, and each message is handled once afterwards',
    async (_, open) => {
      const { store, close } = await open(service.url)
      onTestFinished(async () => void (await close()))
      const { receiver, handled, rejections } = observedReceiver({ store, deadlineMs: 1_500, leaseMs: 20_000 })
      const messages = Array.from({ length: 10 }, () => activity())
      const deliver = () => Promise.all(messages.map((message) => receiver.fetch(deliveryOf(message))))
      // Longer than the deadline and the time limits of the client, even on a busy machine.
      await admin.client('PAUSE', 6_000)
      for (const { status } of await deliver()) expect(status).toBe(503)
      expect(handled).toEqual([])
      expect(new Set(rejections.map(({ reason }) => reason))).toEqual(new Set(['store_unavailable']))
      await expect.poll(async () => (await deliver()).every(({ status }) => status === 200)).toBe(true)
      expect(handled).toHaveLength(messages.length)
    },
  )
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

  test.each(Object.entries(redisClients))(
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

  test.each(Object.entries(redisClients))(
    '%s: if Redis becomes full while the handler runs, the receiver responds with 200, and calls onError',
    async (_, open) => {
      const { store, close } = await open(service.url)
      onTestFinished(async () => void (await close()))
      const { receiver, handled, errors } = observedReceiver({
        store,
        leaseMs: 1_500,
        maxRunMs: 60_000,
        handle: async () => {
          await admin.config('SET', 'maxmemory', '1')
        },
      })
      const message = activity()
      expect((await receiver.fetch(deliveryOf(message))).status).toBe(200)
      await receiver.close()
      expect(handled).toHaveLength(1)
      expect(errors).toMatchObject([{ context: { stage: 'complete', id: message.id } }])
      expect(String(errors[0]?.error)).toMatch(/OOM/)
      await admin.config('SET', 'maxmemory', '0')
    },
  )
})
