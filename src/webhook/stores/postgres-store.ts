/**
 * A store for webhook deliveries in PostgreSQL, over your own pool, with `runOnce` for exactly-once processing.
 *
 * @module campaign-client/webhook/postgres
 */
import { ConfigurationError } from '../../errors/client-errors.ts'
import {
  issuesAt,
  milliseconds,
  type OptionRules,
  optional,
  readOptions,
  refuseOptions,
} from '../../errors/option-checks.ts'
import { mayBeExecuted, type Query, type Row, sqlStateOf } from '../../postgres/database.ts'
import { mustBeDatabase, openDatabase } from '../../postgres/open-database.ts'
import type { ClientOf, PgPool } from '../../postgres/pg.ts'
import type { PostgresSql } from '../../postgres/postgres-js.ts'
import { addColumns, createTables, hasColumn, mustBeTable, quotedTable } from '../../postgres/table.ts'
import { MAX_CLAIM_MS } from '../../shared/delivery-schedule.ts'
import {
  type ClaimResult,
  COMMITTED_BY_APPLY,
  type DeliveryFailure,
  type DeliveryStore,
  EXPIRY_SEARCH,
  type FailedDelivery,
  LateClaims,
  mustBeRetention,
  noColumns,
  notStored,
  PAGE_SIZE,
  type RunOnceResult,
  requireKey,
  requireLease,
  requireLimit,
  requireMilliseconds,
  SET_MESSAGE,
  type TakeResult,
  type WebhookFailureReason,
  YEAR_MS,
} from './delivery-store.ts'

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
/** The record that blocks the INSERT may expire before the SELECT. Then both are sent again, at most this many times in all. */
const MAX_INSERTS = 3

/** A {@link DeliveryStore} in PostgreSQL, with transactions that run exactly once. */
export interface PostgresStore<Transaction> extends Required<DeliveryStore> {
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
   * message, pass `event.id`. These keys never collide with those of claims.
   *
   * A committed key is remembered for `runOnceRetainMs` from the start of its transaction. In that time, a call with the same key
   * resolves to `{ ran: false }` without calling `apply`: the work is done, so let the handler return normally. A concurrent call
   * with the same key waits for up to 3 s, and runs `apply` if the first call was rolled back. Do not call `runOnce` within `apply`: it may wait for itself.
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
   * Deletes expired records: completed deliveries, `runOnce` keys, claims, and failed messages that are older than the `retainMs`
   * of `keepFailed`. By itself, the store deletes only some failed messages. Call this regularly, and again as long as it
   * resolves to `limit`. Concurrent calls skip each other's rows.
   *
   * @param limit - the maximum number of rows to delete, from 1; keeps the transaction short
   * @defaultValue 1000
   * @returns the number of deleted rows
   * @throws ConfigurationError when `limit` is not a whole number from 1
   */
  prune(limit?: number): Promise<number>
}

/** The columns of a kept message. Tables of earlier versions do not have them. */
const MESSAGE_COLUMNS = {
  endpoint: 'text',
  keep_ms: 'bigint',
  attempts: 'integer',
  first_failed_at: 'timestamptz',
  failure_reason: 'text',
  failure_error: 'text',
  message: 'bytea',
} as const

