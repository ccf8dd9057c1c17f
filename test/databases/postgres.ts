import { execFileSync, type StdioOptions } from 'node:child_process'
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

/** The data of one server or of several, with one password, in a temporary folder. */
export interface PostgresFiles {
  readonly folder: string
  readonly password: string
  /** Runs a program of PostgreSQL as the user that owns the files. */
  run(name: string, args: readonly string[]): void
  /** Starts a server. Its log must match `ready`. */
  start(data: string, port: number, ready?: RegExp): Promise<ServerProcess>
  /** Writes a file that the server can read. */
  write(file: string, text: string): void
  remove(): void
}

/** Creates the data of a server in the folder `data`. */
export function createPostgresFiles(): PostgresFiles {
  if (initdb === undefined || program === undefined || noProgram !== undefined) throw new Error(noProgram)
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-postgres-'))
  const password = randomUUID()
  const identity = owner ?? {}
  const files: PostgresFiles = {
    folder,
    password,
    run(name, args) {
      const env = { ...process.env, PGPASSWORD: password }
      const stdio: StdioOptions = ['ignore', 'ignore', 'pipe']
      execFileSync(findProgram(name) ?? name, args, { ...identity, cwd: folder, env, stdio })
    },
    start: (data, port, ready = /database system is ready to accept connections/) =>
      startServer(
        program,
        // -F switches fsync off. No test crashes the operating system.
        ['-D', join(folder, data), '-p', `${port}`, '-h', '127.0.0.1', '-k', '', '-F', '-c', 'max_connections=200'],
        ready,
        { ...identity, cwd: folder },
      ),
    write(file, text) {
      writeFileSync(join(folder, file), text)
      if (owner) chownSync(join(folder, file), owner.uid, owner.gid)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
  chmodSync(folder, 0o700)
  if (owner) chownSync(folder, owner.uid, owner.gid)
  files.write('password', `${password}\n`)
  const access = ['-U', 'campaign', '-A', 'scram-sha-256', '--pwfile=password']
  files.run('initdb', ['-D', 'data', ...access, '-E', 'UTF8', '--locale=C.UTF-8', '-N'])
  return files
}

async function startPrivate(): Promise<PrivateDatabase> {
  const files = createPostgresFiles()
  const port = await freePort()
  let server = await files.start('data', port)
  return {
    url: `postgres://campaign:${files.password}@127.0.0.1:${port}/postgres`,
    // SIGQUIT is PostgreSQL's immediate shutdown, with recovery at the next start and without orphaned processes.
    kill: () => server.stop('SIGQUIT'),
    restart: async () => {
      server = await files.start('data', port)
    },
    stop: async () => {
      await server.stop('SIGQUIT')
      files.remove()
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
