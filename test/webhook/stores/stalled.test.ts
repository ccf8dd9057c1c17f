import { randomUUID } from 'node:crypto'
import type { DeliveryStore } from 'campaign-client/webhook'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import connect from 'postgres'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Database, DatabaseSource, PrivateDatabase } from '../../databases/database.ts'
import { postgres } from '../../databases/postgres.ts'
import { redis } from '../../databases/redis.ts'
import { skipsWithout } from '../../machine/skips-without.ts'
import { type StallingProxy, startStallingProxy } from '../../machine/stalling-proxy.ts'
import { deferred, observedReceiver } from '../receiver/observed-receiver.ts'
import { activity, deliveryOf } from '../signed-message.ts'

/** A store over connections of its own. */
interface Opened {
  store: DeliveryStore
  close(): unknown
}

type Open = (url: string) => Promise<Opened>

const prefix = `${randomUUID()}:`
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

const postgresClients: Readonly<Record<string, Open>> = {
  async pg(url) {
    const pool = new Pool({ connectionString: url, max: 4 })
    pool.on('error', () => undefined)
    await pool.query(postgresSchema(table))
    return { store: postgresStore(pool, { table }), close: () => pool.end() }
  },
  async postgres(url) {
    const sql = connect(url, { max: 4, fetch_types: false, onnotice: () => undefined })
    await sql.unsafe(postgresSchema(table))
    return { store: postgresStore(sql, { table }), close: () => sql.end({ timeout: 1 }) }
  },
}

stalling(redis, redisClients, async () => undefined)
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

    async function stallable(open: Open): Promise<{ store: DeliveryStore; proxy: StallingProxy }> {
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
      (['requests', 'answers'] as const).map((what) => ({ client, what, open })),
    )

    test.each(cases)(
      '$client, $what held back when it is asked: 503 at the deadline, and handled once in the end',
      async ({ what, open }) => {
        const { store, proxy } = await stallable(open)
        const { receiver, handled, errors, rejections } = observedReceiver({ store, deadlineMs: 300, leaseMs: 20_000 })
        const messages = Array.from({ length: 10 }, () => activity())
        const deliver = () => Promise.all(messages.map((message) => receiver.fetch(deliveryOf(message))))
        proxy.stall(what)
        for (const { status } of await deliver()) expect(status).toBe(503)
        expect(handled).toHaveLength(0)
        expect(new Set(rejections.map(({ reason }) => reason))).toEqual(new Set(['store_unavailable']))
        expect(errors).toHaveLength(messages.length)
        for (const { error, context } of errors) {
          expect(context.stage).toBe('claim')
          expect((error as Error).message).toMatch(/claim\(\) did not answer within 300 ms/)
        }
        proxy.resume()
        // Claims that came through late were given back, long before their leases would have ended.
        await expect.poll(async () => (await deliver()).every(({ status }) => status === 200)).toBe(true)
        expect(handled).toHaveLength(messages.length)
      },
    )

    test.each(cases)(
      '$client, $what held back under the handler: 200 all the same, recorded when it is back',
      async ({ what, open }) => {
        const { store, proxy } = await stallable(open)
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
        proxy.stall(what)
        running.resolve()
        expect((await first).status).toBe(200)
        proxy.resume()
        const again = await receiver.fetch(deliveryOf(message))
        expect(await again.json()).toEqual({ ok: true, result: 'duplicate' })
        expect(handled).toHaveLength(1)
        expect(errors).toEqual([])
        await receiver.close()
      },
    )
  })
}

describe.skipIf(skipsWithout(redis.name, redis.missingPrivate))('a Redis that is full and evicts nothing', () => {
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
    '%s: 503 while it is full, nothing handled, and once in the end',
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
      for (const answer of await deliver()) expect(await answer.json()).toMatchObject({ result: 'duplicate' })
      expect(handled).toHaveLength(messages.length)
    },
  )

  test.each(Object.entries(redisClients))(
    '%s: full under the handler, the work is done, and told that it is not recorded',
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