/**
 * Returns the SQL statement that creates the table of `postgresStore`, for a migration or the start of your program. It adds the
 * columns that a table of an earlier version does not have. When the table is complete, it does nothing, and needs no right to
 * create tables. Several processes may run it at once.
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
  const columns = Object.entries(MESSAGE_COLUMNS).map(([column, type]) => `${column} ${type},`)
  return createTables({
    [name]: {
      create: `CREATE TABLE ${name} (
      purpose text NOT NULL CHECK (purpose IN ('delivery', 'run_once')),
      key_hash bytea NOT NULL,
      key text NOT NULL,
      state text NOT NULL CHECK (state IN ('claimed', 'done')),
      token text,
      expires_at timestamptz NOT NULL,
      ${columns.join('\n      ')}
      PRIMARY KEY (purpose, key_hash)
    );
    CREATE INDEX ON ${name} (expires_at);`,
      columns: MESSAGE_COLUMNS,
    },
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
 *   and with `ConfigurationError` when the client changes texts or is of another package. They reject with `TypeError` for an empty key, or a lease or
 *   retention that is not a positive number of milliseconds. Stores on the same table share their deliveries.
 * @throws ConfigurationError when `database` is neither a pool nor an `sql`, when the `sql` prepares statements, or when an option is
 *   malformed or misspelt. A single `Client` of `pg` is refused, because it cannot run concurrent transactions. For `pg-promise`,
 *   pass `db.$pool`
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

  let found = false
  /** Whether the table has the columns for messages. Asks until it has: a migration may add them while the store is used. */
  const hasMessages = async (): Promise<boolean> => {
    found ||= (await query(sql.hasMessages, 'message')).length > 0
    return found
  }
  const requireMessages = async (): Promise<void> => {
    if (await hasMessages()) return
    throw new ConfigurationError(noColumns('postgresStore', addColumns(quotedTable(table), MESSAGE_COLUMNS)))
  }

  /** Sends statements until one returns a row. */
  async function firstRow(stored: string, ...statements: [text: string, ...values: (string | number)[]][]) {
    for (const [text, ...values] of statements) {
      const [row] = await query(text, stored, ...values)
      if (row !== undefined) return row
    }
    return undefined
  }

  async function claimWith(text: string, stored: string, ...values: [lease: number, ...(string | number)[]]) {
    const token = crypto.randomUUID()
    try {
      const other = await insert(query, [text, stored, token, ...values], [sql.currentClaim, stored, token])
      return other === undefined ? { state: 'claimed' as const, token } : otherClaim(other)
    } catch (error) {
      if (mayBeExecuted(error)) void lateClaims.release(values[0], () => release(stored, token))
      throw error
    }
  }

  /** Ends a claim. Resolves to whether it existed. */
  async function release(stored: string, token: string, failure?: DeliveryFailure): Promise<boolean> {
    if (!(await hasMessages())) return (await firstRow(stored, [sql.release, token])) !== undefined
    const { rawBody, reason = '', error } = failure ?? {}
    const kept = await firstRow(stored, [
      sql.keep,
      token,
      rawBody === undefined ? '' : toBase64(rawBody),
      reason,
      error === undefined ? '' : toAscii(error),
    ])
    if (kept === undefined) return (await firstRow(stored, [sql.release, token])) !== undefined
    await query(sql.expireMessages, EXPIRY_SEARCH)
    return true
  }

  return {
    async claim(key, leaseMs, message) {
      const stored = storedKey(key)
      const lease = requireLease(leaseMs)
      if (message === undefined) return claimWith(sql.claim, stored, lease)
      const { endpoint, rawBody, retainMs } = message
      const keepMs = requireMilliseconds('retainMs', retainMs)
      await requireMessages()
      try {
        const values = [toAscii(endpoint), keepMs, toBase64(rawBody)] as const
        return await claimWith(sql.claimWithMessage, stored, lease, ...values)
      } catch (error) {
        // A claim without its message may still fit on the disk.
        if (sqlStateOf(error) !== DISK_FULL) throw error
        return { ...(await claimWith(sql.claim, stored, lease)), notKept: error }
      }
    },

    async extend(key, token, leaseMs) {
      return (await query(sql.extend, storedKey(key), token, requireLease(leaseMs))).length > 0
    },

    async complete(key, token, retainMs) {
      const stored = storedKey(key)
      const values = [token, requireMilliseconds('retainMs', retainMs)] as const
      const complete = (await hasMessages()) ? sql.completeWithMessage : sql.complete
      // The INSERT is for a row that is gone.
      return (await firstRow(stored, [complete, ...values], [sql.insertDone, ...values])) !== undefined
    },

    async release(key, token, failure) {
      await release(storedKey(key), token, failure)
    },

    async failed(endpoint, after = '', limit = PAGE_SIZE) {
      await requireMessages()
      const [lastFailedAt = '', hash = ''] = after.split(' ')
      const start = lastFailedAt === '' ? '-infinity' : lastFailedAt
      return (await query(sql.failed, toAscii(endpoint), start, hash, limit)).map(toFailedDelivery)
    },

    async take(key, leaseMs, endpoint = ''): Promise<TakeResult> {
      const stored = storedKey(key)
      const lease = requireLease(leaseMs)
      await requireMessages()
      const token = crypto.randomUUID()
      try {
        const [message] = (await firstRow(stored, [sql.take, token, lease, toAscii(endpoint)])) ?? []
        if (message) return { state: 'claimed', token, rawBody: fromBase64(message) }
      } catch (error) {
        if (mayBeExecuted(error)) void lateClaims.release(lease, () => release(stored, token))
        throw error
      }
      const other = await firstRow(stored, [sql.notTaken, token, toAscii(endpoint)])
      return other === undefined ? { state: 'unknown' } : otherClaim(other)
    },

    async forget(key, endpoint = '') {
      const stored = storedKey(key)
      const own = toAscii(endpoint)
      await requireMessages()
      return (await firstRow(stored, [sql.forget, own], [sql.forgetClaimed, own])) !== undefined
    },

    async runOnce<Result>(
      key: string,
      apply: (tx: unknown) => Result | PromiseLike<Result>,
    ): Promise<RunOnceResult<Awaited<Result>>> {
      const stored = storedKey(key)
      const token = crypto.randomUUID()
      const stillOpen = (await hasMessages()) ? sql.stillOpenWithMessage : sql.stillOpen
      let outcome: RunOnceResult<Awaited<Result>> = { ran: false }
      await transaction(async (tx) => {
        const query: Query = (...statement) => tx.query(...statement)
        if (await insert(query, [sql.runOnce, stored, token], [sql.currentRun, stored, token])) return
        const result = await tx.withClient(apply, maxRunMs)
        const rows = await tx.query(stillOpen, stored).catch((error) => {
          throw error?.code === IN_FAILED_SQL_TRANSACTION ? new Error(QUERY_FAILED, { cause: error }) : error
        })
        if (rows.length === 0) throw new Error(COMMITTED_BY_APPLY)
        outcome = { ran: true, result }
      })
      return outcome
    },

    async prune(limit = 1000) {
      requireLimit(limit)
      const prune = (await hasMessages()) ? sql.pruneExceptMessages : sql.prune
      return (await query(prune, limit)).length
    },
  }
}

