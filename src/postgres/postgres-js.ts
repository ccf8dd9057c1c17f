import { sleep, withTimeLimit } from '../shared/timers.ts'
import { hasMethod } from '../shared/type-checks.ts'
import { warnOnce } from '../shared/warn-once.ts'
import {
  ENDED,
  isReadOnly,
  LEAVE_REPLICA,
  type PostgresDriver,
  type PostgresOptions,
  type PostgresTransaction,
  type Query,
  type Row,
  readRows,
  SilentConnectionError,
  sqlStateOf,
  tookTooLong,
} from './database.ts'

/** The members of the `sql` of the `postgres` package that this package uses. */
export interface PostgresSql<Transaction = unknown> {
  /** Runs a statement. */
  unsafe(query: string, parameters?: (string | number | boolean)[]): PromiseLike<readonly unknown[]>
  /** Runs a transaction. */
  begin(options: string, transaction: (sql: Transaction) => Promise<void>): Promise<unknown>
  /** `max`: the maximum number of connections. `prepare` must be `false`. */
  readonly options?: {
    readonly max?: number | undefined
    readonly prepare?: boolean | undefined
    readonly fetch_types?: boolean | undefined
  }
}

/** Whether a value is a `sql` of `postgres`, and not the `sql` of a transaction. */
export const isSql = (value: unknown): value is PostgresSql =>
  typeof value === 'function' && hasMethod(value, 'unsafe') && hasMethod(value, 'begin')

/**
 * Returns an issue unless `prepare` is `false`. postgres 3.4 prepares COMMIT. Behind PgBouncer, the prepared statement may be
 * missing: COMMIT then fails and aborts the transaction. `postgres` retries COMMIT, PostgreSQL rolls back, and `begin` resolves.
 */
export const mustNotPrepare = ({ options }: PostgresSql): string | undefined =>
  options?.prepare === false
    ? undefined
    : 'must be a sql of "postgres" made with prepare: false. With prepared statements, a connection pooler such as PgBouncer ' +
      'can lose a COMMIT that the package reports as done'

export function postgresJsDatabase(sql: PostgresSql, options: PostgresOptions): PostgresDriver {
  if (sql.options?.fetch_types === true) warnOnce('postgres-fetch-types', fetchTypes(options.name))
  async function leavingReplica<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work
    } catch (error) {
      // Ends the session of any connection that is on a replica, not always that of `work`: the next attempt may end another.
      if (isReadOnly(error)) await query(sql, options, ...LEAVE_REPLICA).catch(() => undefined)
      throw error
    }
  }
  return {
    query: (...statement) => leavingReplica(query(sql, options, ...statement)),
    transaction: (work) => leavingReplica(new PostgresJsTransaction(options).run(sql, work)),
    // When a session is ended during a query, postgres 3.4 rejects that query with CONNECTION_CLOSED. With the error of the session
    // it rejects the first query of the next connection, before it sends that query.
    hadNoEffect: (error) => isReadOnly(error) || sqlStateOf(error) === ADMIN_SHUTDOWN,
  }
}

/** postgres 3.4 sends a query for types on each new connection, and does not handle its rejection. */
const fetchTypes = (name: string): string =>
  `${name}: create the sql of "postgres" with fetch_types: false, unless you read arrays. Otherwise a restart or ` +
  'failover of the database can cause an unhandled rejection, which ends the process.'

const ADMIN_SHUTDOWN = '57P01'
const LOST = 'the connection of the transaction was lost'

async function query(
  sql: PostgresSql,
  options: PostgresOptions,
  ...[text, ...values]: Parameters<Query>
): Promise<readonly Row[]> {
  const rows = await inTime(sql.unsafe(text, values), options)
  // After a session was ended in the middle of a result, the next result of postgres 3.4 begins with a hole.
  return readRows(Array.isArray(rows) ? rows.filter((row) => row !== undefined) : rows, options)
}

const inTime = <Result>(response: PromiseLike<Result>, options: PostgresOptions): Promise<Result> =>
  withTimeLimit(response, options.statementTimeoutMs, () => new SilentConnectionError(options))

/**
 * A transaction of `postgres` 3.4. The `sql` of that version must not be used after its connection was lost or its transaction
 * has ended: it would write to a missing socket, which ends the process, or to another session, outside the transaction.
 */
