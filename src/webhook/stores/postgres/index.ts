/**
 * A store for webhook deliveries in PostgreSQL, over your own pool, with `runOnce` for exactly-once processing.
 *
 * @module campaign-client/webhook/postgres
 */
export type { ClientOf, PgClient, PgPool } from './pg.ts'
export type { PostgresSql } from './postgres-js.ts'
export { postgresSchema } from './postgres-schema.ts'
export { type PostgresStore, type PostgresStoreOptions, postgresStore, type RunOnceResult } from './postgres-store.ts'
