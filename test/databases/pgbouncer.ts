import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, freePort, startServer, systemUser } from '../machine/server-process.ts'
import type { Database } from './database.ts'

const program = findProgram('pgbouncer')
/** It refuses to run as root. */
const owner = process.getuid?.() === 0 ? systemUser('postgres') : undefined

/** Why there can be no pooler here; `undefined` when there can. */
export const pgbouncerMissing =
  program === undefined
    ? 'no pgbouncer is installed (Debian: apt-get install pgbouncer)'
    : process.getuid?.() === 0 && owner === undefined
      ? 'pgbouncer refuses to run as root and there is no user "postgres" to run it as'
      : undefined

/** A pgbouncer in front of a server: each transaction, and each statement outside of one, on any of `connections`. */
export async function startPgbouncer(server: Database, connections: number): Promise<Database> {
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
