/**
 * The ledger of bulk awards in PostgreSQL, through the pool you have: for many processes, and for jobs of a queue. Node
 * only.
 *
 * @module campaign-client/bulk/postgres
 */
export type { PgPool, PostgresSql } from './database.ts'
export { type PostgresLedgerOptions, postgresLedger } from './postgres-ledger.ts'
export { postgresLedgerSchema } from './statements.ts'
