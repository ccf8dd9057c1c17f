import { Batches } from '../../../shared/batches.ts'
import { type OptionRules, optional, positive, requireOptions } from '../../../shared/options.ts'
import { isTable } from '../../../shared/postgres-table.ts'
import { hasMethod, requireKey, requireMilliseconds } from '../arguments.ts'
import type { ClaimResult, DeliveryStore } from '../store.ts'
import type { Database, Query } from './database.ts'
import { type ClientOf, type PgPool, pgDatabase } from './pg.ts'
import { type PostgresSql, postgresJsDatabase } from './postgres-js.ts'
import { field, foreignAnswer, numberOf, textOf } from './rows.ts'
import { DEFAULT_TABLE, statements } from './statements.ts'

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /**
   * The table, with its schema or without: `'campaign_deliveries'`, `'app.deliveries'`. Letters, digits and
   * underscores, at most 63 characters each; the case counts, since the name is always quoted.
   *
   * @defaultValue `'campaign_deliveries'`
   */
  table?: string | undefined
  /**
   * How long {@link PostgresStore.runOnce} remembers a key, in milliseconds, or `Infinity`. It must be at least as
   * long as the receiver's `retainMs`; once a key is forgotten, a replayed message with it would be applied again.
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

const DEFAULT_RUN_ONCE_RETAIN_MS = 365 * 24 * 60 * 60 * 1000

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
   * was rolled back. So `{ ran: false }` means that the work is done: let the handler end normally. Don't call it within
   * `apply`: with the same key it would wait for itself, with others it may wait for connections that wait for it.
   *
   * Only what goes through `tx` is exactly once: a mail sent from `apply` is not taken back when the transaction is.
   * Don't commit or roll back in `apply`; throw, and everything is rolled back. `tx` refuses to be used after `apply`
   * has ended. The transaction is READ COMMITTED.
   *
   * Each call holds one connection of the pool for its duration, a waiting one too. One connection is left to the
   * receiver's claims, extensions and records, where the pool has three or more (`max`); calls beyond that wait in order.
   * Give the database `idle_in_transaction_session_timeout` so that a process that hangs in `apply` can't block the
   * key for ever.
   *
   * @param key - what is to be applied once: a non-empty string without NUL and lone surrogates
   * @param apply - gets the transaction's client: the `PoolClient` of `pg`, the transaction's `sql` of `postgres`
   * @throws what `apply` threw, after everything was rolled back
   * @throws Error when a query of `apply` failed and `apply` went on regardless: PostgreSQL then refuses to commit
   * @throws Error when `apply` committed or rolled back by itself
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
 * one statement (a duplicate's `claim` takes two), works behind a transaction pooler, and reads the
 * database's clock, so that the clocks of the receivers do not matter. Calls of `claim` at the same time
 * share a statement, and so do those of `complete`: each resolves when what it wrote is committed. A `pg` pool needs an
 * `error` listener: without one, Node ends the process when an idle connection is lost. Errors of the client are passed
 * on as they are.
 *
 * Rows stay until {@link PostgresStore.prune} removes the expired ones.
 *
 * Interface: [Delivery and retries](../../../../docs/the-service.md#delivery-and-retries).
 *
 * @param database - a `Pool` of `pg`, or the `sql` of `postgres`
 * @returns a store whose methods reject with the client's error when the database can't be reached or the table is not
 *   there, with `TypeError` for an empty key, or a lease or retention that is not a positive number of milliseconds,
 *   and with `Error` when the client renames columns or changes texts. A second store on the same
 *   table sees the same deliveries.
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
  const { query, transaction } = databaseOf(database)
  requireOptions('postgresStore', options, rules())
  const sql = statements(options.table ?? DEFAULT_TABLE, options.runOnceRetainMs ?? DEFAULT_RUN_ONCE_RETAIN_MS)

  const claims = new Writes(query, sql.claim)
  const completions = new Writes(query, sql.complete)

  return {
    async claim(key, leaseMs): Promise<ClaimResult> {
      const token = crypto.randomUUID()
      requireKey(key)
      requireMilliseconds('leaseMs', leaseMs)
      // The holder can let go between the two statements. Who sees that three times is told to come back.
      for (let attempt = 0; attempt < 3; attempt++) {
        if (await claims.ask(leaseMs, key, token)) return { state: 'claimed', token }
        const [held] = await query(sql.held, key)
        if (held === undefined) continue
        const state = textOf(held, 'state')
        if (state === 'done') return { state }
        if (state !== 'claimed') throw foreignAnswer('state is neither claimed nor done')
        return { state: 'busy', retryMs: numberOf(held, 'remaining') }
      }
      return { state: 'busy', retryMs: 0 }
    },

    async extend(key, token, leaseMs) {
      return (await query(sql.extend, requireKey(key), token, requireMilliseconds('leaseMs', leaseMs))).length > 0
    },

    async complete(key, token, retainMs) {
      return completions.ask(requireMilliseconds('retainMs', retainMs), requireKey(key), token)
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
        if ((await openRows(within, sql.stillOpen, key)).length === 0) throw new Error(ENDED_WITHIN)
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

interface Write {
  /** The key. */
  readonly id: string
  readonly token: string
}

