import { type OptionRules, optional, positive, readOptions } from '../../../shared/option-checks.ts'
import { isTable } from '../../../shared/postgres-table.ts'
import { hasMethod } from '../../../shared/type-checks.ts'
import { requireKey, requireMilliseconds } from '../check-arguments.ts'
import type { ClaimResult, DeliveryStore } from '../delivery-store.ts'
import type { Database } from './database.ts'
import { type ClientOf, type PgPool, pgDatabase } from './pg.ts'
import { type PostgresSql, postgresJsDatabase } from './postgres-js.ts'
import { DEFAULT_TABLE } from './postgres-schema.ts'
import { statements } from './statements.ts'

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /**
   * The table, with or without its schema: `'campaign_deliveries'`, `'app.deliveries'`. Letters, digits and
   * underscores, at most 63 characters each. Case-sensitive, because the name is always quoted.
   *
   * @defaultValue `'campaign_deliveries'`
   */
  table?: string | undefined
  /**
   * How long {@link PostgresStore.runOnce} remembers a key, in milliseconds, or `Infinity`. Use at least the `retainMs` of
   * the receiver: after the key has expired, a replayed message is applied again.
   *
   * @defaultValue 31 536 000 000, which is 365 days
   */
  runOnceRetainMs?: number | undefined
}

const isTime = positive('milliseconds', Number.MAX_SAFE_INTEGER)

const rules = (): OptionRules<PostgresStoreOptions> => ({
  table: optional(isTable),
  runOnceRetainMs: optional((value) => (value === Infinity ? undefined : isTime(value))),
})

const YEAR_MS = 365 * 24 * 60 * 60 * 1000

/** The outcome of {@link PostgresStore.runOnce}, with the result of the function. */
export type RunOnceResult<Result> = { ran: true; result: Result } | { ran: false }

/** A {@link DeliveryStore} in PostgreSQL, with transactions that run exactly once. */
export interface PostgresStore<Transaction> extends DeliveryStore {
  /**
   * Runs `apply` in a transaction that also records `key`: both are committed, or neither is. Writes through `tx` take
   * effect exactly once per key, even if the process dies, another process takes the delivery over, or the message is
   * replayed.
   *
   * ```ts
   * handle: async (event, { key }) => {
   *   await store.runOnce(key, async (tx) => {
   *     await tx.query('UPDATE balances SET xp = xp + $1 WHERE user_id = $2', [xp, user])
   *   })
   * }
   * ```
   *
   * Pass the `key` that the handler receives. It includes the endpoint. If two endpoints do the same work for the same
   * message, pass `event.id`. Keys of `runOnce` are separate from the claims of the receiver.
   *
   * For `runOnceRetainMs` after the commit, a call with the same key resolves to `{ ran: false }` without calling `apply`:
   * the work is done, so let the handler return normally. A concurrent call with the same key waits, and runs `apply` if
   * the first call was rolled back. Do not call `runOnce` within `apply`: it may wait for itself.
   *
   * Only writes through `tx` take effect exactly once: a rollback does not recall a mail that `apply` sent. Do not commit or
   * roll back in `apply`; throw to roll back. `tx` cannot be used after `apply` has ended. The isolation level is READ
   * COMMITTED.
   *
   * Each call uses one connection of the pool while it runs or waits for its key. With three connections or more (`max`),
   * one connection is reserved for claims, extensions and completions, and further calls wait in order. Set
   * `idle_in_transaction_session_timeout`: otherwise a process that hangs in `apply` blocks its key.
   *
   * @param key - a non-empty string without NUL and lone surrogates
   * @param apply - receives the client of the transaction: the `PoolClient` of `pg`, the transaction's `sql` of `postgres`
   * @throws the error of `apply`, after the rollback
   * @throws Error when `apply` ignored a failed query (PostgreSQL then refuses to commit)
   * @throws Error when `apply` committed or rolled back
   * @throws the error of the client when the connection failed. After a failure during the commit, the next call with the
   *   key shows whether it was committed.
   * @throws TypeError when the key is malformed
   */
  runOnce<Result>(
    key: string,
    apply: (tx: Transaction) => Result | PromiseLike<Result>,
  ): Promise<RunOnceResult<Awaited<Result>>>

  /**
   * Deletes expired records: completed deliveries, `runOnce` keys and claims. The store never deletes them by itself: call
   * this regularly, until it resolves to less than `limit`. Concurrent calls skip each other's rows.
   *
   * @param limit - the maximum number of rows to delete, from 1; keeps the transaction short
   * @defaultValue 1000
   * @returns the number of deleted rows
   * @throws RangeError when `limit` is not a positive whole number
   */
  prune(limit?: number): Promise<number>
}

