import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, freePort, type ServerProcess, startServer } from '../support/server-process.ts'
import type { DatabaseSource, PrivateDatabase } from './database.ts'

const address = process.env.CAMPAIGN_TEST_REDIS_URL
const program = findProgram('redis-server')
const noProgram =
  program === undefined ? 'no redis-server is installed (Debian: apt-get install redis-server)' : undefined

async function startPrivate(): Promise<PrivateDatabase> {
  if (program === undefined) throw new Error(noProgram)
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-redis-'))
  const port = await freePort()
  const password = randomUUID()
  const start = () =>
    startServer(
      program,
      // No test needs the data after a restart.
      ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--requirepass', password],
      /Ready to accept connections/,
    )
  let server: ServerProcess = await start()
  return {
    url: `redis://default:${password}@127.0.0.1:${port}`,
    kill: () => server.stop('SIGKILL'),
    restart: async () => {
      server = await start()
    },
    stop: async () => {
      await server.stop('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Redis at CAMPAIGN_TEST_REDIS_URL, or a new redis-server on a free loopback port. */
export const redis: DatabaseSource = {
  name: 'Redis',
  missing: address === undefined ? noProgram && `CAMPAIGN_TEST_REDIS_URL is not set and ${noProgram}` : undefined,
  missingPrivate: noProgram,
  start: async () => (address === undefined ? startPrivate() : { url: address, stop: async () => undefined }),
  startPrivate,
}