class PostgresJsTransaction implements PostgresTransaction {
  readonly #options: PostgresOptions
  /**
   * - `open`: the caller's function may use the transaction
   * - `returned`: the function has ended; the package completes its work
   * - `ended`: `postgres` commits or rolls back
   * - `lost`: the connection was lost before that
   */
  #state: 'open' | 'returned' | 'ended' | 'lost' = 'open'
  #sql: PostgresSql | undefined

  constructor(options: PostgresOptions) {
    this.#options = options
  }

  async run(pool: PostgresSql, work: (transaction: PostgresTransaction) => Promise<void>): Promise<void> {
    let running: Promise<void> | undefined
    let failure: { readonly error: unknown } | undefined
    const begun = Promise.withResolvers<void>()
    const hasEnded = pool.begin('isolation level read committed', (sql) => {
      // BEGIN took too long, and nobody waits for the transaction any more.
      if (this.#state !== 'open') throw new Error(ENDED)
      this.#sql = sql as PostgresSql
      running = work(this)
      begun.resolve()
      return this.#unlessLost(running).finally(() => {
        this.#state = 'ended'
      })
    })
    // A lost connection rejects `begin` at once, even while `work` runs.
    hasEnded.catch(() => {
      if (this.#state !== 'ended') this.#state = 'lost'
    })
    try {
      await inTime(Promise.race([begun.promise, hasEnded]), this.#options)
      await running?.catch((error) => {
        failure = { error }
      })
      // Do not wait for a ROLLBACK on a connection that is silent or in use.
      if (failure?.error instanceof SilentConnectionError) throw failure.error
      await inTime(hasEnded, this.#options)
    } catch (error) {
      if (this.#state === 'open') this.#state = 'ended'
      throw failure !== undefined && error instanceof SilentConnectionError ? failure.error : error
    }
  }

  async query(...statement: Parameters<Query>): Promise<readonly Row[]> {
    if (this.#state === 'lost') throw new Error(LOST)
    return query(this.#sql as PostgresSql, this.#options, ...statement)
  }

  async withClient<Result>(apply: (tx: unknown) => Result, maxRunMs: number): Promise<Awaited<Result>> {
    try {
      const tx = this.#guard(this.#sql as PostgresSql)
      return await withTimeLimit((async () => apply(tx))(), maxRunMs, () => tookTooLong(maxRunMs))
    } finally {
      if (this.#state === 'open') this.#state = 'returned'
    }
  }

  /** Returns a `sql` that throws unless the state is `open`. */
  #guard<Sql extends object>(sql: Sql): Sql {
    const guarded = (callee: unknown, self: unknown): unknown =>
      typeof callee !== 'function'
        ? callee
        : (...args: unknown[]) => {
            if (this.#state !== 'open') throw new Error(this.#state === 'lost' ? LOST : ENDED)
            return Reflect.apply(callee, self, args)
          }
    return new Proxy(sql, {
      apply: (target, self, args) => (guarded(target, self) as (...args: unknown[]) => unknown)(...args),
      get: (target, name) => {
        const member = guarded(Reflect.get(target, name), target)
        return name === 'savepoint' ? this.#savepoint(member as Savepoint) : member
      },
    })
  }

  /** Returns a `savepoint` that passes on a guarded `sql`. */
  #savepoint(savepoint: Savepoint): Savepoint {
    return (...args) => {
      const work = args.pop() as (sql: object) => unknown
      return new Promise((resolve, reject) => {
        const within = async (sql: object) => work(this.#guard(sql))
        savepoint(...args, (sql: object) => this.#unlessLost(within(sql), reject)).then(resolve, reject)
      })
    }
  }

  /**
   * Settles like `work`, but never after a lost connection, on which postgres 3.4 would send a ROLLBACK.
   *
   * @param reject - rejects the promise of a savepoint, which would otherwise stay pending after a lost connection
   */
  async #unlessLost<Result>(work: Promise<Result>, reject?: (reason: unknown) => void): Promise<Result> {
    try {
      return await work
    } finally {
      // `begin` rejects a few microtasks after the queries of `work`.
      await sleep(0)
      if (this.#state === 'lost') {
        reject?.(new Error(LOST))
        await new Promise(() => {})
      }
    }
  }
}

type Savepoint = (...args: unknown[]) => Promise<unknown>
