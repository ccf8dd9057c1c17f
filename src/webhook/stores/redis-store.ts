/**
 * A store for webhook deliveries in Redis, over your own client.
 *
 * @module campaign-client/webhook/redis
 */
import { ConfigurationError } from '../../errors/client-errors.ts'
import { issuesAt, type OptionRule, type OptionRules, optional, readOptions } from '../../errors/option-checks.ts'
import { MAX_CLAIM_MS } from '../../shared/delivery-schedule.ts'
import { withTimeLimit } from '../../shared/timers.ts'
import { hasMethod, typeName } from '../../shared/type-checks.ts'
import {
  type ClaimResult,
  type DeliveryStore,
  LateClaims,
  requireKey,
  requireLease,
  requireMilliseconds,
} from './delivery-store.ts'

/**
 * The methods of a client of the `redis` package (versions 4, 5 and 6) that `redisStore` uses. Create the client with
 * `createClient`, `createClientPool` or `createCluster`.
 */
export interface NodeRedisClient {
  /** Runs a Lua script. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** This method identifies a client of `redis`. */
  EVAL(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** The methods of a client of the `ioredis` package (`Redis` or `Cluster`) that `redisStore` uses. */
export interface IoredisClient {
  /** Runs a Lua script. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** This method identifies a client of ioredis. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void
}

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /**
   * The prefix of every key of the store: 1 to 200 printable ASCII characters without spaces. Receivers of one endpoint
   * must use the same prefix.
   *
   * @defaultValue `'campaign:delivery:'`
   */
  prefix?: string | undefined
}

const rules = (): OptionRules<RedisStoreOptions> => ({
  prefix: optional((value) =>
    typeof value === 'string' && /^[!-~]{1,200}$/.test(value)
      ? undefined
      : 'must be 1 to 200 printable ASCII characters without spaces',
  ),
})

type Run = (script: string, key: string, ...args: string[]) => Promise<unknown>

const CLAIMED = -1
const DONE = -2
const FOREIGN = -3

// The value of a key is `claim:` or `done:`, followed by the claim's token. It expires with the lease or the retention.
// Each script uses one key, so it is atomic and works in a cluster. EVAL needs no SCRIPT LOAD on a new or restarted node.

// ioredis retries a command when the connection is lost before the reply. The retry of a claim finds its own token. A claim
// without expiry (PERSIST, or a restored dump) would block its message forever, so it gets the lease. A claim with more
// than `MAX_CLAIM_MS` left was made before the server's clock was set back, and counts as expired.
const CLAIM = `
local record = redis.call('GET', KEYS[1])
if record and record ~= 'claim:' .. ARGV[1] then
  if string.sub(record, 1, 5) == 'done:' then return ${DONE} end
  if string.sub(record, 1, 6) ~= 'claim:' then return ${FOREIGN} end
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    return tonumber(ARGV[2])
  end
  if left <= ${MAX_CLAIM_MS} then return left end
end
redis.call('SET', KEYS[1], 'claim:' .. ARGV[1], 'PX', ARGV[2])
return ${CLAIMED}`

const EXTEND = `
if redis.call('GET', KEYS[1]) ~= 'claim:' .. ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`

const COMPLETE = `
local record = redis.call('GET', KEYS[1])
if record and record ~= 'claim:' .. ARGV[1] and record ~= 'done:' .. ARGV[1] then return 0 end
redis.call('SET', KEYS[1], 'done:' .. ARGV[1], 'PX', ARGV[2])
return 1`

const RELEASE = `
if redis.call('GET', KEYS[1]) ~= 'claim:' .. ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1`

/**
 * Creates a delivery store in Redis 5 or newer (or Valkey), for receivers in several processes.
 *
 * Uses your client of `redis` or `ioredis`: connect and close it yourself. Writes one key per delivery, with one Lua script
 * per call, and uses the clock of the server. The client's ACL user needs the commands EVAL, GET, SET, DEL, PTTL and
 * PEXPIRE.
 *
 * Redis replicates and saves in the background. A crash or failover of the server may lose the last writes, and a delivery
 * may be handled again. Set `maxmemory-policy noeviction`: a delivery whose key was evicted is handled again. If handling a
 * message twice does harm, use `runOnce` of the PostgreSQL store.
 *
 * Configure the client not to queue commands while it is disconnected, and to detect a connection that no longer responds:
 * see "Redis" in docs/databases.md. Do not set `socketTimeout` of redis.
 *
 * See "Delivery and retries" in docs/the-service.md.
 *
 * @param client - a client of `redis` 4–6 (`createClient`, `createClientPool`, `createCluster`) or `ioredis` (`Redis`,
 *   `Cluster`)
 * @param options - the prefix of the keys
 * @returns a store. Its methods reject with the error of the client when Redis is unreachable, and with `Error` when it does
 *   not respond for 3 s, or when another program wrote the key. They reject with `TypeError` for an empty key, or a lease or
 *   retention that is not a positive number of milliseconds, and with `ConfigurationError` for a lease of more than 295 000
 *   ms, or when the client does not return the reply of a script. Stores with the same prefix share their deliveries.
 * @throws ConfigurationError when the client is of neither package, the prefix is malformed, or an option is misspelt
 *
 * @example
 * ```ts
 * import { createClientPool } from 'redis'
 * import { createWebhookReceiver } from 'campaign-client/webhook'
 * import { redisStore } from 'campaign-client/webhook/redis'
 *
 * const client = createClientPool({ url: process.env.REDIS_URL, disableOfflineQueue: true })
 * client.on('error', (error) => console.error(error))
 * await client.connect()
 * const receiver = createWebhookReceiver({ endpoint: 'orders', secret, store: redisStore(client), handle })
 * ```
 */
export function redisStore(client: NodeRedisClient | IoredisClient, options: RedisStoreOptions = {}): DeliveryStore {
  const clientIssues = issuesAt('client', mustBeRedisClient(client))
  const { prefix = 'campaign:delivery:' } = readOptions('redisStore', options, rules(), clientIssues)
  const run = runner(client)
  const redisKey = (key: string) => prefix + requireKey(key)
  const lateClaims = new LateClaims()
  const release = async (key: string, token: string): Promise<boolean> =>
    integer(await run(RELEASE, redisKey(key), token)) === 1

  return {
    async claim(key, leaseMs): Promise<ClaimResult> {
      const token = crypto.randomUUID()
      const lease = requireLease(leaseMs)
      let reply: number
      try {
        reply = integer(await run(CLAIM, redisKey(key), token, String(lease)))
      } catch (error) {
        // Redis may have made the claim. ioredis may still make it, by a retry after it reconnects.
        if (mayBeExecuted(error)) void lateClaims.release(lease, () => release(key, token))
        throw error
      }
      if (reply === CLAIMED) return { state: 'claimed', token }
      if (reply === DONE) return { state: 'done' }
      if (reply === FOREIGN) {
        throw new Error(`redisStore: another program wrote the key ${redisKey(key)}: give redisStore its own prefix`)
      }
      return { state: 'busy', retryMs: reply }
    },
    async extend(key, token, leaseMs) {
      return integer(await run(EXTEND, redisKey(key), token, String(requireLease(leaseMs)))) === 1
    },
    async complete(key, token, retainMs) {
      const retain = requireMilliseconds('retainMs', retainMs)
      return integer(await run(COMPLETE, redisKey(key), token, String(retain))) === 1
    },
    async release(key, token) {
      await release(key, token)
    },
  }
}

const YOUR_CLIENT =
  'a client of "redis" 4 or newer (createClient, createClientPool, createCluster) or of "ioredis" (Redis, Cluster)'

const isNodeRedis = (client: unknown): client is NodeRedisClient =>
  hasMethod(client, 'eval') && hasMethod(client, 'EVAL')

const mustBeRedisClient: OptionRule = (client) =>
  isNodeRedis(client) || (hasMethod(client, 'eval') && hasMethod(client, 'defineCommand'))
    ? undefined
    : `must be ${YOUR_CLIENT}, got ${typeName(client)}`

function runner(client: NodeRedisClient | IoredisClient): Run {
  if (isNodeRedis(client)) {
    if (isPool(client)) return (script, key, ...args) => runInPool(client, script, key, args)
    return (script, key, ...args) =>
      leavingReplica(client, inTime(client.eval(script, { keys: [key], arguments: args })))
  }
  return (script, key, ...args) => leavingReplica(client, inTime(client.eval(script, 1, key, ...args)))
}

/** A healthy server responds in milliseconds. */
const RESPONSE_TIMEOUT_MS = 3_000

class NoResponseError extends Error {
  override readonly message = `redisStore: Redis did not respond within ${RESPONSE_TIMEOUT_MS} ms`
}

const inTime = <Result>(response: Promise<Result>): Promise<Result> =>
  withTimeLimit(Promise.resolve(response), RESPONSE_TIMEOUT_MS, () => new NoResponseError())

/** Whether a script may have been executed, or may still be. "Timed out" is the error of ioredis's `commandTimeout`. */
const mayBeExecuted = (error: unknown): boolean =>
  error instanceof NoResponseError ||
  /\b(?:closed|disconnects|max retries|timed out|ECONNRESET|EPIPE)\b/i.test(String(error))

/** Whether the server refused the script because it is a replica. The script wrote nothing. */
const isFromReplica = (error: unknown): boolean =>
  error instanceof Error && /\b(?:READONLY|MASTERDOWN)\b/.test(error.message)

/** Minimum time between two reconnects of a client: its commands in flight fail together, and must cause one reconnect. */
const RECONNECT_INTERVAL_MS = 1_000
const reconnectedAt = new WeakMap<object, number>()

/** Returns the response of a script. If a replica refused it, reconnects the client, which would otherwise keep the connection. */
async function leavingReplica(client: NodeRedisClient | IoredisClient, response: Promise<unknown>): Promise<unknown> {
  try {
    return await response
  } catch (error) {
    if (isFromReplica(error)) reconnect(client)
    throw error
  }
}

function reconnect(client: NodeRedisClient | IoredisClient): void {
  const now = performance.now()
  if (isCluster(client) || now - (reconnectedAt.get(client) ?? -Infinity) < RECONNECT_INTERVAL_MS) return
  reconnectedAt.set(client, now)
  if (hasMethod(client, 'defineCommand')) {
    ;(client as { disconnect?(reconnect: boolean): void }).disconnect?.(true)
  } else {
    // QUIT makes the server close the connection after the earlier commands. The client reconnects by its own strategy.
    const { sendCommand } = client as { sendCommand?(args: string[]): Promise<unknown> }
    sendCommand?.call(client, ['QUIT']).catch(() => undefined)
  }
}

/** A cluster client follows its masters by itself. */
const isCluster = (client: object): boolean =>
  (client as { isCluster?: unknown }).isCluster === true || hasMethod(client, 'nodeClient')

/** A connection in a pool of node-redis. */
interface PooledClient extends NodeRedisClient {
  readonly isOpen: boolean
  connect(): Promise<unknown>
  destroy(): void
}

interface NodeRedisPool extends NodeRedisClient {
  execute<Result>(task: (client: PooledClient) => Promise<Result>): Promise<Result>
}

/** Whether a client is a pool whose connections can run the scripts. With `keyPrefix`, they would ignore the prefix. */
const isPool = (client: NodeRedisClient): client is NodeRedisPool =>
  hasMethod(client, 'execute') && !(client as { _keyPrefix?: unknown })._keyPrefix

/**
 * Runs a script on a connection of the pool. Replaces a silent connection: the pool would keep it. If the server is a
 * replica, replaces the connection and runs the script again.
 */
function runInPool(pool: NodeRedisPool, script: string, key: string, args: string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const task = async (client: PooledClient): Promise<void> => {
      const run = () => inTime(client.eval(script, { keys: [key], arguments: args }))
      const replace = async (): Promise<void> => {
        client.destroy()
        await inTime(client.connect())
      }
      try {
        // An earlier task could not connect again.
        if (!client.isOpen) await inTime(client.connect())
        resolve(
          await run().catch(async (error) => {
            if (!isFromReplica(error)) throw error
            await replace()
            return run()
          }),
        )
      } catch (error) {
        reject(error)
        // After this, the pool uses the connection for other tasks.
        if (error instanceof NoResponseError) await replace().catch(() => client.destroy())
      }
    }
    pool.execute(task).catch(reject)
  })
}

/**
 * Reads the reply of a script. Some clients are configured to return strings or bigints.
 *
 * @throws ConfigurationError when the reply is not an integer: a client with callbacks, or inside MULTI, does not return it
 */
function integer(reply: unknown): number {
  const isText = typeof reply === 'bigint' || (typeof reply === 'string' && /^-?\d+$/.test(reply))
  const value = isText ? Number(reply) : reply
  if (Number.isSafeInteger(value) && (value as number) >= FOREIGN) return value as number
  throw new ConfigurationError(
    `redisStore can't read the replies of the client: it must be ${YOUR_CLIENT} that returns promises, outside MULTI`,
  )
}