const MOST_TIMES = 100
/**
 * A hanging statement is passed over well before a receiver asks again, and two statements under way leave connections
 * of the smallest usual pool to the others.
 */
const PACE = { atOnce: 2, patienceMs: 500 }

/** Writes of one kind, many of them in one statement: a commit for each would be most of the work. */
class Writes {
  readonly #query: Query
  readonly #statement: string
  /** By the time they are for: a receiver has one. */
  readonly #batches = new Map<number, Batches<Write, boolean>>()

  constructor(query: Query, statement: string) {
    this.#query = query
    this.#statement = statement
  }

  /** @returns whether it was written */
  ask(ms: number, id: string, token: string): Promise<boolean> {
    let batches = this.#batches.get(ms)
    if (batches === undefined) {
      // Whoever has another time for each call must not fill the memory. What is under way goes on.
      if (this.#batches.size === MOST_TIMES) this.#batches.clear()
      batches = new Batches((writes) => this.#write(ms, writes), PACE)
      this.#batches.set(ms, batches)
    }
    return batches.ask({ id, token })
  }

  async #write(ms: number, writes: readonly Write[]): Promise<boolean[]> {
    const rows = await this.#query(this.#statement, JSON.stringify(writes), ms)
    const sent = new Set(writes.map(({ token }) => token))
    const made = new Set(rows.map((row) => textOf(row, 'token')))
    for (const token of made) {
      if (!sent.has(token)) throw foreignAnswer('token is none of those that were sent')
    }
    return writes.map(({ token }) => made.has(token))
  }
}

const ENDED_WITHIN =
  'The function of runOnce ended the transaction itself (COMMIT or ROLLBACK), so that what it wrote was committed apart ' +
  'from the key, or not at all. Let it throw to roll back, and return to commit.'

/** @throws Error when a query failed before: PostgreSQL then refuses all others, and would answer COMMIT with a rollback */
async function openRows(query: Query, stillOpen: string, key: string): Promise<readonly unknown[]> {
  try {
    return await query(stillOpen, key)
  } catch (error) {
    if (field(error, 'code') !== IN_FAILED_TRANSACTION) throw error
    throw new Error('runOnce committed nothing: a query in its function failed, and the function went on regardless', {
      cause: error,
    })
  }
}

/** The SQLSTATE in_failed_sql_transaction. */
const IN_FAILED_TRANSACTION = '25P02'

function databaseOf(database: PgPool | PostgresSql<unknown>): Database {
  if (typeof database === 'function' && hasMethod(database, 'unsafe') && hasMethod(database, 'begin')) {
    return postgresJsDatabase(database)
  }
  if (typeof database === 'object' && hasMethod(database, 'query') && hasMethod(database, 'connect')) {
    if (hasMethod(database, 'escapeIdentifier')) {
      throw new TypeError(
        'postgresStore got a single Client of "pg", which cannot run transactions side by side: give it a Pool',
      )
    }
    return pgDatabase(database as PgPool)
  }
  throw new TypeError(
    'postgresStore needs a Pool of "pg" or the sql of "postgres" (not the sql of a transaction). ' +
      'What it got lacks the methods of both',
  )
}
