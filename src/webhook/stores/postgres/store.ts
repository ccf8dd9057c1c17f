import { type OptionRules, optional, positive, readOptions } from '../../../shared/options.ts'
import { isTable } from '../../../shared/postgres-table.ts'
import { hasMethod } from '../../../shared/types.ts'
import { requireKey, requireMilliseconds } from '../arguments.ts'
import type { ClaimResult, DeliveryStore } from '../store.ts'
import type { Database } from './database.ts'
import { type ClientOf, type PgPool, pgDatabase } from './pg.ts'
import { type PostgresSql, postgresJsDatabase } from './postgres-js.ts'
import { DEFAULT_TABLE, statements } from './statements.ts'

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /**
   * The table, with its schema or without: `'campaign_deliveries'`, `'app.deliveries'`. Letters, digits and
   * underscores, at most 63 characters each. Case-sensitive, because the name is always quoted.
   *
   * @defaultValue `'campaign_deliveries'`
   */
  table?: string | undefined
  /**
   * How long {@link PostgresStore.runOnce} remembers a key, in milliseconds, or `Infinity`. At least the receiver's
   * `retainMs`: once a key is forgotten, a replayed message with it is applied again.
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

/** The outcome of a {@link PostgresStore.runOnce}: `result` is what the function resolved to. */
export type RunOnceResult<Result> = { ran: true; result: Result } | { ran: false }

/** A {@link DeliveryStore} in PostgreSQL, with transactions that run exactly once. */
export interface PostgresStore<Transaction> extends DeliveryStore {
  /**
   * Runs `apply` in a transaction that also records `key`: both are committed, or neither is. Whatever `apply` writes
   * through `tx` happens exactly once per key, also when the process dies, when the lease runs out and another process
   * takes the delivery over, or when the message is replayed.
   *
   * ```ts
   * handle: async (event, { key }) => {
   *   await store.runOnce(key, async (tx) => {
   *     await tx.query('UPDATE balances SET xp = xp + $1 WHERE user_id = $2', [xp, user])
   *   })
   * }
   * ```
   *
   * These keys are separate from the receiver's claims, so use the `key` that the receiver gives to the handler as it
   * is. That key includes the endpoint; where two endpoints do the same work for the same message, use `event.id`.
   *
   * A second call with the key resolves to `{ ran: false }` without calling `apply`, for `runOnceRetainMs` after the
   * first was committed. While the first is still running, it waits, and then runs `apply` if the first was rolled back.
   * So `{ ran: false }` means that the work is done: let the handler end normally. Do not call `runOnce` within `apply`:
   * with the same key it waits for itself, with others it may wait for connections that wait for it.
   *
   * Only writes through `tx` are exactly once: a rollback does not take back a mail sent from `apply`. Do not commit or
   * roll back in `apply`; throw to roll back. `tx` cannot be used after `apply` has ended. The transaction is READ
   * COMMITTED.
   *
   * Each call holds one connection of the pool while it runs or waits for its key. Where the pool has three connections
   * or more (`max`), one stays free for claims, extensions and completions; further calls wait in order. Set
   * `idle_in_transaction_session_timeout`, so that a process that hangs in `apply` cannot block its key for ever.
   *
   * @param key - what is applied once: a non-empty string without NUL and lone surrogates
   * @param apply - receives the client of the transaction: the `PoolClient` of `pg`, the transaction's `sql` of `postgres`
   * @throws what `apply` threw, after the rollback
   * @throws Error when a query of `apply` failed and `apply` went on: PostgreSQL then refuses to commit
   * @throws Error when `apply` committed or rolled back itself
   * @throws the client's error when the connection failed. When it was lost during the commit, the next call with the key
   *   shows whether it was committed.
   * @throws TypeError when the key is malformed
   */
  runOnce<Result>(
    key: string,
    apply: (tx: Transaction) => Result | PromiseLike<Result>,
  ): Promise<RunOnceResult<Awaited<Result>>>

  /**
   * Deletes expired records: completed deliveries past the receiver's `retainMs`, `runOnce` keys past
   * `runOnceRetainMs`, and lapsed claims. The store never deletes them by itself: call this now and then from one
   * place, until it resolves to less than `limit`. Concurrent calls skip each other's rows.
   *
   * @param limit - how many rows to delete at most, from 1; keeps the transaction short
   * @defaultValue 1000
   * @returns how many rows were deleted
   * @throws RangeError when `limit` is not a positive whole number
   */
  prune(limit?: number): Promise<number>
}

