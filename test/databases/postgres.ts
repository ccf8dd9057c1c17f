import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, freePort, type ServerProcess, startServer, systemUser } from '../support/server-process.ts'
import type { DatabaseSource, PrivateDatabase } from './database.ts'

const address = process.env.CAMPAIGN_TEST_POSTGRES_URL
const initdb = findProgram('initdb')
const program = findProgram('postgres')
/** The user that runs PostgreSQL, because PostgreSQL refuses to run as root. Debian's package creates the user. */
const owner = process.getuid?.() === 0 ? systemUser('postgres') : undefined
const noProgram =
  initdb === undefined || program === undefined
    ? 'no PostgreSQL server is installed (Debian: apt-get install postgresql)'
    : process.getuid?.() === 0 && owner === undefined
      ? 'PostgreSQL refuses to run as root and there is no user "postgres"'
      : undefined

async function startPrivate(): Promise<PrivateDatabase> {
  if (initdb === undefined || program === undefined || noProgram !== undefined) throw new Error(noProgram)
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-postgres-'))
  const data = join(folder, 'data')
  const password = randomUUID()
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, `${password}\n`)
  chmodSync(folder, 0o700)
  if (owner) {
    chownSync(folder, owner.uid, owner.gid)
    chownSync(passwordFile, owner.uid, owner.gid)
  }
  const identity = owner ?? {}
  execFileSync(
    initdb,
    [
      '-D',
      data,
      '-U',
      'campaign',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      '-N',
    ],
    { ...identity, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const port = await freePort()
  const start = () =>
    startServer(
      program,
      // -F switches fsync off. No test crashes the operating system.
      ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', '', '-F', '-c', 'max_connections=200'],
      /database system is ready to accept connections/,
      { ...identity, cwd: folder },
    )
  let server: ServerProcess = await start()
  return {
    url: `postgres://campaign:${password}@127.0.0.1:${port}/postgres`,
    // SIGQUIT is PostgreSQL's immediate shutdown, with recovery at the next start and without orphaned processes.
    kill: () => server.stop('SIGQUIT'),
    restart: async () => {
      server = await start()
    },
    stop: async () => {
      await server.stop('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL at CAMPAIGN_TEST_POSTGRES_URL, or a new server with its data in a temporary folder. */
export const postgres: DatabaseSource = {
  name: 'PostgreSQL',
  missing: address === undefined ? noProgram && `CAMPAIGN_TEST_POSTGRES_URL is not set and ${noProgram}` : undefined,
  missingPrivate: noProgram,
  start: async () => (address === undefined ? startPrivate() : { url: address, stop: async () => undefined }),
  startPrivate,
}