/**
 * Creates a delivery store in PostgreSQL 11 or newer, for receivers in several processes. The only store with `runOnce`,
 * which applies the handler's writes to the same database exactly once.
 *
 * ```ts
 * import { Pool } from 'pg'
 * import { createWebhookReceiver } from 'campaign-client/webhook'
 * import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
 *
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5000 })
 * pool.on('error', (error) => console.error(error))
 * await pool.query(postgresSchema())
 * const store = postgresStore(pool)
 * const receiver = createWebhookReceiver({ endpoint: 'orders', secret, store, handle })
 * ```
 *
 * Uses your pool and does not end it. Each call of `claim`, `extend`, `complete` and `release` is one statement (two for a
 * `claim` of a delivery that is claimed or done). The store works behind a connection pooler in transaction mode, and uses
 * the clock of the database.
 *
 * A pool of `pg` needs an `error` listener: without a listener, Node ends the process when an idle connection is lost. The
 * `sql` of `postgres` needs `prepare: false`: with prepared statements, a pooler can lose a COMMIT that `postgres` reports
 * as done.
 *
 * Expired rows stay until you call {@link PostgresStore.prune}.
 *
 * Interface: [Delivery and retries](/the-service#delivery-and-retries).
 *
 * @param database - a `Pool` of `pg`, or the `sql` of `postgres` with `prepare: false`
 * @returns a store. Its methods reject with the error of the client when the database is unreachable or the table does not
 *   exist, and with `Error` when the client renames columns or changes texts. They reject with `TypeError` for an empty
 *   key, or a lease or retention that is not a positive number of milliseconds. Stores on the same table share their
 *   deliveries.
 * @throws TypeError when `database` is neither a pool nor an `sql`, when the `sql` prepares statements, or when an option is
 *   malformed or misspelt. A single `Client` of `pg` is refused, because it cannot run concurrent transactions
 */
export function postgresStore<Transaction>(
  database: PostgresSql<Transaction>,
  options?: PostgresStoreOptions,
): PostgresStore<Transaction>
export function postgresStore<Pool extends PgPool>(
  database: Pool,
  options?: PostgresStoreOptions,
): PostgresStore<ClientOf<Pool>>
export function postgresStore(
  database: PgPool | PostgresSql<unknown>,
  options: PostgresStoreOptions = {},
): PostgresStore<unknown> {
  const { query, transaction } = databaseOf(database)
  const { table = DEFAULT_TABLE, runOnceRetainMs = YEAR_MS } = readOptions('postgresStore', options, rules())
  const sql = statements(table, runOnceRetainMs)

  return {
    async claim(key, leaseMs): Promise<ClaimResult> {
      const token = crypto.randomUUID()
      const lease = requireMilliseconds('leaseMs', leaseMs)
      // Another claim may be released between the two statements. Then try again.
      for (let attempt = 0; attempt < 3; attempt++) {
        if ((await query(sql.claim, requireKey(key), token, lease)).length > 0) return { state: 'claimed', token }
        const [row] = await query(sql.current, key)
        if (row !== undefined) return readRow(row)
      }
      return { state: 'busy', retryMs: 0 }
    },

    async extend(key, token, leaseMs) {
      return (await query(sql.extend, requireKey(key), token, requireMilliseconds('leaseMs', leaseMs))).length > 0
    },

    async complete(key, token, retainMs) {
      return (await query(sql.complete, requireKey(key), token, requireMilliseconds('retainMs', retainMs))).length > 0
    },

    async release(key, token) {
      await query(sql.release, requireKey(key), token)
    },

    async runOnce<Result>(
      key: string,
      apply: (tx: unknown) => Result | PromiseLike<Result>,
    ): Promise<RunOnceResult<Awaited<Result>>> {
      requireKey(key)
      let outcome: RunOnceResult<Awaited<Result>> = { ran: false }
      await transaction(async ({ query: queryInTransaction, withClient }) => {
        if ((await queryInTransaction(sql.runOnce, key)).length === 0) return
        const result = await withClient(apply)
        const stillOpen = await queryInTransaction(sql.stillOpen, key).catch((error) => {
          throw error?.code === IN_FAILED_SQL_TRANSACTION ? new Error(QUERY_FAILED, { cause: error }) : error
        })
        if (stillOpen.length === 0) throw new Error(COMMITTED_BY_APPLY)
        outcome = { ran: true, result }
      })
      return outcome
    },

    async prune(limit = 1000) {
      if (!Number.isSafeInteger(limit) || limit < 1) {
        throw new RangeError(`The limit of prune must be a whole number, at least 1, got ${String(limit)}`)
      }
      return (await query(sql.prune, limit)).length
    },
  }
}

/** Reads the record of a delivery that is claimed or done. Some clients return numbers as text. */
function readRow(row: unknown): ClaimResult {
  const { state, remaining } = row as { state?: unknown; remaining?: unknown }
  if (state === 'done') return { state }
  const retryMs = Number.parseFloat(String(remaining))
  if (state !== 'claimed' || !Number.isFinite(retryMs)) throw new Error(UNREADABLE)
  return { state: 'busy', retryMs }
}

const UNREADABLE =
  "postgresStore can't read a row: the client must not rename columns (transform of postgres) or change texts (type " +
  'parsers of pg)'

const COMMITTED_BY_APPLY =
  'the function of runOnce committed or rolled back, so its writes and the key were not committed together. Throw to ' +
  'roll back, return to commit'

const QUERY_FAILED =
  'runOnce committed nothing: its function ignored a failed query, and PostgreSQL then refuses to commit'

/** The SQLSTATE of every query after a failed query in the same transaction. */
const IN_FAILED_SQL_TRANSACTION = '25P02'

function databaseOf(database: PgPool | PostgresSql<unknown>): Database {
  if (typeof database === 'function' && hasMethod(database, 'unsafe') && hasMethod(database, 'begin')) {
    return postgresJsDatabase(database)
  }
  if (typeof database === 'object' && hasMethod(database, 'query') && hasMethod(database, 'connect')) {
    if (hasMethod(database, 'escapeIdentifier')) {
      throw new TypeError(
        'postgresStore got a single Client of "pg", which cannot run concurrent transactions: pass a Pool',
      )
    }
    return pgDatabase(database as PgPool)
  }
  throw new TypeError(
    'postgresStore needs a Pool of "pg" or the sql of "postgres" (not the sql of a transaction). ' +
      'The given value is neither',
  )
}
