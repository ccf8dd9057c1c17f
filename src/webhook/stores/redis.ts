/**
 * A store for webhook deliveries in Redis, over your own client.
 *
 * @module campaign-client/webhook/redis
 */
import { type OptionRules, optional, readOptions } from '../../shared/options.ts'
import { hasMethod } from '../../shared/types.ts'
import { requireKey, requireMilliseconds } from './arguments.ts'
import type { ClaimResult, DeliveryStore } from './store.ts'

/**
 * What `redisStore` needs of a client of the `redis` package (versions 4, 5 and 6): one made by `createClient`,
 * `createClientPool` or `createCluster`.
 */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** The upper-case method identifies a client of this package. */
  EVAL(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** What `redisStore` needs of a client of the `ioredis` package: a `Redis` or a `Cluster`. */
export interface IoredisClient {
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** This method identifies a client of ioredis. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void
}

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /**
   * The start of every key of the store: 1 to 200 printable ASCII characters without spaces. Receivers that share
   * deliveries must share it.
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
 * A record is `claim:` or `done:` and the token of the holder. It expires at the end of its lease or retention. Each script
 * uses one key, so that it is atomic and works in a cluster. Scripts are sent with EVAL: they are short, the server caches
 * them, and nothing has to be loaded again after a restart or on a new node.
 */
// ioredis sends a command again when the connection is lost before the reply, so a claim may find its own token.
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
 * Creates a delivery store in Redis 5 or newer (or Valkey), for receivers in several processes.
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
 * Takes your client of `redis` or `ioredis`, and neither connects nor closes it. Writes one key per delivery (`prefix` and
 * the delivery's key) with one Lua script per call, and uses the clock of the server. The client's user needs the commands
 * EVAL, GET, SET, DEL, PTTL and PEXPIRE.
 *
 * Redis replicates and saves in the background: a crash or failover of the server may lose the last writes, and a delivery
 * may be handled again. Set `maxmemory-policy noeviction`: an evicted record is a forgotten delivery. Where handling twice
 * does harm, use the PostgreSQL store and its `runOnce`.
 *
 * Errors of the client are passed on as they are. Configure the client not to queue commands while it is disconnected, and
 * to recover from a connection that went silent: see
 * [what your store must promise](/webhooks#what-your-store-must-promise). Do not set `socketTimeout` of
 * redis.
 *
 * Interface: [Delivery and retries](/the-service#delivery-and-retries).
 *
 * @param client - of `redis` 4–6 (`createClient`, `createClientPool`, `createCluster`) or `ioredis` (`Redis`,
 *   `Cluster`)
 * @returns a store whose methods reject with the client's error when Redis cannot be reached, with `TypeError` for an
 *   empty key, or a lease or retention that is not a positive number of milliseconds, and with `Error` when another
 *   program wrote the key. Stores with the same prefix share their deliveries.
 * @throws TypeError when the client is of neither package, the prefix is malformed, or an option is misspelt
 */
export function redisStore(client: NodeRedisClient | IoredisClient, options: RedisStoreOptions = {}): DeliveryStore {
  const run = runner(client)
  const { prefix = 'campaign:delivery:' } = readOptions('redisStore', options, rules())
  const record = (key: string) => prefix + requireKey(key)

  return {
    async claim(key, leaseMs): Promise<ClaimResult> {
      const token = crypto.randomUUID()
      const answer = integer(await run(CLAIM, record(key), token, duration('leaseMs', leaseMs)))
      if (answer === CLAIMED) return { state: 'claimed', token }
      if (answer === DONE) return { state: 'done' }
      if (answer === FOREIGN) {
        throw new Error(`A Redis key under ${prefix} holds a value of another program: give redisStore its own prefix`)
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
      'or a Redis or Cluster of "ioredis". The value it got lacks the methods of both',
  )
}

function duration(name: string, value: number): string {
  return String(requireMilliseconds(name, value))
}

/** A client may be configured to return integers as strings or bigints. */
function integer(reply: unknown): number {
  const value = typeof reply === 'string' || typeof reply === 'bigint' ? Number(reply) : reply
  if (Number.isSafeInteger(value)) return value as number
  throw new Error(
    'the Redis client did not resolve to the integer of the script: redisStore needs a client in promise mode, outside MULTI',
  )
}
