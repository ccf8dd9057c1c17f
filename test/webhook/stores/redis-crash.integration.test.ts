import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DeliveryStore } from 'campaign-client/webhook'
import { redisStore } from 'campaign-client/webhook/redis'
import Ioredis from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest'
import type { Database } from '../../databases/database.ts'
import { redis } from '../../databases/redis.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { crashContract } from './crash.ts'
import { expectHandledOnce, SimulatedCrash, simulateCrashes, sizeOf } from './crash-simulation.ts'

describe.skipIf(skipsWithout(redis.name, redis.missing))('redisStore when processes die', () => {
  const prefix = `test-${randomUUID()}:`
  let service: Database

  beforeAll(async () => {
    service = await redis.start()
  })
  afterAll(() => service?.stop())

  describe.concurrent.each(['redis', 'ioredis'] as const)('with %s,', (client) => {
    crashContract(client, () => ({ url: service.url, namespace: `${prefix}crash-${client}:` }), { exactlyOnce: false })
  })

  describe('many deliveries, each in two copies, to processes that crash at random points', () => {
    const count = sizeOf(20_000)
    const work = async (_: string, crashes: boolean): Promise<boolean> => {
      await nextTurn()
      if (crashes) throw new SimulatedCrash()
      return true
    }

    const expectNoneLost = async (store: DeliveryStore, seed: number): Promise<void> => {
      const report = await simulateCrashes(store, { count, concurrency: 100, leaseMs: 1000, seed }, work)
      await expectHandledOnce(store, report, count)
    }

    test('with redis, none is lost, and none is handled twice at once', async () => {
      const client = createClient({ url: service.url })
      await client.connect()
      onTestFinished(() => client.destroy())
      await expectNoneLost(redisStore(client, { prefix }), 0)
    })

    test('with ioredis, none is lost, and none is handled twice at once', async () => {
      const client = new Ioredis(service.url)
      onTestFinished(() => client.disconnect())
      await expectNoneLost(redisStore(client, { prefix }), 1)
    })
  })
})