/** Reads the current record of a key that another claim has. */
const otherClaim = ([, state, remainingMs]: Row): Exclude<ClaimResult, { state: 'claimed' }> =>
  state === 'done' ? { state: 'done' } : { state: 'busy', retryMs: Number(remainingMs) }

/** Reads a row of the statement `failed`. */
function toFailedDelivery(row: Row): FailedDelivery {
  const [key, message, attempts, reason, error, firstFailedAt, lastFailedAt, ageMs, hash] = row as string[]
  const toIso = (time = ''): string => `${time.slice(0, 23)}Z`
  return {
    key: fromAscii(key),
    rawBody: fromBase64(message),
    attempts: Number(attempts),
    reason: reason as WebhookFailureReason,
    ...(error && { error: fromAscii(error) }),
    firstFailedAt: toIso(firstFailedAt),
    lastFailedAt: toIso(lastFailedAt),
    ageMs: Number(ageMs),
    position: `${lastFailedAt}Z ${hash}`,
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

/** Checks a key, and returns it in ASCII. */
const storedKey = (key: string): string => toAscii(requireKey(key))

/**
 * Returns a text in ASCII: a database that is not in UTF-8 cannot store every letter. Other characters and backslashes become
 * `\\uXXXX`, so that two keys stay different.
 */
const toAscii = (text: string): string =>
  text.replace(/[^ -[\]-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const fromAscii = (text = ''): string =>
  text.replace(/\\u([0-9a-f]{4})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)))

/** Bytes are sent as text, because a client may convert other types. */
function toBase64(bytes: Uint8Array): string {
  let text = ''
  // A call with all bytes would have too many arguments.
  for (let start = 0; start < bytes.length; start += 8192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8192))
  }
  return btoa(text)
}

