import { randomUUID } from 'node:crypto'
import { redisStore } from 'campaign-client/webhook/redis'
import Ioredis from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe } from 'vitest'
import { redis } from '../services/redis.ts'
import { type Service, skipsWithout } from '../services/service.ts'
import { storeContract } from './contract.ts'

describe.skipIf(skipsWithout(redis.name, redis.missing))('redisStore over a real Redis', () => {
  const prefix = `test-${randomUUID()}:`
  let service: Service
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
    storeContract(() => redisStore(nodeRedis, { prefix }), { checksArguments: true })
  })

  describe('with the client of ioredis', () => {
    storeContract(() => redisStore(ioredis, { prefix }), { checksArguments: true })
  })
})
