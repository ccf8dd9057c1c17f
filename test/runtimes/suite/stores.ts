import { type DeliveryStore, memoryStore } from 'campaign-client/webhook'
import { postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import { equal, matches, thrown } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'

/** The stores of deliveries. */
export const stores: readonly Behaviour[] = [
  {
    name: 'memoryStore: claims once, checks the token and removes old entries',
    async run() {
      let now = 0
      const store = memoryStore({ now: () => now })
      const token = await claimed(store)
      matches(await store.claim('key', 100), { state: 'busy', retryMs: 100 })
      equal(await store.extend('key', 'another token', 100), false, 'extended with another token')
      now = 90
      equal(await store.extend('key', token, 100), true, 'extended')
      now = 195
      const taken = await claimed(store)
      equal(await store.complete('key', token, 1000), false, 'completed with an expired claim')
      await store.release('key', token)
      equal(await store.complete('key', taken, 1000), true, 'completed')
      matches(await store.claim('key', 100), { state: 'done' })
      now = 1195
      await store.release('key', await claimed(store))
      await claimed(store)
    },
  },
  {
    name: 'redisStore and postgresStore load and refuse an invalid client',
    run() {
      for (const make of [redisStore, postgresStore]) {
        matches(
          thrown(() => make({} as never)),
          { code: 'configuration' },
        )
      }
    },
  },
]

async function claimed(store: DeliveryStore): Promise<string> {
  const result = await store.claim('key', 100)
  if (result.state !== 'claimed') throw new Error(`expected a claim, got ${result.state}`)
  return result.token
}
