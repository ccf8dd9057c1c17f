/**
 * A durable store for webhook deliveries in one SQLite file, with `runOnce` for exactly-once processing on one machine.
 *
 * @module campaign-client/webhook/sqlite
 */
import { ConfigurationError } from '../../errors/client-errors.ts'
import { issuesAt, type OptionRules, optional, readOptions, refuseOptions } from '../../errors/option-checks.ts'
import { MAX_CLAIM_MS } from '../../shared/delivery-schedule.ts'
import { toVisible } from '../../shared/text.ts'
import { sleep } from '../../shared/timers.ts'
import { hasMethod, typeName } from '../../shared/type-checks.ts'
import {
  atOnce,
  BusyError,
  fileIdentity,
  isPromise,
  loadSqlite,
  openSqlite,
  requireSynchronous,
  type SqliteDatabase,
  type SqliteStatement,
  type SqliteValue,
  sqliteProblem,
  YOUR_DATABASE,
} from '../../sqlite/sqlite.ts'
import {
  type ClaimResult,
  COMMITTED_BY_APPLY,
  type DeliveryStore,
  EXPIRY_SEARCH,
  type FailedDelivery,
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

export type { SqliteDatabase, SqliteStatement, SqliteValue } from '../../sqlite/sqlite.ts'
export type { RunOnceResult } from './delivery-store.ts'

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /**
   * The table: letters, digits and underscores, at most 63 characters.
   *
   * @defaultValue `'campaign_deliveries'`
   */
  table?: string | undefined
  /**
   * How long {@link SqliteStore.runOnce} remembers a key, in milliseconds, or `Infinity`. Use at least the `retainMs` of
   * the receiver: after the key has expired, a replayed message is applied again.
   *
   * @defaultValue 31 536 000 000, which is 365 days
   */
  runOnceRetainMs?: number | undefined
}

/** A {@link DeliveryStore} in SQLite, with transactions that run exactly once. */
export interface SqliteStore<Database> extends Required<DeliveryStore> {
  /**
   * Runs `apply` in a transaction that also records `key`: both are committed, or neither is. Writes through `db` take
   * effect exactly once per key, even if the process dies or the message is replayed.
   *
   * ```ts
   * handle: async (event, { key }) => {
   *   await store.runOnce(key, (db) => {
   *     db.prepare('UPDATE balances SET xp = xp + ? WHERE user_id = ?').run(xp, user)
   *   })
   * }
   * ```
   *
   * Pass the `key` that the handler receives. For `runOnceRetainMs` after the commit, a call with the same key resolves to
   * `{ ran: false }` without calling `apply`: the work is done, so let the handler return normally.
   *
   * `apply` must be synchronous, because all code of the process uses the same connection: a write after an `await` would be
   * outside the transaction, and stay. Throw to roll back. Without WAL, a reader can prevent the commit. The transaction is
   * then rolled back, and `apply` is called again.
   *
   * @param key - a non-empty string without NUL and lone surrogates
   * @param apply - receives the database of the store
   * @throws the error of `apply`, after the rollback
   * @throws TypeError when the key is malformed, `apply` is an `async` function (it is not called), or `apply` returns a promise
   *   (its writes so far are rolled back, but later ones are not)
   * @throws Error when `apply` committed or rolled back, the database was locked for 5 s, or it is inside a transaction
   */
  runOnce<Result>(key: string, apply: (db: Database) => Result): Promise<RunOnceResult<Result>>

  /**
   * Deletes expired records: completed deliveries, `runOnce` keys, claims, and failed messages that are older than the `retainMs`
   * of `keepFailed`. The store never deletes the others by itself: call this regularly, and again as long as it resolves to
   * `limit`.
   *
   * @param limit - the maximum number of rows to delete, from 1; keeps the transaction short
   * @defaultValue 1000
   * @returns the number of deleted rows
   * @throws ConfigurationError when `limit` is not a whole number from 1
   */
  prune(limit?: number): Promise<number>

