import { DatabaseSync } from 'node:sqlite'
import Database, { type Database as BetterDatabase } from 'better-sqlite3'
import { type PostgresStore, postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import { type SqliteDatabase, type SqliteStore, sqliteStore } from 'campaign-client/webhook/sqlite'
import Ioredis, { Cluster } from 'ioredis'
import pg from 'pg'
import postgres from 'postgres'
import { createClient, createClientPool, createCluster } from 'redis'
import { expectTypeOf, test } from 'vitest'
import type { DeliveryStore } from '../../../src/webhook/stores/delivery-store.ts'

test('redisStore accepts every kind of client of both packages', () => {
  expectTypeOf(redisStore(createClient())).toEqualTypeOf<DeliveryStore>()
  expectTypeOf(redisStore(createClient({ RESP: 2 }))).toEqualTypeOf<DeliveryStore>()
  expectTypeOf(redisStore(createClientPool())).toEqualTypeOf<DeliveryStore>()
  expectTypeOf(redisStore(createCluster({ rootNodes: [] }))).toEqualTypeOf<DeliveryStore>()
  expectTypeOf(redisStore(new Ioredis())).toEqualTypeOf<DeliveryStore>()
  expectTypeOf(redisStore(new Cluster([]), { prefix: 'p:' })).toEqualTypeOf<DeliveryStore>()
})

test('redisStore refuses other values', () => {
  // @ts-expect-error a URL is not a client
  redisStore('redis://localhost')
  // @ts-expect-error a pool of PostgreSQL is not a client of Redis
  redisStore(new pg.Pool())
})

test('runOnce infers the transaction client of both packages', () => {
  expectTypeOf(postgresStore(new pg.Pool())).toEqualTypeOf<PostgresStore<pg.PoolClient>>()
  expectTypeOf(postgresStore(postgres())).toEqualTypeOf<PostgresStore<postgres.TransactionSql>>()
  const pool = {
    query: async (_text: string, _values?: unknown[]) => ({ rows: [] as unknown[] }),
    connect: async () => ({
      own: 1,
      query: async (_text: string, _values?: unknown[]) => ({ rows: [] as unknown[], command: '' }),
      release: () => {},
    }),
  }
  void postgresStore(pool).runOnce('key', (tx) => {
    expectTypeOf(tx.own).toBeNumber()
  })
})

test('runOnce resolves to the result of its function', async () => {
  const store = postgresStore(new pg.Pool())
  const outcome = await store.runOnce('key', async (tx) => (await tx.query<{ n: number }>('SELECT 1 AS n')).rows)
  if (outcome.ran) expectTypeOf(outcome.result).toEqualTypeOf<{ n: number }[]>()
  // @ts-expect-error there is no result without a run
  else outcome.result
  const plain = await store.runOnce('key', () => 1)
  if (plain.ran) expectTypeOf(plain.result).toBeNumber()
})

test('postgresStore refuses other values', () => {
  // @ts-expect-error a URL is not a pool
  postgresStore('postgres://localhost')
  // @ts-expect-error a Redis client is not a pool
  postgresStore(new Ioredis())
})

test('sqliteStore accepts a path and the databases of both packages, and passes them to the function of runOnce', () => {
  expectTypeOf(sqliteStore('file.db')).toEqualTypeOf<SqliteStore<SqliteDatabase>>()
  expectTypeOf(sqliteStore(new DatabaseSync('file.db'))).toEqualTypeOf<SqliteStore<DatabaseSync>>()
  expectTypeOf(sqliteStore(new Database('file.db'))).toEqualTypeOf<SqliteStore<BetterDatabase>>()
  expectTypeOf(sqliteStore('file.db')).toExtend<DeliveryStore>()
  // @ts-expect-error a URL is not a path
  sqliteStore(new URL('file:///file.db'))
})

test('runOnce of sqliteStore resolves to the result of its function', async () => {
  const outcome = await sqliteStore(new DatabaseSync('file.db')).runOnce('key', (db) => db.prepare('SELECT 1').all())
  if (outcome.ran) expectTypeOf(outcome.result).toEqualTypeOf<ReturnType<ReturnType<DatabaseSync['prepare']>['all']>>()
})