/**
 * Creates a delivery store in PostgreSQL 11 or newer, for receivers in several processes. The only store with `runOnce`:
 * exactly once for what the handler writes to the same database.
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
 * Takes your pool and neither opens nor ends it. Each call of `claim`, `extend`, `complete` and `release` is one
 * statement (two for a `claim` of a delivery that is held or done), works behind a connection pooler in transaction mode,
 * and uses the clock of the database. Errors of the client are passed on as they are.
 *
 * A pool of `pg` needs an `error` listener: without one, Node ends the process when an idle connection is lost. The
 * `sql` of `postgres` must be made with `prepare: false`: with prepared statements, a pooler can lose a COMMIT that the
 * package reports as done.
 *
 * Expired rows stay until you call {@link PostgresStore.prune}.
 *
 * Interface: [Delivery and retries](/the-service#delivery-and-retries).
 *
 * @param database - a `Pool` of `pg`, or the `sql` of `postgres` with `prepare: false`
 * @returns a store whose methods reject with the client's error when the database cannot be reached or the table does not
 *   exist, with `TypeError` for an empty key, or a lease or retention that is not a positive number of milliseconds,
 *   and with `Error` when the client renames columns or changes texts. Stores on the same table share their deliveries.
 * @throws TypeError when `database` is neither (a single `Client` of `pg` cannot run concurrent transactions), when it
 *   prepares statements, or when an option is malformed or misspelt
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
      // The holder may release the key between the two statements. After three attempts, the caller is asked to retry.
      for (let attempt = 0; attempt < 3; attempt++) {
        if ((await query(sql.claim, requireKey(key), token, lease)).length > 0) return { state: 'claimed', token }
        const [held] = await query(sql.held, key)
        if (held !== undefined) return heldBy(held as HeldRow)
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
      await transaction(async ({ query: within, lend }) => {
        if ((await within(sql.runOnce, key)).length === 0) return
        const result = await lend(apply)
        const stillOpen = await within(sql.stillOpen, key).catch((error) => {
          throw error?.code === IN_FAILED_SQL_TRANSACTION ? new Error(QUERY_FAILED, { cause: error }) : error
        })
        if (stillOpen.length === 0) throw new Error(ENDED_WITHIN)
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

interface HeldRow {
  readonly state?: unknown
  readonly remaining?: unknown
}

/** Reads the row of a delivery that is claimed or done. A client may return numbers as text. */
function heldBy({ state, remaining }: HeldRow): ClaimResult {
  if (state === 'done') return { state }
  const retryMs = Number.parseFloat(String(remaining))
  if (state !== 'claimed' || !Number.isFinite(retryMs)) throw new Error(UNREADABLE)
  return { state: 'busy', retryMs }
}

const UNREADABLE =
  "postgresStore can't read the row its client returned. Let the client rename no columns (transform of postgres), and " +
  'read text as strings (type parsers of pg)'

const ENDED_WITHIN =
  'the function of runOnce ended the transaction itself (COMMIT or ROLLBACK), so that its writes were committed without ' +
  'the key, or not at all. Throw to roll back, return to commit'

const QUERY_FAILED =
  'runOnce committed nothing: a query in its function failed, and the function went on. PostgreSQL refuses to commit then'

/** The SQLSTATE of every query after one that failed: PostgreSQL would answer COMMIT with a rollback. */
const IN_FAILED_SQL_TRANSACTION = '25P02'

function databaseOf(database: PgPool | PostgresSql<unknown>): Database {
  if (typeof database === 'function' && hasMethod(database, 'unsafe') && hasMethod(database, 'begin')) {
    return postgresJsDatabase(database)
  }
  if (typeof database === 'object' && hasMethod(database, 'query') && hasMethod(database, 'connect')) {
    if (hasMethod(database, 'escapeIdentifier')) {
      throw new TypeError(
        'postgresStore got a single Client of "pg", which cannot run concurrent transactions: give it a Pool',
      )
    }
    return pgDatabase(database as PgPool)
  }
  throw new TypeError(
    'postgresStore needs a Pool of "pg" or the sql of "postgres" (not the sql of a transaction). ' +
      'The value it got lacks the methods of both',
  )
}