  /** Closes the file that the store opened. Later calls reject. Does nothing over your own database. */
  close(): void
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/
const DEFAULT_TABLE = 'campaign_deliveries'

const mustBeSqliteTable = (value: unknown): string | undefined =>
  typeof value === 'string' && NAME.test(value) && !/^sqlite_/i.test(value)
    ? undefined
    : 'must be a name: letters, digits and underscores, not starting with a digit or sqlite_, at most 63 characters; ' +
      `got ${typeof value === 'string' ? JSON.stringify(value) : typeName(value)}`

const rules = (): OptionRules<SqliteStoreOptions> => ({
  table: optional(mustBeSqliteTable),
  runOnceRetainMs: optional(mustBeRetention),
})

/** The columns of a kept message. Tables of earlier versions do not have them. */
const MESSAGE_COLUMNS: Readonly<Record<string, string>> = {
  endpoint: 'TEXT',
  keep_ms: 'INTEGER',
  attempts: 'INTEGER',
  first_failed_at: 'INTEGER',
  failure_reason: 'TEXT',
  failure_error: 'TEXT',
  message: 'BLOB',
}

/** Returns the statements that add columns to a table. */
const addColumns = (table: string, names: readonly string[]): string =>
  names.map((name) => `ALTER TABLE "${table}" ADD COLUMN ${name} ${MESSAGE_COLUMNS[name]};`).join(' ')

/**
 * Returns the SQL that creates the table of {@link sqliteStore} in your own database. It does nothing when the table exists. A
 * store over a path runs it by itself, and adds the columns that a table of an earlier version does not have.
 *
 * @param table - as in {@link SqliteStoreOptions.table}
 * @throws ConfigurationError when the name is malformed
 *
 * @example
 * ```ts
 * database.exec(sqliteSchema())
 * ```
 */
export function sqliteSchema(table: string = DEFAULT_TABLE): string {
  refuseOptions('sqliteSchema', issuesAt('table', mustBeSqliteTable(table)))
  return `CREATE TABLE IF NOT EXISTS "${table}" (
  purpose TEXT NOT NULL CHECK (purpose IN ('delivery', 'run_once')),
  key TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('claimed', 'done')),
  token TEXT,
  expires_at INTEGER NOT NULL, -- milliseconds since 1970
${Object.entries(MESSAGE_COLUMNS)
  .map(([name, type]) => `  ${name} ${type},\n`)
  .join('')}  PRIMARY KEY (purpose, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS "${table}_expires_at" ON "${table}" (expires_at);`
}

/**
 * Creates a durable delivery store for a service on one machine. Several processes on the machine may use the same file.
 *
 * A path is opened with `node:sqlite` at the first use (WAL, `synchronous = FULL`). File and table are created, the folder is
 * not. Your own database is a `DatabaseSync` of `node:sqlite` or a `Database` of `better-sqlite3`, with any settings: run
 * {@link sqliteSchema} before the first use, and close it yourself. A database with callbacks or promises is refused at the first use. Each call is one transaction (`BEGIN IMMEDIATE`), so it
 * rejects while your own code has a transaction open. Never open one file with `node:sqlite` and `better-sqlite3` in the same
 * process: closing one connection releases the locks of the other.
 *
 * When another connection holds the lock, the store tries again for 5 s, without blocking the event loop, whatever the
 * timeout of your database. The clock is the clock of the machine. Expired rows stay until you call {@link SqliteStore.prune}.
 *
 * See "Delivery and retries" in docs/the-service.md.
 *
 * @param database - the path of a file on a local filesystem, or your own database
 * @param options - the table and times
 * @returns a store. Its methods reject with the error of SQLite when the database cannot be used, with `ConfigurationError` when
 *   it does not return rows at once, and with `TypeError` for an empty key, or a lease or retention that is not a positive number
 *   of milliseconds
 * @throws ConfigurationError when `database` is neither a path nor a database, an option is malformed or misspelt, or
 *   `database` is a path, and this runtime has no `node:sqlite` (Node.js has it from 22.13)
 *
 * @example
 * ```ts
 * import { createWebhookReceiver } from 'campaign-client/webhook'
 * import { sqliteStore } from 'campaign-client/webhook/sqlite'
 *
 * const store = sqliteStore('deliveries.db')
 * const receiver = createWebhookReceiver({ endpoint: 'orders', secret, store, handle })
 * ```
 */
export function sqliteStore(database: string, options?: SqliteStoreOptions): SqliteStore<SqliteDatabase>
export function sqliteStore<Database extends SqliteDatabase>(
  database: Database,
  options?: SqliteStoreOptions,
): SqliteStore<Database>
export function sqliteStore(
  source: string | SqliteDatabase,
  options: SqliteStoreOptions = {},
): SqliteStore<SqliteDatabase> {
  const sourceIssues = issuesAt('database', mustBePathOrDatabase(source))
  const own = readOptions('sqliteStore', options, rules(), sourceIssues)
  const { table = DEFAULT_TABLE, runOnceRetainMs = YEAR_MS } = own
  if (typeof source === 'string') loadSqlite('sqliteStore with a path')
  const connection = new StoreConnection(source, table)
  const sql = sqliteStatements(table, runOnceRetainMs)

  /** Runs `work` in a transaction, with the statements for messages. */
  const withMessages = <Result>(work: () => Result): Promise<Result> =>
    connection.transaction(() => {
      if (connection.hasMessages()) return work()
      throw new ConfigurationError(noColumns('sqliteStore', addColumns(table, connection.missingColumns())))
    })

  /** Returns a claim after a statement that claims returned no row. */
  function otherClaim(
    statement: string,
    ...values: SqliteValue[]
  ): Exclude<ClaimResult, { state: 'claimed' }> | undefined {
    const [state, remainingMs] = connection.find(statement, ...values) ?? []
    if (state === undefined) return undefined
    return state === 'done' ? { state: 'done' } : { state: 'busy', retryMs: Number(remainingMs) }
  }

  function claimWith(statement: string, key: string, ...values: SqliteValue[]): ClaimResult {
    const token = crypto.randomUUID()
    if (connection.changes(statement, key, token, ...values)) return { state: 'claimed', token }
    const other = otherClaim(sql.current, key)
    if (other === undefined) throw new Error(notStored('sqliteStore'))
    return other
  }

  return {
    async claim(key, leaseMs, message) {
      const lease = requireLease(leaseMs)
      requireKey(key)
      const claim = () => claimWith(sql.claim, key, lease)
      if (message === undefined) return connection.transaction(claim)
      const { endpoint, rawBody, retainMs } = message
      const keepMs = requireMilliseconds('retainMs', retainMs)
      try {
        return await withMessages(() => claimWith(sql.claimWithMessage, key, lease, endpoint, keepMs, rawBody))
      } catch (error) {
        // A claim without its message may still fit on the disk.
        if (sqliteProblem(error) !== 'full') throw error
        return { ...(await connection.transaction(claim)), notKept: error }
      }
    },

    async extend(key, token, leaseMs) {
      const values = [requireLease(leaseMs), requireKey(key), token]
      return connection.transaction(() => connection.changes(sql.extend, ...values))
    },

    async complete(key, token, retainMs) {
      const values = [requireKey(key), token, requireMilliseconds('retainMs', retainMs)]
      return connection.transaction(() => {
        const statement = connection.hasMessages() ? sql.completeWithMessage : sql.complete
        return connection.changes(statement, ...values)
      })
    },

    async release(key, token, failure) {
      requireKey(key)
      await connection.transaction(() => {
        if (!connection.hasMessages()) return connection.changes(sql.release, key, token)
        const { rawBody = null, reason = null, error = null } = failure ?? {}
        const isKept = connection.changes(sql.keep, rawBody, reason, error, key, token)
        return isKept ? connection.count(sql.expireMessages) : connection.changes(sql.release, key, token)
      })
    },

    async failed(endpoint, after = '', limit = PAGE_SIZE) {
      const [, lastFailedAt = '-1', lastKey = ''] = /^(\d+) (.+)$/s.exec(after) ?? []
      const rows = await withMessages(() =>
        connection.findAll(sql.failed, endpoint, Number(lastFailedAt), lastKey, limit),
      )
      return rows.map(toFailedDelivery)
    },

    async take(key, leaseMs, endpoint): Promise<TakeResult> {
      const token = crypto.randomUUID()
      const lease = requireLease(leaseMs)
      requireKey(key)
      return withMessages(() => {
        const [message] = connection.find(sql.take, token, lease, key, endpoint ?? null) ?? []
        if (message !== undefined) return { state: 'claimed', token, rawBody: new Uint8Array(message as Uint8Array) }
        return otherClaim(sql.notTaken, key, endpoint ?? null) ?? { state: 'unknown' }
      })
    },

    async forget(key, endpoint) {
      const values = [requireKey(key), endpoint ?? null]
      return withMessages(() =>
        [sql.forget, sql.forgetClaimed].some((statement) => connection.changes(statement, ...values)),
      )
    },

    async runOnce<Result>(key: string, apply: (db: SqliteDatabase) => Result): Promise<RunOnceResult<Result>> {
      requireKey(key)
      if (/Async|Generator/.test(Object.prototype.toString.call(apply))) throw new TypeError(NOT_SYNCHRONOUS)
      return connection.transaction((): RunOnceResult<Result> => {
        if (connection.changes(sql.runOnce, key)) {
          const result = connection.callSynchronously(apply)
          if (connection.hasMessages()) connection.changes(sql.removeMessage, key)
          return { ran: true, result }
        }
        if (connection.find(sql.hasRun, key) === undefined) throw new Error(notStored('sqliteStore'))
        return { ran: false }
      })
    },

    async prune(limit = 1000) {
      requireLimit(limit)
      return connection.transaction(() =>
        connection.count(connection.hasMessages() ? sql.pruneExceptMessages : sql.prune, limit),
      )
    },

    close: () => connection.close(),
  }
}

/** Reads a row of the statement `failed`. A database may return bigints. */
function toFailedDelivery(row: unknown[]): FailedDelivery {
  const [key, message, attempts, reason, error, firstFailedAt, lastFailedAt, ageMs] = row
  return {
    key: String(key),
    rawBody: new Uint8Array(message as Uint8Array),
    attempts: Number(attempts),
    reason: reason as WebhookFailureReason,
    ...(error !== null && { error: String(error) }),
    firstFailedAt: new Date(Number(firstFailedAt)).toISOString(),
    lastFailedAt: new Date(Number(lastFailedAt)).toISOString(),
    ageMs: Number(ageMs),
    position: `${lastFailedAt} ${key}`,
  }
}

const mustBePathOrDatabase = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') ||
  (typeof value === 'object' && hasMethod(value, 'exec') && hasMethod(value, 'prepare'))
    ? undefined
    : `must be the path of a file, ${YOUR_DATABASE}; got ${value === '' ? "''" : typeName(value)}`

const NOT_SYNCHRONOUS =
  'the function of runOnce must be synchronous: what it writes after an await would be outside the transaction'

/** How long a locked database is tried again. */
const MAX_BUSY_MS = 5_000
const MAX_WAIT_MS = 100

/** The database of a store. All calls run in transactions, one after the other. */
class StoreConnection {
  readonly #source: string | SqliteDatabase
  readonly #table: string
  #opened: SqliteDatabase | undefined
  #isClosed = false
  /** The path of the database, from the first use on. Empty for a database in memory. */
  #path: string | undefined
  /** The files of the database, by path. */
  readonly #files = new Map<string, string>()
  readonly #statements = new Map<string, SqliteStatement>()
  #hasMessages = false

