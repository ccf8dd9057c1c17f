/**
 * Remembers webhook deliveries in PostgreSQL, through the pool you have, with `runOnce` for exactly once.
 *
 * @module campaign-client/webhook/postgres
 */
import { anything, type OptionRules, requireOptions } from '../../../shared/options.ts'
import { requireKey, requireMilliseconds } from '../arguments.ts'
import type { ClaimResult, DeliveryStore } from '../store.ts'

/** What `postgresStore` needs of a client that a `pg` pool lends. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; command: string }>
  release(destroy?: boolean): void
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/** What `postgresStore` needs of a pool: the `Pool` of the `pg` package has it. */
export interface PgPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  connect(): Promise<PgClient>
}

/** What `postgresStore` needs of the `sql` that the `postgres` package makes. */
export interface PostgresSql<Transaction> {
  unsafe(query: string, parameters?: (string | number)[]): PromiseLike<readonly unknown[]>
  begin(options: string, transaction: (sql: Transaction) => Promise<void>): Promise<unknown>
}

/** The client that a pool of `pg` lends: its `PoolClient`. */
export type ClientOf<Pool extends PgPool> = Pool extends {
  connect: { (): Promise<infer Client>; (callback: never): void }
}
  ? Client
  : Awaited<ReturnType<Pool['connect']>>

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /**
   * The table, with its schema or without: `'campaign_deliveries'`, `'app.deliveries'`. Letters, digits and
   * underscores, at most 63 characters each; the case counts, since the name is always quoted.
   *
   * @defaultValue `'campaign_deliveries'`
   */
  table?: string
  /**
   * How long {@link PostgresStore.runOnce} remembers a key, in milliseconds, or `Infinity`. It must be at least as
   * long as the receiver's `retainMs`; once a key is forgotten, a replayed message with it would be applied again.
   *
   * @defaultValue 31 536 000 000, which is 365 days
   */
  runOnceRetainMs?: number
}

const KNOWN: OptionRules<PostgresStoreOptions> = { table: anything, runOnceRetainMs: anything }

/** What became of a {@link PostgresStore.runOnce}: `result` is what the function resolved to. */
export type RunOnceResult<Result> = { ran: true; result: Result } | { ran: false }

/** A {@link DeliveryStore} in PostgreSQL, with what only a database can add. */
export interface PostgresStore<Transaction> extends DeliveryStore {
  /**
   * Runs `apply` in a transaction that also records `key`: both are committed, or neither is. So whatever `apply`
   * writes through `tx` happens exactly once per key, also when the process dies at any point, when the lease of the
   * receiver ran out and another process took the delivery over, or when the message is replayed.
   *
   * ```ts
   * handle: async (event, { key }) => {
   *   await store.runOnce(key, async (tx) => {
   *     await tx.query('UPDATE balances SET xp = xp + $1 WHERE user_id = $2', [xp, user])
   *   })
   * }
   * ```
   *
   * These keys are a namespace of their own beside the receiver's claims, in the same table: the `key` that the
   * receiver hands to the handler can be used as it is, and neither sees the other's. That key tells endpoints apart;
   * where two endpoints do the same work for the same message, use `event.id`. The receiver's claim keeps two
   * handlers from running at once while its lease holds; `runOnce` makes it exactly once when that was not enough.
   *
   * A second call with the key: resolves to `{ ran: false }` without calling `apply`, for `runOnceRetainMs` after the
   * first was committed. While the first is still running it waits for its end, and then runs `apply` if the first
   * was rolled back. So `{ ran: false }` means that the work is done: let the handler end normally. Within `apply` a
   * second call with the same key would wait for itself: don't nest.
   *
   * Only what goes through `tx` is exactly once: a mail sent from `apply` is not taken back when the transaction is.
   * Don't commit or roll back in `apply`; throw, and everything is rolled back. The transaction is READ COMMITTED.
   * Each call holds one connection of the pool for its duration, a waiting one too: give the database
   * `idle_in_transaction_session_timeout` so that a process that hangs in `apply` can't block the key for ever.
   *
   * @param key - what is to be applied once: a non-empty string without NUL and lone surrogates
   * @param apply - gets the transaction's client: the `PoolClient` of `pg`, the transaction's `sql` of `postgres`
   * @throws what `apply` threw, after everything was rolled back
   * @throws Error when a query of `apply` failed and `apply` went on regardless: PostgreSQL then refuses to commit
   * @throws the client's error when the connection failed; if it was lost during the commit, the next call with the
   *   key tells whether it was made
   */
  runOnce<Result>(
    key: string,
    apply: (tx: Transaction) => Result | PromiseLike<Result>,
  ): Promise<RunOnceResult<Awaited<Result>>>

