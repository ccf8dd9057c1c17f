/**
 * A ledger of bulk awards in PostgreSQL, over your own pool. Processes and jobs of a queue can share it. Node only.
 *
 * @module campaign-client/bulk/postgres
 */
export type { PgPool } from '../postgres/pg.ts'
export type { PostgresSql } from '../postgres/postgres-js.ts'
export { type PostgresLedgerOptions, postgresLedger } from './ledger/postgres-ledger.ts'
export { postgresLedgerSchema } from './ledger/postgres-statements.ts'