  constructor(source: string | SqliteDatabase, table: string) {
    this.#source = source
    this.#table = table
  }

  /** Runs `work` in a transaction: committed when it returns, rolled back when it throws. Waits while another connection writes. */
  async transaction<Result>(work: () => Result): Promise<Result> {
    const end = performance.now() + MAX_BUSY_MS
    for (let waitMs = 5; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      try {
        return this.#transact(work)
      } catch (error) {
        if (!(error instanceof BusyError)) throw error
        if (performance.now() >= end) throw new Error(LOCKED, { cause: error.cause })
      }
      await sleep(Math.random() * waitMs)
    }
  }

  #transact<Result>(work: () => Result): Result {
    const database = this.#open()
    // The columns are the number, the name and the path.
    this.#path ??= String(this.find('PRAGMA database_list')?.[2] ?? '')
    this.#checkFile(this.#path)
    this.#executeAtOnce('BEGIN IMMEDIATE')
    try {
      if (this.find('PRAGMA journal_mode')?.[0] === 'wal') {
        // They exist until the last connection is closed. In exclusive locking mode, there is no index.
        this.#checkFile(`${this.#path}-wal`)
        this.#checkFile(`${this.#path}-shm`)
      }
      const result = work()
      this.#executeAtOnce('COMMIT')
      return result
    } catch (error) {
      try {
        database.exec('ROLLBACK')
      } catch {
        // SQLite has rolled back, or the function of runOnce has ended the transaction.
      }
      throw error
    }
  }