  /**
   * Deletes records that are no longer needed: finished deliveries past the receiver's `retainMs`, `runOnce` keys past
   * `runOnceRetainMs`, and claims that lapsed. The store itself never deletes those: run this now and then from one
   * place, until it resolves to less than `limit`. Concurrent runs skip each other's rows.
   *
   * @param limit - how many rows to delete at most, so that no transaction gets long
   * @returns how many were deleted
   * @throws RangeError when `limit` is not a positive whole number
   */
  prune(limit?: number): Promise<number>
}

type Query = (text: string, ...values: (string | number)[]) => Promise<readonly unknown[]>

interface Database {
  query: Query
  /** Runs `work` in one transaction, committed when it resolves and rolled back when it rejects. */
  transaction(work: (query: Query, tx: unknown) => Promise<void>): Promise<void>
}

const DEFAULT_TABLE = 'campaign_deliveries'
const DEFAULT_RUN_ONCE_RETAIN_MS = 365 * 24 * 60 * 60 * 1000

/**
 * The SQL statement that creates the table of {@link postgresStore}, for a migration or for `pool.query(…)` at the
 * start of the program. One statement (an anonymous `DO` block); running it again, or from several processes at once,
 * does nothing. It needs the right to create tables only when the table is not there.
 *
 * ```ts
 * await pool.query(postgresSchema())            // pg
 * await sql.unsafe(postgresSchema())            // postgres
 * ```
 *
 * PostgreSQL 11 or newer. The schema of a qualified name must exist.
 *
 * @param table - as in {@link PostgresStoreOptions.table}
 * @throws TypeError when the name is malformed
 */
export function postgresSchema(table: string = DEFAULT_TABLE): string {
  const name = quoted(table)
  // CREATE TABLE IF NOT EXISTS fails when two sessions run it at once; the advisory lock makes the second one wait.
  return `DO $campaign_client$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('campaign-client'), hashtext('${name}'));
  IF to_regclass('${name}') IS NULL THEN
    CREATE TABLE ${name} (
      purpose text NOT NULL CHECK (purpose IN ('delivery', 'run_once')),
      key_hash bytea NOT NULL,
      key text NOT NULL,
      state text NOT NULL CHECK (state IN ('claimed', 'done')),
      token text,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (purpose, key_hash)
    );
    CREATE INDEX ON ${name} (expires_at);
  END IF;
END
$campaign_client$`
}

