import { randomUUID } from 'node:crypto'
import { ConfigurationError } from 'campaign-client'
import { type IoredisClient, type NodeRedisClient, redisStore } from 'campaign-client/webhook/redis'
import Ioredis from 'ioredis'
import { createClient, createClientPool } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../databases/database.ts'
import { redis } from '../../databases/redis.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { clockContract, durationContract, storeContract } from './contract.ts'
import { expectOutageHandled } from './outage.ts'
import { claimed, claimWhenFree, freshKey } from './store-clock.ts'

describe.skipIf(skipsWithout(redis.name, redis.missing))('redisStore over a real Redis', () => {
  const prefix = `test-${randomUUID()}:`
  let service: Database
  let nodeRedis: ReturnType<typeof createClient>
  let ioredis: Ioredis

  beforeAll(async () => {
    service = await redis.start()
    nodeRedis = createClient({ url: service.url })
    await nodeRedis.connect()
    ioredis = new Ioredis(service.url)
  })

  afterAll(async () => {
    nodeRedis?.destroy()
    ioredis?.disconnect()
    await service?.stop()
  })

  describe('with the client of redis', () => {
    storeContract(() => redisStore(nodeRedis, { prefix }))
    durationContract(() => redisStore(nodeRedis, { prefix }))
  })

  describe('with the client of ioredis', () => {
    storeContract(() => redisStore(ioredis, { prefix }))
    durationContract(() => redisStore(ioredis, { prefix }))
  })

  const clients = (): [string, NodeRedisClient | IoredisClient][] => [
    ['redis', nodeRedis],
    ['ioredis', ioredis],
  ]

  test('both clients see the same deliveries', async () => {
    const key = freshKey()
    const token = await claimed(redisStore(nodeRedis, { prefix }), key, 60_000)
    expect((await redisStore(ioredis, { prefix }).claim(key, 60_000)).state).toBe('busy')
    expect(await redisStore(ioredis, { prefix }).complete(key, token, 60_000)).toBe(true)
    expect((await redisStore(nodeRedis, { prefix }).claim(key, 60_000)).state).toBe('done')
  })

  test('a pool of redis works, and so does a client that returns numbers as text', async () => {
    const pool = createClientPool({ url: service.url })
    const texts = new Ioredis(service.url, { stringNumbers: true })
    try {
      await pool.connect()
      for (const client of [pool, texts]) {
        const store = redisStore(client, { prefix })
        const key = freshKey()
        const token = await claimed(store, key, 60_000)
        expect(await store.claim(key, 1)).toMatchObject({ state: 'busy', retryMs: expect.any(Number) })
        expect(await store.complete(key, token, 60_000)).toBe(true)
        expect(await store.claim(key, 1)).toEqual({ state: 'done' })
      }
    } finally {
      pool.destroy()
      texts.disconnect()
    }
  })

  test('stores with different prefixes are separate', async () => {
    const key = freshKey()
    await claimed(redisStore(nodeRedis, { prefix: `${prefix}a:` }), key, 60_000)
    await claimed(redisStore(nodeRedis, { prefix: `${prefix}b:` }), key, 60_000)
  })

  test('every record is one key under the prefix, and expires', async () => {
    const store = redisStore(nodeRedis, { prefix: `${prefix}one:` })
    const held = freshKey()
    const done = freshKey()
    await claimed(store, held, 60_000)
    await store.complete(done, await claimed(store, done, 60_000), 600_000)
    expect((await nodeRedis.keys(`${prefix}one:*`)).sort()).toEqual(
      [`${prefix}one:${held}`, `${prefix}one:${done}`].sort(),
    )
    expect(await nodeRedis.pTTL(`${prefix}one:${held}`)).toBeGreaterThan(0)
    expect(await nodeRedis.pTTL(`${prefix}one:${done}`)).toBeGreaterThan(60_000)
  })

  test('a user with only the documented rights can use the store', async () => {
    const name = `user-${randomUUID()}`
    const password = randomUUID()
    const commands = ['+eval', '+get', '+set', '+del', '+pttl', '+pexpire']
    await nodeRedis.sendCommand(['ACL', 'SETUSER', name, 'on', `>${password}`, `~${prefix}*`, ...commands])
    const { hostname, port } = new URL(service.url)
    const limited = new Ioredis({
      host: hostname,
      port: Number(port),
      username: name,
      password,
      enableReadyCheck: false,
    })
    limited.on('error', () => undefined)
    try {
      const store = redisStore(limited, { prefix })
      const key = freshKey()
      const token = await claimed(store, key, 60_000)
      expect(await store.extend(key, token, 60_000)).toBe(true)
      await store.release(key, token)
      expect(await store.complete(key, await claimed(store, key, 60_000), 60_000)).toBe(true)
      expect((await store.claim(key, 60_000)).state).toBe('done')
    } finally {
      limited.disconnect()
      await nodeRedis.sendCommand(['ACL', 'DELUSER', name])
    }
  })

  test('a value that another program wrote under the prefix is reported and not changed', async () => {
    for (const [, client] of clients()) {
      const store = redisStore(client, { prefix })
      const text = freshKey()
      await nodeRedis.set(prefix + text, 'a session of the shop')
      await expect(store.claim(text, 1000)).rejects.toThrow(/give redisStore its own prefix/)
      expect(await store.complete(text, 'token', 1000)).toBe(false)
      await store.release(text, 'token')
      expect(await nodeRedis.get(prefix + text)).toBe('a session of the shop')
      const list = freshKey()
      await nodeRedis.lPush(prefix + list, 'x')
      await expect(store.claim(list, 1000)).rejects.toThrow(/WRONGTYPE/)
    }
  })

  test('a claim that lost its expiry ends after a lease', async () => {
    const store = redisStore(nodeRedis, { prefix })
    const key = freshKey()
    await claimed(store, key, 60_000)
    await nodeRedis.persist(prefix + key)
    expect(await store.claim(key, 30)).toEqual({ state: 'busy', retryMs: 30 })
    await claimWhenFree(store, key)
  })

  clockContract(
    () => redisStore(nodeRedis, { prefix }),
    async (keys, ms) => {
      for (const key of keys) await nodeRedis.pExpire(prefix + key, 60_000 + ms)
    },
  )

  test('a claim that the client sends twice is one claim', async () => {
    // ioredis sends a command again when the connection is lost before the reply.
    const sentTwice: IoredisClient = {
      defineCommand: () => undefined,
      async eval(script, keyCount, ...args) {
        await ioredis.eval(script, keyCount, ...args)
        return ioredis.eval(script, keyCount, ...args)
      },
    }
    const store = redisStore(sentTwice, { prefix })
    const key = freshKey()
    const token = await claimed(store, key, 60_000)
    expect((await redisStore(ioredis, { prefix }).claim(key, 60_000)).state).toBe('busy')
    expect(await store.complete(key, token, 60_000)).toBe(true)
  })

  test('scripts work after SCRIPT FLUSH', async () => {
    const store = redisStore(nodeRedis, { prefix })
    const key = freshKey()
    const token = await claimed(store, key, 60_000)
    await nodeRedis.sendCommand(['SCRIPT', 'FLUSH'])
    expect(await store.complete(key, token, 60_000)).toBe(true)
  })
})