  #executeAtOnce(statement: string): void {
    const database = this.#open()
    try {
      atOnce(database, Number(this.find('PRAGMA busy_timeout')?.[0]), () => database.exec(statement))
    } catch (error) {
      if (/within a transaction/.test(String(error))) throw new Error(INSIDE_TRANSACTION, { cause: error })
      throw error
    }
  }

  #open(): SqliteDatabase {
    if (this.#isClosed) throw new Error('sqliteStore: the store is closed')
    this.#opened ??=
      typeof this.#source === 'string'
        ? openFile(this.#source, this.#table)
        : requireSynchronous('sqliteStore', this.#source)
    return this.#opened
  }

  /**
   * SQLite goes on writing to a file that was deleted or replaced, where no other process sees the records.
   *
   * @throws Error when the path no longer has the file that was used first
   */
  #checkFile(path: string): void {
    const identity = fileIdentity(path)
    const first = this.#files.get(path)
    if (first !== undefined && identity !== first) throw new Error(replaced(path))
    if (identity !== undefined) this.#files.set(path, identity)
  }

  close(): void {
    if (typeof this.#source !== 'string') return
    this.#isClosed = true
    this.#statements.clear()
    this.#opened?.close()
    this.#opened = undefined
  }

  /**
   * Runs a statement with RETURNING. Returns whether it changed a row. The number of changes that `run` returns is wrong after
   * `PRAGMA count_changes = 1` in Node.js 22.
   */
  changes(statement: string, ...values: SqliteValue[]): boolean {
    return this.find(statement, ...values) !== undefined
  }

  /** Runs a statement with RETURNING. Returns the number of rows that it changed. */
  count(statement: string, ...values: SqliteValue[]): number {
    return this.#prepare(statement).all(...values).length
  }

  /** Returns the columns of the first row. The database may be configured to return rows as arrays. */
  find(statement: string, ...values: SqliteValue[]): unknown[] | undefined {
    const row = this.#prepare(statement).get(...values) ?? undefined
    return row === undefined ? undefined : Object.values(row)
  }

  /** Returns the columns of all rows. */
  findAll(statement: string, ...values: SqliteValue[]): unknown[][] {
    return this.#prepare(statement)
      .all(...values)
      .map((row) => Object.values(row as object))
  }

  /** Whether the table has the columns for messages. You may add them to your own database at any time. */
  hasMessages(): boolean {
    this.#hasMessages ||= this.missingColumns().length === 0
    return this.#hasMessages
  }

  missingColumns(): string[] {
    return missingColumns(this.#open(), this.#table)
  }

  #prepare(statement: string): SqliteStatement {
    const prepared = this.#statements.get(statement) ?? this.#open().prepare(statement)
    this.#statements.set(statement, prepared)
    return prepared
  }

  /** Calls the function of `runOnce`. The savepoint is lost if the function ends the transaction. */
  callSynchronously<Result>(apply: (db: SqliteDatabase) => Result): Result {
    const database = this.#open()
    database.exec('SAVEPOINT campaign_client')
    const result = apply(database)
    if (isPromise(result)) throw new TypeError(NOT_SYNCHRONOUS)
    try {
      database.exec('RELEASE campaign_client')
    } catch (error) {
      throw new Error(COMMITTED_BY_APPLY, { cause: error })
    }
    return result
  }
}

const LOCKED = `sqliteStore: the database is busy: another connection has locked it for ${MAX_BUSY_MS} ms`

const replaced = (path: string): string =>
  `sqliteStore: the file ${toVisible(path)} was deleted or replaced while it was open. Stop all processes that use it, and start them again`

const INSIDE_TRANSACTION =
  'sqliteStore: your database is inside a transaction. Do not await in a transaction, and do not call the store in it'

function openFile(path: string, table: string): SqliteDatabase {
  let database: SqliteDatabase | undefined
  try {
    database = openSqlite('sqliteStore', path)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    database.exec(`BEGIN IMMEDIATE; ${sqliteSchema(table)}`)
    database.exec(`${addColumns(table, missingColumns(database, table))} COMMIT`)
    return database
  } catch (error) {
    database?.close()
    const problem = sqliteProblem(error)
    if (problem === 'busy') throw new BusyError(undefined, { cause: error })
    const hint = problem === 'cantopen' ? ': its folder must exist, and the file must be writable' : ''
    throw new Error(`sqliteStore can't use the file ${toVisible(path)}: ${(error as Error).message}${hint}`, {
      cause: error,
    })
  }
}

/** Returns the columns for messages that a table does not have. */
function missingColumns(database: SqliteDatabase, table: string): string[] {
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(table)
  const names = columns.map((row) => Object.values(row as object)[0])
  return Object.keys(MESSAGE_COLUMNS).filter((name) => !names.includes(name))
}

function sqliteStatements(table: string, runOnceRetainMs: number) {
  const now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
  const fromNow = (ms: string) => `${now} + CAST(${ms} AS INTEGER)`
  const runOnceExpiry =
    runOnceRetainMs === Infinity ? '9223372036854775807' : fromNow(String(Math.ceil(runOnceRetainMs)))
  // A released claim has no token. A claim that ends later than any lease was made before the clock was set back.
  const isExpired = `(record.expires_at <= ${now}
          OR record.state = 'claimed' AND (record.token IS NULL OR record.expires_at > ${fromNow(String(MAX_CLAIM_MS))}))`
  const ofKey = "purpose = 'delivery' AND key = ?"
  const currentClaim = `${ofKey} AND state = 'claimed' AND token = ?`
  const write = (
    purpose: string,
    state: string,
    token: string,
    expiry: string,
    { columns = '', values = '', set = '', condition = '' } = {},
  ) => `INSERT INTO "${table}" AS record (purpose, key, state, token, expires_at${columns})
      VALUES ('${purpose}', ?, '${state}', ${token}, ${expiry}${values})
      ON CONFLICT (purpose, key) DO UPDATE
        SET state = excluded.state, token = excluded.token, expires_at = excluded.expires_at${set}
        WHERE ${condition}${isExpired}
      RETURNING 1`
  const complete = (set?: string) =>
    write('delivery', 'done', '?', fromNow('?'), { set, condition: 'record.token = excluded.token OR ' })
  const noMessage = 'message = NULL, failure_reason = NULL, failure_error = NULL'
  // The parameter may be NULL, and so may the endpoint of a claim without a message.
  const ofEndpoint = `${ofKey} AND coalesce(endpoint = ?, TRUE)`
  // The expiry of a failed delivery is the time of its last failure: the release, or the end of the lease.
  const isFailed = "record.state = 'claimed' AND record.message IS NOT NULL"
  const isKept = `${isFailed} AND record.expires_at + record.keep_ms > ${now}`
  const isOldest = (limit: string, condition = '') => `(purpose, key) IN (
        SELECT purpose, key FROM "${table}" AS record WHERE expires_at <= ${now}${condition} ORDER BY expires_at LIMIT ${limit}
      )`
  return {
    claim: write('delivery', 'claimed', '?', fromNow('?')),
    // The row keeps its token, so that a retry after a lost response succeeds.
    complete: complete(),
    current: `SELECT state, max(expires_at - ${now}, 0) FROM "${table}" WHERE ${ofKey}`,
    extend: `UPDATE "${table}" SET expires_at = ${fromNow('?')} WHERE ${currentClaim} AND expires_at > ${now} RETURNING 1`,
    release: `DELETE FROM "${table}" WHERE ${currentClaim} RETURNING 1`,
    runOnce: write('run_once', 'done', 'NULL', runOnceExpiry),
    hasRun: `SELECT 1 FROM "${table}" WHERE purpose = 'run_once' AND key = ?`,
    prune: `DELETE FROM "${table}" WHERE ${isOldest('CAST(? AS INTEGER)')} RETURNING 1`,

    // The following statements need the columns for messages.
    claimWithMessage: write('delivery', 'claimed', '?', fromNow('?'), {
      columns: ', endpoint, keep_ms, attempts, message',
      values: ', ?, ?, 1, ?',
      set: SET_MESSAGE,
    }),
    completeWithMessage: complete(`, ${noMessage}`),
    // Releases a claim and keeps its message. `runOnce` may have removed the message, and `forget` the endpoint, too.
    keep: `UPDATE "${table}" SET token = NULL, expires_at = ${now}, message = coalesce(message, ?),
        first_failed_at = coalesce(first_failed_at, ${now}), failure_reason = ?, failure_error = ?
      WHERE ${currentClaim} AND endpoint IS NOT NULL RETURNING 1`,
    take: `UPDATE "${table}" AS record SET token = ?, expires_at = ${fromNow('?')}, attempts = attempts + 1,
        first_failed_at = coalesce(first_failed_at, expires_at), failure_reason = NULL, failure_error = NULL
      WHERE ${ofEndpoint} AND ${isKept} AND ${isExpired} RETURNING message`,
    // The clock may have advanced since `take`, so that a lease has ended.
    notTaken: `SELECT state, max(expires_at - ${now}, 0) FROM "${table}" AS record
      WHERE ${ofEndpoint} AND (${isKept} OR NOT ${isExpired})`,
    failed: `SELECT key, message, attempts, coalesce(failure_reason, 'not_finished'), failure_error,
        coalesce(first_failed_at, expires_at), expires_at, ${now} - expires_at
      FROM "${table}" AS record
      WHERE expires_at <= ${now} AND ${isKept} AND endpoint = ? AND (expires_at, key) > (?, ?)
      ORDER BY expires_at, key LIMIT ?`,
    forget: `DELETE FROM "${table}" AS record WHERE ${ofEndpoint} AND ${isFailed} AND ${isExpired} RETURNING 1`,
    forgetClaimed: `UPDATE "${table}" SET endpoint = NULL, message = NULL
      WHERE ${ofEndpoint} AND state = 'claimed' AND endpoint IS NOT NULL RETURNING 1`,
    removeMessage: `UPDATE "${table}" SET message = NULL WHERE ${ofKey} AND message IS NOT NULL RETURNING 1`,
    pruneExceptMessages: `DELETE FROM "${table}"
      WHERE ${isOldest('CAST(? AS INTEGER)', ` AND NOT (${isKept})`)} RETURNING 1`,
    expireMessages: `DELETE FROM "${table}" AS record
      WHERE ${isOldest(String(EXPIRY_SEARCH))} AND ${isFailed} AND NOT (${isKept}) RETURNING 1`,
  }
}