/**
 * A delivery store in PostgreSQL 11 or newer, for receivers that run in several processes, and the only one with
 * `runOnce`: exactly once for what the handler writes to the same database.
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
 * Takes the pool you have and neither opens nor ends it. Each call of `claim`, `extend`, `complete` and `release` is
 * one statement of its own (a duplicate's `claim` takes two), works behind a transaction pooler, and reads the
 * database's clock, so that the clocks of the receivers do not matter. A `pg` pool needs an `error` listener: without
 * one, Node ends the process when an idle connection is lost. Errors of the client are passed on as they are.
 *
 * Rows stay until {@link PostgresStore.prune} removes the expired ones.
 *
 * Interface: Events, Delivery and retries.
 *
 * @param database - a `Pool` of `pg`, or the `sql` of `postgres`
 * @returns a store whose methods reject with the client's error when the database can't be reached or the table is not
 *   there, and with `TypeError` for an empty key, or a lease or retention that is not a positive number of milliseconds. A second store on the same table sees the same deliveries.
 * @throws TypeError when `database` is neither (a single `Client` of `pg` can't be shared between concurrent
 *   transactions), or an option is malformed or misspelt
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
  const { query, transaction } = adapter(database)
  requireOptions('postgresStore', options, KNOWN)
  const retention = checkedRetention(options.runOnceRetainMs ?? DEFAULT_RUN_ONCE_RETAIN_MS)
  const sql = statements(quoted(options.table ?? DEFAULT_TABLE), retention)

  return {
    async claim(key, leaseMs): Promise<ClaimResult> {
      const token = crypto.randomUUID()
      requireKey(key)
      requireMilliseconds('leaseMs', leaseMs)
      // The holder can let go between the two statements. Who sees that three times is told to come back.
      for (let attempt = 0; attempt < 3; attempt++) {
        if ((await query(sql.claim, key, token, leaseMs)).length > 0) return { state: 'claimed', token }
        const [held] = await query(sql.held, key)
        if (held === undefined) continue
        if (field(held, 'state') === 'done') return { state: 'done' }
        return { state: 'busy', retryMs: Number(field(held, 'remaining')) }
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
      await transaction(async (within, tx) => {
        const recorded = await within(sql.runOnce, key)
        if (recorded.length > 0) outcome = { ran: true, result: await apply(tx) }
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

function statements(table: string, runOnceRetainMs: number) {
  const hash = "sha256(convert_to($1::text, 'UTF8'))"
  const fromNow = (parameter: string) => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`
  const runOnceExpiry = runOnceRetainMs === Infinity ? "'infinity'::timestamptz" : fromNow(String(runOnceRetainMs))
  const delivery = `purpose = 'delivery' AND key_hash = ${hash}`
  const holder = `${delivery} AND state = 'claimed' AND token = $2::text`
  return {
    // The expiry is computed again on conflict: the first one may have been computed before a wait for another session.
    claim: `INSERT INTO ${table} AS held (purpose, key_hash, key, state, token, expires_at)
      VALUES ('delivery', ${hash}, $1::text, 'claimed', $2::text, ${fromNow('$3')})
      ON CONFLICT (purpose, key_hash) DO UPDATE
        SET state = 'claimed', token = excluded.token, expires_at = ${fromNow('$3')}
        WHERE held.expires_at <= clock_timestamp()
      RETURNING 1 AS made`,
    held: `SELECT state, ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS remaining
      FROM ${table} WHERE ${delivery} AND expires_at > clock_timestamp()`,
    extend: `UPDATE ${table} SET expires_at = ${fromNow('$3')}
      WHERE ${holder} AND expires_at > clock_timestamp() RETURNING 1 AS made`,
    // The token stays in the finished row: a holder whose answer got lost may complete again.
    complete: `INSERT INTO ${table} AS held (purpose, key_hash, key, state, token, expires_at)
      VALUES ('delivery', ${hash}, $1::text, 'done', $2::text, ${fromNow('$3')})
      ON CONFLICT (purpose, key_hash) DO UPDATE
        SET state = 'done', token = excluded.token, expires_at = ${fromNow('$3')}
        WHERE held.token = excluded.token OR held.expires_at <= clock_timestamp()
      RETURNING 1 AS made`,
    release: `DELETE FROM ${table} WHERE ${holder}`,
    runOnce: `INSERT INTO ${table} AS held (purpose, key_hash, key, state, token, expires_at)
      VALUES ('run_once', ${hash}, $1::text, 'done', NULL, ${runOnceExpiry})
      ON CONFLICT (purpose, key_hash) DO UPDATE SET expires_at = ${runOnceExpiry}
        WHERE held.expires_at <= clock_timestamp()
      RETURNING 1 AS made`,
    prune: `WITH expired AS (
        SELECT purpose, key_hash FROM ${table} WHERE expires_at <= clock_timestamp()
        ORDER BY expires_at LIMIT $1::int FOR UPDATE SKIP LOCKED
      )
      DELETE FROM ${table} AS held USING expired
      WHERE held.purpose = expired.purpose AND held.key_hash = expired.key_hash
      RETURNING 1 AS made`,
  }
}

function adapter(database: PgPool | PostgresSql<unknown>): Database {
  if (typeof database === 'function' && has(database, 'unsafe') && has(database, 'begin')) {
    return postgresAdapter(database)
  }
  if (typeof database === 'object' && has(database, 'query') && has(database, 'connect')) {
    if (has(database, 'escapeIdentifier')) {
      throw new TypeError(
        'postgresStore got a single Client of "pg", which cannot run transactions side by side: give it a Pool',
      )
    }
    return pgAdapter(database as PgPool)
  }
  throw new TypeError(
    'postgresStore needs a Pool of "pg" or the sql of "postgres" (not the sql of a transaction). ' +
      'What it got has not the methods of either',
  )
}

function pgAdapter(pool: PgPool): Database {
  return {
    query: async (text, ...values) => (await pool.query(text, values)).rows,
    async transaction(work) {
      const client = await pool.connect()
      // While it is lent, the pool does not listen: a connection lost in the middle would end the process.
      client.on?.('error', ignore)
      let usable = true
      try {
        await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
        await work(async (text, ...values) => (await client.query(text, values)).rows, client)
        const { command } = await client.query('COMMIT')
        // COMMIT of a transaction in which a statement failed succeeds as a ROLLBACK.
        if (command === 'ROLLBACK') {
          throw new Error(
            'runOnce committed nothing: a query in its function failed, and the function went on regardless',
          )
        }
      } catch (error) {
        usable = await client.query('ROLLBACK').then(
          () => true,
          () => false,
        )
        throw error
      } finally {
        client.off?.('error', ignore)
        client.release(!usable)
      }
    },
  }
}

/** What is wrong with the connection is what the next query on it rejects with. */
function ignore(): void {}

