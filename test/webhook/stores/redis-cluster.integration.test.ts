import { randomUUID } from 'node:crypto'
import { type NodeRedisClient, redisStore } from 'campaign-client/webhook/redis'
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clusterMissing, type RedisCluster, startRedisCluster } from '../../databases/redis-cluster.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { durationContract, storeContract } from './contract.ts'
import { claimed, freshKey } from './store-clock.ts'

describe.skipIf(skipsWithout('Redis Cluster', clusterMissing))('redisStore over a real Redis Cluster', () => {
  let cluster: RedisCluster
  let nodeRedis: ReturnType<typeof createCluster>
  let ioredis: Cluster

  beforeAll(async () => {
    cluster = await startRedisCluster()
    const { nodes, password } = cluster
    nodeRedis = createCluster({
      rootNodes: nodes.map(({ host, port }) => ({ socket: { host, port } })),
      defaults: { password },
    }) as ReturnType<typeof createCluster>
    await nodeRedis.connect()
    ioredis = new Cluster([...nodes], { redisOptions: { password } })
  })

  afterAll(async () => {
    nodeRedis?.destroy()
    ioredis?.disconnect()
    await cluster?.stop()
  })

  describe('with the client of redis', () => {
    storeContract(() => redisStore(nodeRedis))
    durationContract(() => redisStore(nodeRedis))
  })

  describe('with the client of ioredis', () => {
    storeContract(() => redisStore(ioredis))
    durationContract(() => redisStore(ioredis))
  })

  const CLIENTS = ['redis', 'ioredis'] as const
  const clientOf = (name: (typeof CLIENTS)[number]) => ({ redis: nodeRedis, ioredis })[name] as NodeRedisClient

  /** Counts the keys with the prefix on each node. */
  const keysPerNode = async (prefix: string): Promise<number[]> => {
    const replies = await Promise.all(cluster.nodes.map((_, node) => cluster.command(node, 'KEYS', `${prefix}*`)))
    return replies.map((keys) => keys.split('\n').filter((key) => key !== '').length)
  }

  test.each(CLIENTS)('keys are on all nodes; with a hash tag in the prefix, on one node (%s)', async (name) => {
    const client = clientOf(name)
    const prefix = `spread-${randomUUID()}`
    const untagged = redisStore(client, { prefix: `${prefix}:` })
    const tagged = redisStore(client, { prefix: `{${prefix}}:` })
    for (let n = 0; n < 40; n++) {
      await claimed(untagged, freshKey(), 60_000)
      await claimed(tagged, freshKey(), 60_000)
    }
    const [one = 0, two = 0, three = 0] = await keysPerNode(`${prefix}:`)
    expect(one + two + three).toBe(40)
    expect(Math.min(one, two, three)).toBeGreaterThan(0)
    expect((await keysPerNode(`{${prefix}}:`)).sort()).toEqual([0, 0, 40])
  })

  test.each(CLIENTS)('a claim is still current after its slot has moved to another node (%s)', async (name) => {
    const prefix = `moved-${randomUUID()}:`
    const store = redisStore(clientOf(name), { prefix })
    const key = freshKey()
    const token = await claimed(store, key, 60_000)
    await moveSlotOf(prefix + key)
    expect((await store.claim(key, 60_000)).state).toBe('busy')
    expect(await store.extend(key, token, 60_000)).toBe(true)
    expect(await store.complete(key, token, 60_000)).toBe(true)
    expect((await store.claim(key, 60_000)).state).toBe('done')
  })

  /** Moves the slot of a record to the next node. */
  async function moveSlotOf(record: string): Promise<void> {
    const slot = await cluster.command(0, 'CLUSTER', 'KEYSLOT', record)
    const holders = await keysPerNode(record)
    const from = holders.indexOf(1)
    const to = (from + 1) % holders.length
    const [source, target] = await Promise.all([from, to].map((node) => cluster.command(node, 'CLUSTER', 'MYID')))
    await cluster.command(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', source as string)
    await cluster.command(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', target as string)
    const { host, port } = cluster.nodes[to] as RedisCluster['nodes'][number]
    const move = ['MIGRATE', host, `${port}`, '', '0', '5000', 'AUTH', cluster.password, 'KEYS', record]
    expect(await cluster.command(from, ...move)).toBe('OK')
    for (const node of [to, from]) await cluster.command(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', target as string)
    expect((await keysPerNode(record))[to]).toBe(1)
  }
})
