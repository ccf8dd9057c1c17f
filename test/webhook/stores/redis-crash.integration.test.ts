import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Database } from '../../databases/database.ts'
import { redis } from '../../databases/redis.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { crashContract } from './crash.ts'

describe.skipIf(skipsWithout(redis.name, redis.missing))('redisStore when processes die', () => {
  let service: Database
  beforeAll(async () => {
    service = await redis.start()
  })
  afterAll(() => service?.stop())

  crashContract('redis', () => ({ url: service.url, namespace: `test-${randomUUID()}:` }), { exactlyOnce: false })
})
