/**
 * A ledger of bulk awards in PostgreSQL, over your own pool. Processes and jobs of a queue can share it. Node only.
 *
 * @module campaign-client/bulk/postgres
 */
export type { PgPool, PostgresSql } from './database.ts'
export { type PostgresLedgerOptions, postgresLedger } from './postgres-ledger.ts'
export { postgresLedgerSchema } from './statements.ts'
