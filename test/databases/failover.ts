import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { expect, vi } from 'vitest'
import { findProgram, freePort, type ServerProcess, startServer } from '../support/server-process.ts'
import { startSwitchingProxy } from '../support/switching-proxy.ts'
import { createPostgresFiles } from './postgres.ts'

/** A primary and its replica, behind one address. */
export interface FailoverServers {
  /** The address of the primary, through a proxy. */
  readonly url: string
  /** Makes the primary the replica and the replica the primary. The address still leads to the old primary. */
  failOver(): Promise<void>
  /** Sends new connections to the new primary. Open connections stay on the old one. */
  switchAddress(): void
  stop(): Promise<void>
}

/** How long a server has for a change of its role, on a slow machine. */
const ROLE_CHANGE = { timeout: 30_000, interval: 50 }

/** Starts two PostgreSQL servers: a primary, and a standby that streams from it. */
export async function startPostgresFailover(): Promise<FailoverServers> {
  const files = createPostgresFiles()
  const oldPort = await freePort()
  const connection = (port: number) => `host=127.0.0.1 port=${port} user=campaign password=${files.password}`
  const url = (port: number) => `postgres://campaign:${files.password}@127.0.0.1:${port}/postgres`
  const asStandby = (data: string, port: number) => files.start(data, port, /ready to accept read-only connections/)

  let old: ServerProcess = await files.start('data', oldPort)
  files.run('pg_basebackup', ['-d', connection(oldPort), '-D', 'standby', '-R', '-X', 'stream', '-c', 'fast'])
  const newPort = await freePort()
  const standby = await asStandby('standby', newPort)
  const proxy = await startSwitchingProxy(oldPort)
  return {
    url: url(proxy.port),
    async failOver() {
      // A fast shutdown waits until the standby has everything.
      await old.stop('SIGINT')
      const admin = new Pool({ connectionString: url(newPort), max: 1 })
      await admin.query('SELECT pg_promote(true, 30)')
      await admin.end()
      files.write('data/standby.signal', '')
      const settings = join(files.folder, 'data/postgresql.auto.conf')
      appendFileSync(settings, `primary_conninfo = '${connection(newPort)}'\n`)
      // Another program may have taken the old port meanwhile.
      const port = await freePort()
      old = await asStandby('data', port)
      proxy.switchTo(port)
    },
    switchAddress: () => proxy.switchTo(newPort),
    async stop() {
      await proxy.close()
      for (const server of [old, standby]) await server.stop('SIGQUIT')
      files.remove()
    },
  }
}

/** Starts two Redis servers: a primary and its replica. */
export async function startRedisFailover(): Promise<FailoverServers> {
  const program = findProgram('redis-server')
  if (program === undefined) throw new Error('no redis-server is installed')
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-redis-'))
  const password = randomUUID()
  const start = async () => {
    const port = await freePort()
    const secrets = ['--requirepass', password, '--masterauth', password]
    const options = [
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--repl-diskless-sync-delay',
      '0',
    ]
    const server = await startServer(program, [...options, ...secrets], /Ready to accept connections/)
    return { port, server, admin: new Redis({ port, password }) }
  }
  const [old, replica] = [await start(), await start()]
  const follow = async (follower: typeof old, leader: typeof old) => {
    await follower.admin.replicaof('127.0.0.1', leader.port)
    const expectFollows = async () =>
      expect(await follower.admin.info('replication')).toContain('master_link_status:up')
    await vi.waitFor(expectFollows, ROLE_CHANGE)
  }
  await follow(replica, old)
  const proxy = await startSwitchingProxy(old.port)
  return {
    url: `redis://default:${password}@127.0.0.1:${proxy.port}`,
    async failOver() {
      await replica.admin.replicaof('NO', 'ONE')
      await follow(old, replica)
    },
    switchAddress: () => proxy.switchTo(replica.port),
    async stop() {
      await proxy.close()
      for (const { admin, server } of [old, replica]) {
        admin.disconnect()
        await server.stop('SIGKILL')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
