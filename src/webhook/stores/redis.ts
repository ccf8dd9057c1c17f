/**
 * Remembers webhook deliveries in Redis, through the client you have.
 *
 * @module campaign-client/webhook/redis
 */
import { type OptionRules, optional, requireOptions } from '../../shared/options.ts'
import { hasMethod, requireKey, requireMilliseconds } from './arguments.ts'
import type { ClaimResult, DeliveryStore } from './store.ts'

/**
 * What `redisStore` needs of a client of the `redis` package (versions 4, 5 and 6): one made by `createClient`,
 * `createClientPool` or `createCluster`.
 */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** The upper-case twin is what tells this package's clients from others. */
  EVAL(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** What `redisStore` needs of a client of the `ioredis` package: a `Redis` or a `Cluster`. */
export interface IoredisClient {
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** Only ioredis has this method, which is what tells its clients from others. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void
}

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /**
   * What every key of the store starts with: 1 to 200 printable ASCII characters without spaces. Receivers that share
   * deliveries must share it. A hash tag (`{deliveries}:`) puts all of them into one slot of a cluster, which works
   * but is not needed.
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

/*
 * A record is `claim:` or `done:` and the token of the holder, and it expires by itself: when the lease lapses, and when
 * a finished delivery need not be remembered any longer. Each script reads and writes one key, so that it is atomic
 * and runs in a cluster. They are sent whole (EVAL): they are short, the server keeps them compiled, and nothing has
 * to be loaded again after a restart or on a new node.
 */
// ioredis sends a command again when the connection was lost before the reply: a claim then meets its own token.
const CLAIM = `
local held = redis.call('GET', KEYS[1])
if not held or held == 'claim:' .. ARGV[1] then
  redis.call('SET', KEYS[1], 'claim:' .. ARGV[1], 'PX', ARGV[2])
  return ${CLAIMED}
end
if string.sub(held, 1, 5) == 'done:' then return ${DONE} end
if string.sub(held, 1, 6) ~= 'claim:' then return ${FOREIGN} end
return math.max(redis.call('PTTL', KEYS[1]), 0)`

const EXTEND = `
if redis.call('GET', KEYS[1]) ~= 'claim:' .. ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`

const COMPLETE = `
local held = redis.call('GET', KEYS[1])
if held and held ~= 'claim:' .. ARGV[1] and held ~= 'done:' .. ARGV[1] then return 0 end
redis.call('SET', KEYS[1], 'done:' .. ARGV[1], 'PX', ARGV[2])
return 1`

const RELEASE = `
if redis.call('GET', KEYS[1]) ~= 'claim:' .. ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1`

/**
 * A delivery store in Redis 5 or newer (or Valkey), for receivers that run in several processes.
 *
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
 *
 * Takes the client you have, of `redis` or `ioredis`, and neither connects nor closes it. One key per delivery, named
 * `prefix` and the delivery's key, written by one Lua script per call; leases and retention are expiry times of the
 * server (`PX`), so that the clocks of the receivers do not matter. The client's user needs the commands EVAL, GET,
 * SET, DEL, PTTL and PEXPIRE.
 *
 * What it can't promise: Redis replicates and saves in the background, so a crash or failover of the server may forget
 * the last moments, and a delivery may be handled again. Set `maxmemory-policy noeviction` on that server: an evicted
 * record is a forgotten delivery. Where handling twice does harm, use the PostgreSQL store and its `runOnce`.
 *
 * Its errors are passed on as they are. A client should not queue commands while it is disconnected, and have a way around a
 * connection that went silent: [what your store must promise](../../../docs/webhooks.md#what-your-store-must-promise) has
 * the settings. Leave `socketTimeout` of redis alone.
 *
 * Interface: [Delivery and retries](../../../docs/the-service.md#delivery-and-retries).
 *
 * @param client - of `redis` 4–6 (`createClient`, `createClientPool`, `createCluster`) or `ioredis` (`Redis`,
 *   `Cluster`)
 * @returns a store whose methods reject with the client's error when Redis can't be reached, with `TypeError` for an
 *   empty key, or a lease or retention that is not a positive number of milliseconds, and with `Error` when the
 *   key is taken by a value that no such store wrote. A second store with the same prefix sees the same deliveries.
 * @throws TypeError when the client is of neither package, or the prefix is malformed, or an option is misspelt
 */
export function redisStore(client: NodeRedisClient | IoredisClient, options: RedisStoreOptions = {}): DeliveryStore {
  const run = runner(client)
  requireOptions('redisStore', options, rules())
  const { prefix = 'campaign:delivery:' } = options
  const record = (key: string) => prefix + requireKey(key)

  return {
    async claim(key, leaseMs): Promise<ClaimResult> {
      const token = crypto.randomUUID()
      const answer = integer(await run(CLAIM, record(key), token, duration('leaseMs', leaseMs)))
      if (answer === CLAIMED) return { state: 'claimed', token }
      if (answer === DONE) return { state: 'done' }
      if (answer === FOREIGN) {
        throw new Error(`A Redis key under ${prefix} holds a value of something else: give redisStore its own prefix`)
      }
      return { state: 'busy', retryMs: answer }
    },
    async extend(key, token, leaseMs) {
      return integer(await run(EXTEND, record(key), token, duration('leaseMs', leaseMs))) === 1
    },
    async complete(key, token, retainMs) {
      return integer(await run(COMPLETE, record(key), token, duration('retainMs', retainMs))) === 1
    },
    async release(key, token) {
      await run(RELEASE, record(key), token)
    },
  }
}

function runner(client: NodeRedisClient | IoredisClient): Run {
  if (hasMethod(client, 'eval') && hasMethod(client, 'EVAL')) {
    const nodeRedis = client as NodeRedisClient
    return (script, key, ...args) => nodeRedis.eval(script, { keys: [key], arguments: args })
  }
  if (hasMethod(client, 'eval') && hasMethod(client, 'defineCommand')) {
    const ioredis = client as IoredisClient
    return (script, key, ...args) => ioredis.eval(script, 1, key, ...args)
  }
  throw new TypeError(
    'redisStore needs a client: one made by createClient, createClientPool or createCluster of "redis" (4 or newer), ' +
      'or a Redis or Cluster of "ioredis". What it got lacks the methods of both',
  )
}

function duration(name: string, value: number): string {
  return String(requireMilliseconds(name, value))
}

/** Clients can be told to return integers as strings or bigints. */
function integer(reply: unknown): number {
  const value = typeof reply === 'string' || typeof reply === 'bigint' ? Number(reply) : reply
  if (Number.isSafeInteger(value)) return value as number
  throw new Error(
    'The Redis client did not resolve to the reply of the script, an integer: redisStore needs a client in promise mode, outside MULTI',
  )
}
