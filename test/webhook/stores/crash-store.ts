import { DatabaseSync } from 'node:sqlite'
import type { DeliveryStore } from 'campaign-client/webhook'
import { postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import { sqliteStore } from 'campaign-client/webhook/sqlite'

export type CrashClient = 'redis' | 'pg' | 'sqlite'

/** One message, its store, and the step at which its process waits to be killed. */
export interface CrashTask {
  client: CrashClient
  /** The address of the server, or the path of the SQLite file, which has a table `applied`. */
  url: string
  /** The key prefix in Redis. The schema in PostgreSQL, with the tables `deliveries` and `applied`. */
  namespace: string
  /** Unique for each message, so that its work can be counted. */
  endpoint: string
  secret: string
  body: string
  leaseMs: number
  /** Whether the receivers keep failed messages. */
  keepFailed?: boolean
  haltAt?: 'handling' | 'applying' | 'applied'
}

export interface CrashStore {
  store: DeliveryStore
  /**
   * Applies the work for the key: in PostgreSQL and SQLite once, with `runOnce`; in Redis on each call.
   *
   * @param beforeCommit - called before the work is committed; not awaited in SQLite, whose transactions are synchronous
   * @returns whether the work was applied
   */
  apply(key: string, beforeCommit: () => Promise<void>): Promise<boolean>
  /** Returns how often the work was committed. */
  timesApplied(): Promise<number>
  close(): Promise<void>
}

/** Opens the store, in the test and in its child processes. Loads one driver, so that a process starts fast. */
export async function openCrashStore({ client, url, namespace, endpoint }: CrashTask): Promise<CrashStore> {
  if (client === 'redis') {
    const { createClient } = await import('redis')
    const redis = createClient({ url })
    await redis.connect()
    const count = (by: number) => redis.incrBy(`${namespace}applied:${endpoint}`, by)
    return {
      store: redisStore(redis, { prefix: namespace }),
      apply: async (_key, beforeCommit) => {
        await beforeCommit()
        await count(1)
        return true
      },
      timesApplied: () => count(0),
      close: async () => redis.destroy(),
    }
  }
  if (client === 'sqlite') return sqliteCrashStore(url, endpoint)
  const { Pool } = await import('pg')
  const pool = new Pool({ connectionString: url, max: 4 })
  const store = postgresStore(pool, { table: `${namespace}.deliveries` })
  return {
    store,
    apply: async (key, beforeCommit) => {
      const { ran } = await store.runOnce(key, async (tx) => {
        await tx.query(`INSERT INTO ${namespace}.applied (key) VALUES ($1)`, [key])
        await beforeCommit()
      })
      return ran
    },
    async timesApplied() {
      const all = `SELECT key FROM ${namespace}.applied WHERE position($1 IN key) > 0`
      return (await pool.query(all, [endpoint])).rows.length
    },
    close: () => pool.end(),
  }
}

function sqliteCrashStore(path: string, endpoint: string): CrashStore {
  const store = sqliteStore(path)
  const reader = new DatabaseSync(path)
  const count = reader.prepare('SELECT count(*) AS times FROM applied WHERE instr(key, ?) > 0')
  return {
    store,
    apply: async (key, beforeCommit) => {
      const { ran } = await store.runOnce(key, (db) => {
        db.prepare('INSERT INTO applied (key) VALUES (?)').run(key)
        void beforeCommit()
      })
      return ran
    },
    timesApplied: async () => Number(count.get(endpoint)?.times),
    close: async () => {
      store.close()
      reader.close()
    },
  }
}
