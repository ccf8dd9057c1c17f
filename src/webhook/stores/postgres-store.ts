/**
 * A store for webhook deliveries in PostgreSQL, over your own pool, with `runOnce` for exactly-once processing.
 *
 * @module campaign-client/webhook/postgres
 */
import { readOptions, refuseOptions } from '../../errors/read-options.ts'
import { mayBeExecuted, type Query, type Row } from '../../postgres/database.ts'
import { mustBeDatabase, openDatabase } from '../../postgres/open-database.ts'
import type { ClientOf, PgPool } from '../../postgres/pg.ts'
import type { PostgresSql } from '../../postgres/postgres-js.ts'
import { createTables, mustBeTable, quotedTable } from '../../postgres/table.ts'
import { MAX_CLAIM_MS } from '../../shared/delivery-schedule.ts'
import { issuesAt, milliseconds, type OptionRules, optional } from '../../shared/option-checks.ts'
import {
  type ClaimResult,
  COMMITTED_BY_APPLY,
  type DeliveryStore,
  mustBeRetention,
  notStored,
  type RunOnceResult,
  requireKey,
  requireLease,
  requireLimit,
  requireMilliseconds,
  YEAR_MS,
} from './delivery-store.ts'
import { LateClaims } from './late-claims.ts'

export type { ClientOf, PgClient, PgPool } from '../../postgres/pg.ts'
export type { PostgresSql } from '../../postgres/postgres-js.ts'
export type { RunOnceResult } from './delivery-store.ts'

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
  /**
   * The time limit of the function of {@link PostgresStore.runOnce}, in milliseconds: as `maxRunMs` of the receiver.
   *
   * @defaultValue 240 000
   */
  maxRunMs?: number | undefined
}

const rules = (): OptionRules<PostgresStoreOptions> => ({
  table: optional(mustBeTable),
  runOnceRetainMs: optional(mustBeRetention),
  maxRunMs: optional(milliseconds),
})

const DEFAULT_TABLE = 'campaign_deliveries'
/** A healthy database responds in milliseconds. */
const STATEMENT_TIMEOUT_MS = 3_000
/** Another record may end between two statements. Then they are sent again. */
const MAX_INSERTS = 3

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
   * message, pass `event.id`. Claims have their own keys.
   *
   * For `runOnceRetainMs` after the commit, a call with the same key resolves to `{ ran: false }` without calling `apply`:
   * the work is done, so let the handler return normally. A concurrent call with the same key waits for up to 3 s, and runs
   * `apply` if the first call was rolled back. Do not call `runOnce` within `apply`: it may wait for itself.
   *
   * Only writes through `tx` take effect exactly once: a rollback does not recall a mail that `apply` sent. Throw to roll
   * back. `tx` cannot be used after `apply` has ended. The isolation level is READ COMMITTED.
   *
   * Each call holds one connection. If the pool has three or more (`max`), one is reserved for claims, extensions and
   * completions, and further calls wait in order.
   *
   * @param key - a non-empty string without NUL and lone surrogates
   * @param apply - receives the client of the transaction: the `PoolClient` of `pg`, the transaction's `sql` of `postgres`
   * @throws the error of `apply`, after the rollback
   * @throws Error when `apply` ignored a failed query (PostgreSQL then refuses to commit)
   * @throws Error when `apply` committed or rolled back, or took longer than `maxRunMs`
   * @throws Error when BEGIN, the INSERT of the key or COMMIT has no response for 3 s
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
   * this regularly, and again as long as it resolves to `limit`. Concurrent calls skip each other's rows.
   *
   * @param limit - the maximum number of rows to delete, from 1; keeps the transaction short
   * @defaultValue 1000
   * @returns the number of deleted rows
   * @throws ConfigurationError when `limit` is not a whole number from 1
   */
  prune(limit?: number): Promise<number>
}

/**
 * Returns the SQL statement that creates the table of `postgresStore`, for a migration or the start of your program. It does
 * nothing when the table exists, and then needs no right to create tables. Several processes may run it at once.
 *
 * Requires PostgreSQL 11 or newer. The schema of a qualified name must exist.
 *
 * @param table - as in {@link PostgresStoreOptions.table}
 * @throws ConfigurationError when the name is malformed
 *
 * @example
 * ```ts
 * await pool.query(postgresSchema())            // pg
 * await sql.unsafe(postgresSchema())            // postgres
 * ```
 */
