import { afterAll, beforeAll } from 'vitest'
import type { Database } from './database.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'

/** Why tests of both servers are skipped; `undefined` if they can run. */
export const bothMissing =
  [postgres.missing, redis.missing].filter((reason) => reason !== undefined).join('; ') || undefined

/** Starts both servers for the tests of a `describe`. The fields are set when a test runs. */
export function startBoth(): { readonly postgres: Database; readonly redis: Database } {
  const servers = {} as { postgres: Database; redis: Database }
  beforeAll(async () => {
    servers.postgres = await postgres.start()
    servers.redis = await redis.start()
  })
  afterAll(async () => {
    await servers.postgres?.stop()
    await servers.redis?.stop()
  })
  return servers
}