describe.skipIf(skipsWithout('redis-server', redis.missingPrivate))('redisStore while Redis is down', () => {
  test.each(['redis', 'a pool of redis', 'ioredis'])(
    '%s: calls reject and the receiver responds with 503, until Redis runs again',
    async (name) => {
      const service = await redis.startPrivate()
      const options = { url: service.url, disableOfflineQueue: true, socket: { reconnectStrategy: 10 } }
      const nodeRedis = createClient(options)
      const pool = createClientPool(options)
      const ioredis = new Ioredis(service.url, {
        lazyConnect: true,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        retryStrategy: () => 10,
      })
      nodeRedis.on('error', () => undefined)
      pool.on('error', () => undefined)
      ioredis.on('error', () => undefined)
      try {
        const client = { redis: nodeRedis, 'a pool of redis': pool, ioredis }[name]
        if (client === undefined) expect.unreachable(name)
        await client.connect()
        await expectOutageHandled(service, redisStore(client), { keepsRecords: false })
      } finally {
        for (const client of [nodeRedis, pool]) if (client.isOpen) client.destroy()
        ioredis.disconnect()
        await service.stop()
      }
    },
  )
})

describe('the reply of a script', () => {
  const clientOf = (reply: () => unknown) => ({ defineCommand: () => undefined, eval: reply }) as IoredisClient
  const replying = (reply: unknown) => clientOf(async () => reply)

  test.each<[string, IoredisClient]>([
    ...['QUEUED', '', null, undefined, true, [-1], 1.5, '1.5', -4].map((reply): [string, IoredisClient] => [
      JSON.stringify(reply),
      replying(reply),
    ]),
    // redis 4 with legacyMode, and legacy() of redis 6: the callback gets the reply.
    ['nothing, as with callbacks', clientOf(() => undefined)],
    ['a transaction of redis', createClient().multi() as never],
    ['a pipeline of ioredis', new Ioredis({ lazyConnect: true }).pipeline() as never],
  ])('of another form is refused: %s', async (_, client) => {
    const store = redisStore(client)
    for (const call of [() => store.claim('key', 1000), () => store.complete('key', 'token', 1000)]) {
      const error = await call().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(ConfigurationError)
      expect(String(error)).toMatch(
        /redisStore can't read the replies .* must be a client of "redis" 4 .* or of "ioredis" .* outside MULTI/,
      )
    }
  })

  test.each([[0], [1], [2], [3], ['1'], [1n]])('means busy if it is a number of milliseconds: %s', async (reply) => {
    const result = await redisStore(replying(reply)).claim('key', 1000)
    expect(result).toEqual({ state: 'busy', retryMs: Number(reply) })
  })
})

test('the default prefix is campaign:delivery:', async () => {
  const keys: unknown[] = []
  const client: IoredisClient = {
    defineCommand: () => undefined,
    async eval(_script, _keyCount, ...args) {
      keys.push(args[0])
      return 1
    },
  }
  await redisStore(client).complete('["campaign","m-1"]', 'a token', 1000)
  expect(keys).toEqual(['campaign:delivery:["campaign","m-1"]'])
})

describe('the arguments of redisStore', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a URL', 'redis://localhost'],
    ['an empty object', {}],
    ['a function', () => undefined],
    ['a client that has only eval', { eval: async () => 1 }],
  ])('%s is refused', (_, client) => {
    expect(() => redisStore(client as IoredisClient)).toThrow(
      /redisStore: client must be a client of "redis" 4 or newer/,
    )
    expect(() => redisStore(client as IoredisClient)).toThrow(ConfigurationError)
  })

  test.each(['', 'a b', 'a\nb', 'ä:', 'x'.repeat(201), 5 as unknown as string])(
    'the prefix %j is refused',
    (prefix) => {
      const client: IoredisClient = { eval: async () => 1, defineCommand: () => undefined }
      expect(() => redisStore(client, { prefix })).toThrow(/^redisStore: prefix must be/)
    },
  )
})
