import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findProgram, freePort, type ServerProcess, startServer } from '../support/server-process.ts'

const run = promisify(execFile)
const server = findProgram('redis-server')
const cli = findProgram('redis-cli')

/** Why tests of a cluster are skipped; `undefined` if they can run. */
export const clusterMissing =
  server === undefined || cli === undefined
    ? `no ${server === undefined ? 'redis-server' : 'redis-cli'} is installed (Debian: apt-get install redis-server)`
    : undefined

/** A cluster of three masters on loopback, without replicas. */
export interface RedisCluster {
  readonly password: string
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  /** Sends a command to one node. Resolves to the text of the response. */
  command(node: number, ...args: string[]): Promise<string>
  stop(): Promise<void>
}

/** The nodes connect to each other on a second port. In older servers, it is 10 000 above the first port. */
const BUS_OFFSET = 10_000

async function freePortPair(): Promise<number> {
  for (;;) {
    const port = await freePort()
    if (port + BUS_OFFSET > 65_535) continue
    const bus = await freePort(port + BUS_OFFSET).catch(() => undefined)
    if (bus !== undefined) return port
  }
}

/** Starts a cluster of three nodes. This takes about three seconds. */
export async function startRedisCluster(): Promise<RedisCluster> {
  if (server === undefined || cli === undefined) throw new Error(clusterMissing)
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-redis-cluster-'))
  const password = randomUUID()
  const processes: ServerProcess[] = []
  const nodes: { host: string; port: number }[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.stop('SIGKILL')))
    rmSync(folder, { recursive: true, force: true })
  }
  const ask = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(cli, args, { env: { ...process.env, REDISCLI_AUTH: password } })
    return stdout.trim()
  }
  const command = (node: number, ...args: string[]) => ask('-p', `${nodes[node]?.port}`, ...args)
  try {
    for (let node = 0; node < 3; node++) {
      const port = await freePortPair()
      const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '']
      const secrets = ['--requirepass', password, '--masterauth', password]
      const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`]
      processes.push(await startServer(server, [...options, ...secrets, ...cluster], /Ready to accept connections/))
      nodes.push({ host: '127.0.0.1', port })
    }
    await ask('--cluster', 'create', ...nodes.map(({ host, port }) => `${host}:${port}`), '--cluster-yes')
    for (const node of nodes.keys()) {
      while (!/cluster_state:ok/.test(await command(node, 'CLUSTER', 'INFO'))) await wait(50)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { password, nodes, command, stop }
}