export function postgresSchema(table: string = DEFAULT_TABLE): string {
  refuseOptions('postgresSchema', issuesAt('table', mustBeTable(table)))
  const name = quotedTable(table)
  return createTables({
    [name]: `CREATE TABLE ${name} (
      purpose text NOT NULL CHECK (purpose IN ('delivery', 'run_once')),
      key_hash bytea NOT NULL,
      key text NOT NULL,
      state text NOT NULL CHECK (state IN ('claimed', 'done')),
      token text,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (purpose, key_hash)
    );
    CREATE INDEX ON ${name} (expires_at);`,
  })
}

/**
 * Creates a delivery store in PostgreSQL 11 or newer, for receivers on several machines. Its `runOnce` applies the
 * handler's writes to the same database exactly once.
 *
 * Uses your pool and does not end it. The pool needs some settings: see "PostgreSQL" in docs/databases.md. The store
 * works behind a connection pooler in transaction mode, and uses the clock of the database. A call rejects when a statement
 * has no response for 3 s. Expired rows stay until you call {@link PostgresStore.prune}.
 *
 * See "Delivery and retries" in docs/the-service.md.
 *
 * @param database - a `Pool` of `pg`, or the `sql` of `postgres` with `prepare: false`
 * @param options - the table and times
 * @returns a store. Its methods reject with the client's error when the database is unreachable or the table does not exist,
 *   and with `ConfigurationError` when the client changes texts. They reject with `TypeError` for an empty key, or a lease or
 *   retention that is not a positive number of milliseconds. Stores on the same table share their deliveries.
 * @throws ConfigurationError when `database` is neither a pool nor an `sql`, when the `sql` prepares statements, or when an option is
 *   malformed or misspelt. A single `Client` of `pg` is refused, because it cannot run concurrent transactions
 *
 * @example
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
  const {
    table = DEFAULT_TABLE,
    runOnceRetainMs = YEAR_MS,
    maxRunMs = 240_000,
  } = readOptions('postgresStore', options, rules(), issuesAt('database', mustBeDatabase(database)))
  const { query, transaction } = openDatabase(database, {
    name: 'postgresStore',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    runsCallerFunctions: true,
  })
  const sql = deliveryStatements(table, runOnceRetainMs)
  const lateClaims = new LateClaims()
  const release = async (stored: string, token: string): Promise<boolean> =>
    (await query(sql.release, stored, token)).length > 0

  return {
    async claim(key, leaseMs): Promise<ClaimResult> {
      const stored = storedKey(key)
      const token = crypto.randomUUID()
      const lease = requireLease(leaseMs)
      try {
        const current = await insert(query, [sql.claim, stored, token, lease], [sql.currentClaim, stored, token])
        if (current === undefined) return { state: 'claimed', token }
        const [, state, remainingMs] = current
        return state === 'done' ? { state: 'done' } : { state: 'busy', retryMs: Number(remainingMs) }
      } catch (error) {
        if (mayBeExecuted(error)) void lateClaims.release(lease, () => release(stored, token))
        throw error
      }
    },

    async extend(key, token, leaseMs) {
      return (await query(sql.extend, storedKey(key), token, requireLease(leaseMs))).length > 0
    },

    async complete(key, token, retainMs) {
      const values = [storedKey(key), token, requireMilliseconds('retainMs', retainMs)] as const
      // The INSERT is for a row that is gone.
      for (const statement of [sql.complete, sql.insertDone]) {
        if ((await query(statement, ...values)).length > 0) return true
      }
      return false
    },

    async release(key, token) {
      await release(storedKey(key), token)
    },

    async runOnce<Result>(
      key: string,
      apply: (tx: unknown) => Result | PromiseLike<Result>,
    ): Promise<RunOnceResult<Awaited<Result>>> {
      const stored = storedKey(key)
      const token = crypto.randomUUID()
      let outcome: RunOnceResult<Awaited<Result>> = { ran: false }
      await transaction(async (tx) => {
        const query: Query = (...statement) => tx.query(...statement)
        if (await insert(query, [sql.runOnce, stored, token], [sql.currentRun, stored, token])) return
        const result = await tx.withClient(apply, maxRunMs)
        const stillOpen = await tx.query(sql.stillOpen, stored).catch((error) => {
          throw error?.code === IN_FAILED_SQL_TRANSACTION ? new Error(QUERY_FAILED, { cause: error }) : error
        })
        if (stillOpen.length === 0) throw new Error(COMMITTED_BY_APPLY)
        outcome = { ran: true, result }
      })
      return outcome
    },

    async prune(limit = 1000) {
      requireLimit(limit)
      return (await query(sql.prune, limit)).length
    },
  }
}

/**
 * Inserts a record.
 *
 * @returns `undefined` when the record was inserted; otherwise the current record of the key
 * @throws Error when the record was not inserted, and the key has no current record
 */
