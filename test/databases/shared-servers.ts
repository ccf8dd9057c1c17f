import type { Database } from './database.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'

/**
 * Starts one PostgreSQL and one Redis for a run of all tests, because PostgreSQL needs a second to start. Test files that are
 * run by name start the servers that they need.
 *
 * @returns a function that stops the servers
 */
export default async function startSharedServers(): Promise<() => Promise<void>> {
  const started: Database[] = []
  const share = async ({ missing, start }: typeof postgres, variable: string): Promise<void> => {
    if (missing !== undefined || process.env[variable] !== undefined) return
    const server = await start()
    started.push(server)
    process.env[variable] = server.url
  }
  const namesFiles = process.argv.slice(2).some((word) => word !== 'run' && !word.startsWith('-'))
  if (!namesFiles) {
    await share(postgres, 'CAMPAIGN_TEST_POSTGRES_URL')
    await share(redis, 'CAMPAIGN_TEST_REDIS_URL')
  }
  return async () => {
    for (const server of started) await server.stop()
  }
}