function postgresAdapter(sql: PostgresSql<unknown>): Database {
  return {
    query: async (text, ...values) => sql.unsafe(text, values),
    async transaction(work) {
      let connection: Connection = 'held'
      let running: Promise<void> | undefined
      const ended = sql.begin('isolation level read committed', (given) => {
        const tx = whileHeld(given as PostgresSql<unknown>, () => connection)
        running = work(async (text, ...values) => tx.unsafe(text, values), tx)
        return unlessLost(running, () => connection)
      })
      ended.catch(() => {
        connection = 'lost'
      })
      try {
        await ended
      } catch (error) {
        // A lost connection ends the transaction at once. The function must not go on behind the caller's back.
        await running?.catch(ignore)
        throw error
      }
    },
  }
}

type Connection = 'held' | 'lost'

/**
 * The `sql` of a transaction of `postgres` 3.4 goes on writing to its connection when that was lost in between: to a
 * missing socket, which ends the process, or, when the connection was made again for somebody else, into his session
 * and outside of the transaction. This one throws instead.
 */
function whileHeld<Sql extends object>(sql: Sql, connection: () => Connection): Sql {
  const guarded = (callee: unknown, self: unknown) =>
    typeof callee !== 'function'
      ? callee
      : (...args: unknown[]) => {
          if (connection() === 'lost') throw new Error(LOST)
          return Reflect.apply(callee, self, args)
        }
  return new Proxy(sql, {
    apply: (target, self, args) => (guarded(target, self) as (...args: unknown[]) => unknown)(...args),
    get(target, name) {
      const member = guarded(Reflect.get(target, name), target)
      if (name !== 'savepoint' || typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const work = args.pop() as (sql: object) => unknown
        return new Promise((resolve, reject) => {
          const within = async (inner: object) => work(whileHeld(inner, connection))
          member(...args, (inner: object) => unlessLost(within(inner), connection, reject)).then(resolve, reject)
        })
      }
    },
  })
}

/**
 * For the same reason `postgres` must not learn how work ended whose connection was lost: it would send its ROLLBACK.
 * It has rejected the transaction by itself by then, a few microtasks after the queries of it; `reject` is for whoever
 * waits for a part of it.
 */
async function unlessLost<Result>(
  work: Promise<Result>,
  connection: () => Connection,
  reject: (reason: unknown) => void = ignore,
): Promise<Result> {
  try {
    return await work
  } finally {
    await new Promise((resolve) => setTimeout(resolve, 0))
    if (connection() === 'lost') {
      reject(new Error(LOST))
      await new Promise(() => {})
    }
  }
}

const LOST = 'The connection was lost, and the transaction with it'

function has(value: unknown, method: string): boolean {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof Reflect.get(value, method) === 'function'
  )
}

function field(row: unknown, name: string): unknown {
  return typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined
}

/** Dollar signs are left out, though identifiers may have them: one could end the dollar quotes of the schema. */
function quoted(table: string): string {
  const name = /^(?:([A-Za-z_][A-Za-z0-9_]{0,62})\.)?([A-Za-z_][A-Za-z0-9_]{0,62})$/.exec(
    typeof table === 'string' ? table : '',
  )
  if (name === null) {
    throw new TypeError(
      'The table must be a name, or a schema and a name with a dot between: letters, digits and underscores, ' +
        `not starting with a digit, at most 63 characters each. Got ${JSON.stringify(table)}`,
    )
  }
  return name
    .slice(1)
    .filter(Boolean)
    .map((part) => `"${part}"`)
    .join('.')
}

function checkedRetention(value: number): number {
  return value === Infinity ? value : requireMilliseconds('runOnceRetainMs', value)
}
