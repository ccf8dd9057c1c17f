import { postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import { matches, thrown } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'

/** The stores of deliveries. */
export const stores: readonly Behaviour[] = [
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