const fromBase64 = (text = ''): Uint8Array => Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))

/** The SQLSTATE of a full disk. */
const DISK_FULL = '53100'

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
  // A released claim has no token. A claim with more than `MAX_CLAIM_MS` left was made before the clock was set back.
  const isCurrent = (row: string) => `(${row}.expires_at > clock_timestamp()
        AND (${row}.state = 'done' OR ${row}.token IS NOT NULL AND ${row}.expires_at <= ${fromNow(String(MAX_CLAIM_MS))}))`
  // Computes the expiry again on conflict, because the statement may have waited for another session. Looks for a current row first,
  // because a trigger may write the row to a table that has no primary key.
  const insert = (purpose: string, state: string, expiry: string, more = { columns: '', values: '', set: '' }) =>
    `INSERT INTO ${table} AS record
        (purpose, key_hash, key, state, token, expires_at${more.columns})
      SELECT '${purpose}', ${hash}, $1::text, '${state}', $2::text, ${expiry}${more.values}
      WHERE NOT EXISTS (
        SELECT 1 FROM ${table} AS other
        WHERE other.purpose = '${purpose}' AND other.key_hash = ${hash} AND ${isCurrent('other')}
      )
      ON CONFLICT (purpose, key_hash) DO UPDATE
        SET state = excluded.state, token = excluded.token, expires_at = ${expiry}${more.set}
        WHERE NOT ${isCurrent('record')}
      RETURNING 1`
  const complete = (set = '') => `UPDATE ${table} AS record
      SET state = 'done', token = $2::text, expires_at = ${fromNow('$3')}${set}
      WHERE ${delivery} AND (token = $2::text OR NOT ${isCurrent('record')}) RETURNING 1`
  const noMessage = 'message = NULL, failure_reason = NULL, failure_error = NULL'
  // The parameter may be empty, and the endpoint of a claim without a message is NULL.
  const ofEndpoint = (parameter: string) => `coalesce(endpoint = nullif(${parameter}::text, ''), true)`
  // The expiry of a failed delivery is the time of its last failure: the release, or the end of the lease.
  const isFailed = "record.state = 'claimed' AND record.message IS NOT NULL"
  const isKept = `${isFailed}
        AND record.expires_at + record.keep_ms * interval '1 millisecond' > clock_timestamp()`
  // PostgreSQL does not use an index for `clock_timestamp()`, because it is volatile.
  const hasEnded = 'expires_at <= statement_timestamp()'
  const remaining = 'greatest(ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000), 0)::text AS remaining'
  const iso = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`
  // Finds the row only in the transaction that wrote it.
  const stillOpen = `SELECT 1 FROM ${table} WHERE ${runOnceKey} AND xmin::text::bigint = txid_current() % 4294967296`
  const prune = (condition = '') => `WITH expired AS (
        SELECT purpose, key_hash FROM ${table} AS record WHERE ${hasEnded}${condition}
        ORDER BY expires_at LIMIT $1::bigint FOR UPDATE SKIP LOCKED
      )
      DELETE FROM ${table} AS record USING expired
      WHERE record.purpose = expired.purpose AND record.key_hash = expired.key_hash
      RETURNING 1`
  return {
    claim: insert('delivery', 'claimed', fromNow('$3')),
    // The row keeps its token, so that a retry after a lost response succeeds.
    complete: complete(),
    insertDone: insert('delivery', 'done', fromNow('$3')),
    currentClaim: `SELECT ${isOurs}, state, ${remaining}
      FROM ${table} AS record WHERE ${delivery} AND ${isCurrent('record')}`,
    extend: `UPDATE ${table} SET expires_at = ${fromNow('$3')}
      WHERE ${ownClaim} AND expires_at > clock_timestamp() RETURNING 1`,
    release: `DELETE FROM ${table} WHERE ${ownClaim} RETURNING 1`,
    runOnce: insert('run_once', 'done', runOnceExpiry),
    currentRun: `SELECT ${isOurs} FROM ${table} AS record WHERE ${runOnceKey} AND ${isCurrent('record')}`,
    stillOpen,
    prune: prune(),
    hasMessages: hasColumn(table, '$1::text'),

    // The following statements need the columns for messages.
    claimWithMessage: insert('delivery', 'claimed', fromNow('$3'), {
      columns: ', endpoint, keep_ms, attempts, message',
      values: ", $4::text, $5::bigint, 1, decode($6::text, 'base64')",
      set: SET_MESSAGE,
    }),
    completeWithMessage: complete(`, ${noMessage}`),
    // Releases a claim and keeps its message. `runOnce` may have removed the message: it is stored again. After `forget`, which
    // removes the endpoint, too, nothing is kept.
    keep: `UPDATE ${table}
      SET token = NULL, expires_at = clock_timestamp(),
        message = coalesce(message, decode(nullif($3::text, ''), 'base64')),
        first_failed_at = coalesce(first_failed_at, clock_timestamp()),
        failure_reason = nullif($4::text, ''), failure_error = nullif($5::text, '')
      WHERE ${ownClaim} AND endpoint IS NOT NULL RETURNING 1`,
    take: `UPDATE ${table} AS record
      SET token = $2::text, expires_at = ${fromNow('$3')}, attempts = attempts + 1,
        first_failed_at = coalesce(first_failed_at, expires_at), failure_reason = NULL, failure_error = NULL
      WHERE ${delivery} AND ${ofEndpoint('$4')} AND ${isKept} AND NOT ${isCurrent('record')}
      RETURNING encode(message, 'base64') AS message`,
    // The lease of another claim may have ended since `take`.
    notTaken: `SELECT ${isOurs}, state, ${remaining}
      FROM ${table} AS record WHERE ${delivery} AND ${ofEndpoint('$3')} AND (${isKept} OR ${isCurrent('record')})`,
    // The subquery limits the rows before their messages are read and encoded.
    failed: `SELECT key, encode(message, 'base64') AS body, attempts::text AS attempts,
        coalesce(failure_reason, 'not_finished') AS reason, failure_error,
        ${iso('coalesce(first_failed_at, expires_at)')} AS first_failed_at, ${iso('expires_at')} AS last_failed_at,
        ceil(extract(epoch FROM clock_timestamp() - date_trunc('milliseconds', expires_at)) * 1000)::text AS age,
        encode(key_hash, 'hex') AS hash
      FROM (
        SELECT * FROM ${table} AS record
        WHERE ${hasEnded} AND ${isKept} AND endpoint = $1::text
          AND (expires_at, key_hash) > ($2::text::timestamptz, decode($3::text, 'hex'))
        ORDER BY record.expires_at, record.key_hash LIMIT $4::bigint
      ) AS page
      ORDER BY page.expires_at, page.key_hash`,
    forget: `DELETE FROM ${table} AS record
      WHERE ${delivery} AND ${ofEndpoint('$2')} AND ${isFailed} AND NOT ${isCurrent('record')} RETURNING 1`,
    forgetClaimed: `UPDATE ${table} SET endpoint = NULL, message = NULL
      WHERE ${delivery} AND ${ofEndpoint('$2')} AND state = 'claimed' AND endpoint IS NOT NULL RETURNING 1`,
    // Removes the message at the end of the transaction: before, the lock of its row would delay the extensions of the lease.
    stillOpenWithMessage: `WITH removed AS (
        UPDATE ${table} SET message = NULL
        WHERE ${delivery} AND message IS NOT NULL AND EXISTS (${stillOpen}) RETURNING 1
      )
      ${stillOpen}`,
    pruneExceptMessages: prune(` AND NOT (${isKept})`),
    expireMessages: `WITH oldest AS (
        SELECT purpose, key_hash FROM ${table} WHERE ${hasEnded}
        ORDER BY expires_at LIMIT $1::bigint
      )
      DELETE FROM ${table} AS record USING oldest
      WHERE record.purpose = oldest.purpose AND record.key_hash = oldest.key_hash AND ${isFailed} AND NOT (${isKept})
      RETURNING 1`,
  }
}
