import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import connect, { type Sql } from 'postgres'
import { afterAll, beforeAll } from 'vitest'
import { findProgram, freePort, startServer, systemUser } from '../support/server-process.ts'
import type { Database } from './database.ts'
import { postgres } from './postgres.ts'

const program = findProgram('pgbouncer')
/** The user that runs pgbouncer, because pgbouncer refuses to run as root. */
const owner = process.getuid?.() === 0 ? systemUser('postgres') : undefined

/** Why tests behind pgbouncer are skipped; `undefined` if they can run. */
export const pgbouncerMissing =
  program === undefined
    ? 'no pgbouncer is installed (Debian: apt-get install pgbouncer)'
    : process.getuid?.() === 0 && owner === undefined
      ? 'pgbouncer refuses to run as root and there is no user "postgres"'
      : postgres.missing

export const CLIENT_CONNECTIONS = 10
/** Fewer connections than the clients have, so that their statements often change connections. */
const SERVER_CONNECTIONS = 3

/**
 * Starts PostgreSQL behind pgbouncer for the tests of a `describe`.
 *
 * @returns the address of pgbouncer and a client of each package, which exist while the tests run
 */
export function databaseBehindPgbouncer(): { readonly url: string; readonly pool: Pool; readonly sql: Sql } {
  let server: Database
  let bouncer: Database
  let pool: Pool
  let sql: Sql
  beforeAll(async () => {
    server = await postgres.start()
    bouncer = await startPgbouncer(server, SERVER_CONNECTIONS)
    pool = new Pool({ connectionString: bouncer.url, max: CLIENT_CONNECTIONS })
    pool.on('error', () => undefined)
    sql = connect(bouncer.url, { max: CLIENT_CONNECTIONS, prepare: false, fetch_types: false })
  })
  afterAll(async () => {
    // A query without a response fails its test, not the end of all tests.
    await sql?.end({ timeout: 5 })
    await pool?.end()
    await bouncer?.stop()
    await server?.stop()
  })
  return {
    get url() {
      return bouncer.url
    },
    get pool() {
      return pool
    },
    get sql() {
      return sql
    },
  }
}

/** Starts pgbouncer in transaction mode: each transaction may run on another of the server connections. */
export async function startPgbouncer(server: Pick<Database, 'url'>, connections: number): Promise<Database> {
  if (program === undefined) throw new Error(pgbouncerMissing)
  const { hostname, port: serverPort, username, password, pathname } = new URL(server.url)
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-pgbouncer-'))
  const port = await freePort()
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: join(folder, 'users'),
    pool_mode: 'transaction',
    default_pool_size: connections,
    max_client_conn: 200,
    ignore_startup_parameters: 'extra_float_digits',
  }
  const files = {
    users: `"${username}" "${decodeURIComponent(password)}"\n`,
    config: [
      '[databases]',
      `${pathname.slice(1)} = host=${hostname} port=${serverPort}`,
      '[pgbouncer]',
      ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
      '',
    ].join('\n'),
  }
  chmodSync(folder, 0o700)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  if (owner)
    for (const path of [folder, join(folder, 'users'), join(folder, 'config')]) chownSync(path, owner.uid, owner.gid)
  const bouncer = await startServer(program, [join(folder, 'config')], /process up/, { ...owner, cwd: folder })
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`,
    stop: async () => {
      await bouncer.stop('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