async function insert(
  query: Query,
  statement: Parameters<Query>,
  selectCurrent: Parameters<Query>,
): Promise<Row | undefined> {
  for (let attempt = 0; attempt < MAX_INSERTS; attempt++) {
    if ((await query(...statement)).length > 0) return undefined
    const [current] = await query(...selectCurrent)
    // A record with our own token is ours. A trigger that writes the row to another table makes the INSERT return nothing.
    if (current !== undefined) return current[0] === 'true' ? undefined : current
  }
  throw new Error(notStored('postgresStore'))
}

/**
 * Checks a key, and returns it in ASCII: a database that is not in UTF-8 cannot store every letter. Other characters and
 * backslashes become `\\uXXXX`, so that two keys stay different.
 */
const storedKey = (key: string): string =>
  requireKey(key).replace(/[^ -[\]-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const QUERY_FAILED =
  'runOnce committed nothing: its function ignored a failed query, and PostgreSQL then refuses to commit'

/** The SQLSTATE of every query after a failed query in the same transaction. */
const IN_FAILED_SQL_TRANSACTION = '25P02'

function deliveryStatements(tableName: string, runOnceRetainMs: number) {
  const table = quotedTable(tableName)
  const hash = "sha256(convert_to($1::text, 'UTF8'))"
  const fromNow = (ms: string) => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`
  const runOnceExpiry =
    runOnceRetainMs === Infinity ? "'infinity'::timestamptz" : fromNow(String(Math.ceil(runOnceRetainMs)))
  const delivery = `purpose = 'delivery' AND key_hash = ${hash}`
  const runOnceKey = `purpose = 'run_once' AND key_hash = ${hash}`
  const ownClaim = `${delivery} AND state = 'claimed' AND token = $2::text`
  const isOurs = '(token IS NOT DISTINCT FROM $2::text)::text AS is_ours'
  // A claim that ends later than any lease was made before the clock was set back.
  const isCurrent = (row: string) => `(${row}.expires_at > clock_timestamp()
        AND (${row}.state = 'done' OR ${row}.expires_at <= ${fromNow(String(MAX_CLAIM_MS))}))`
  // Computes the expiry again on conflict, because the statement may have waited for another session. Looks for a current row first,
  // because a trigger may write the row to a table that has no primary key.
  const insert = (purpose: string, state: string, expiry: string) => `INSERT INTO ${table} AS record
        (purpose, key_hash, key, state, token, expires_at)
      SELECT '${purpose}', ${hash}, $1::text, '${state}', $2::text, ${expiry}
      WHERE NOT EXISTS (
        SELECT 1 FROM ${table} AS other
        WHERE other.purpose = '${purpose}' AND other.key_hash = ${hash} AND ${isCurrent('other')}
      )
      ON CONFLICT (purpose, key_hash) DO UPDATE
        SET state = excluded.state, token = excluded.token, expires_at = ${expiry}
        WHERE NOT ${isCurrent('record')}
      RETURNING 1`
  return {
    claim: insert('delivery', 'claimed', fromNow('$3')),
    // The row keeps its token, so that a retry after a lost response succeeds.
    complete: `UPDATE ${table} AS record SET state = 'done', token = $2::text, expires_at = ${fromNow('$3')}
      WHERE ${delivery} AND (token = $2::text OR NOT ${isCurrent('record')}) RETURNING 1`,
    insertDone: insert('delivery', 'done', fromNow('$3')),
    currentClaim: `SELECT ${isOurs}, state,
        ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::text AS remaining
      FROM ${table} AS record WHERE ${delivery} AND ${isCurrent('record')}`,
    extend: `UPDATE ${table} SET expires_at = ${fromNow('$3')}
      WHERE ${ownClaim} AND expires_at > clock_timestamp() RETURNING 1`,
    release: `DELETE FROM ${table} WHERE ${ownClaim} RETURNING 1`,
    runOnce: insert('run_once', 'done', runOnceExpiry),
    currentRun: `SELECT ${isOurs} FROM ${table} AS record WHERE ${runOnceKey} AND ${isCurrent('record')}`,
    // Finds the row only in the transaction that wrote it.
    stillOpen: `SELECT 1 FROM ${table}
      WHERE ${runOnceKey} AND xmin::text::bigint = txid_current() % 4294967296`,
    prune: `WITH expired AS (
        SELECT purpose, key_hash FROM ${table} WHERE expires_at <= clock_timestamp()
        ORDER BY expires_at LIMIT $1::int FOR UPDATE SKIP LOCKED
      )
      DELETE FROM ${table} AS record USING expired
      WHERE record.purpose = expired.purpose AND record.key_hash = expired.key_hash
      RETURNING 1`,
  }
}
