import { warnOnce } from '../../../shared/warn-once.ts'
import { type Database, ENDED, limitTransactions } from './database.ts'

/** The members of the `sql` of the `postgres` package that `postgresStore` uses. */
export interface PostgresSql<Transaction> {
  unsafe(query: string, parameters?: (string | number)[]): PromiseLike<readonly unknown[]>
  begin(options: string, transaction: (sql: Transaction) => Promise<void>): Promise<unknown>
  /** `max`: the maximum number of connections. `prepare` must be `false`. */
  readonly options?: {
    readonly max?: number | undefined
    readonly prepare?: boolean | undefined
    readonly fetch_types?: boolean | undefined
  }
}

export function postgresJsDatabase(sql: PostgresSql<unknown>): Database {
  const { options } = sql
  if (options?.prepare !== false) throw new TypeError(PREPARED)
  if (options.fetch_types === true) warnOnce('postgres-fetch-types', FETCH_TYPES)
  return {
    query: async (text, ...values) => sql.unsafe(text, values),
    transaction: (work) =>
      limitTransactions(sql, options.max, async () => {
        let isLost = false
        const refusal: Refusal = () => (isLost ? LOST : undefined)
        let running: Promise<void> | undefined
        const ended = sql.begin('isolation level read committed', (given) => {
          const raw = guard(given as PostgresSql<unknown>, refusal)
          running = work({
            query: async (text, ...values) => raw.unsafe(text, values),
            withClient: (apply) => withClient(given as PostgresSql<unknown>, refusal, apply),
          })
          return unlessLost(running, refusal)
        })
        ended.catch(() => {
          isLost = true
        })
        try {
          await ended
        } catch (error) {
          // A lost connection rejects `begin` at once. `work` may still be running.
          await running?.catch(ignore)
          throw error
        }
      }),
  }
}

/**
 * postgres 3.4 prepares COMMIT. Behind PgBouncer, the prepared statement may be missing: COMMIT then fails and aborts the
 * transaction. `postgres` retries COMMIT, PostgreSQL rolls back, and `begin` resolves.
 */
const PREPARED =
  'postgresStore: create the sql of "postgres" with prepare: false. With prepared statements, a connection pooler such ' +
  'as PgBouncer can lose a COMMIT that the package reports as done.'

/** postgres 3.4 sends a query for types on each new connection, and does not handle its rejection. */
const FETCH_TYPES =
  'postgresStore: create the sql of "postgres" with fetch_types: false, unless you read arrays. Otherwise a restart or ' +
  'failover of the database can cause an unhandled rejection, which ends the process.'

/** Returns why the connection of a transaction must not be used, or `undefined`. */
type Refusal = () => string | undefined

async function withClient<Result>(
  sql: PostgresSql<unknown>,
  refusal: Refusal,
  apply: (tx: unknown) => Result,
): Promise<Awaited<Result>> {
  let hasEnded = false
  try {
    return await apply(guard(sql, () => (hasEnded ? ENDED : refusal())))
  } finally {
    hasEnded = true
  }
}

/**
 * Returns a `sql` that throws after its connection was lost or its transaction has ended. The `sql` of postgres 3.4 would
 * write to a missing socket, which ends the process, or to another session, outside the transaction.
 */
function guard<Sql extends object>(sql: Sql, refusal: Refusal): Sql {
  const guarded = (callee: unknown, self: unknown) =>
    typeof callee !== 'function'
      ? callee
      : (...args: unknown[]) => {
          const reason = refusal()
          if (reason !== undefined) throw new Error(reason)
          return Reflect.apply(callee, self, args)
        }
  return new Proxy(sql, {
    apply: (target, self, args) => (guarded(target, self) as (...args: unknown[]) => unknown)(...args),
    get(target, name) {
      const member = guarded(Reflect.get(target, name), target)
      if (name !== 'savepoint') return member
      const savepoint = member as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) => {
        const work = args.pop() as (sql: object) => unknown
        return new Promise((resolve, reject) => {
          const within = async (inner: object) => work(guard(inner, refusal))
          savepoint(...args, (inner: object) => unlessLost(within(inner), refusal, reject)).then(resolve, reject)
        })
      }
    },
  })
}

/**
 * Resolves like `work`, but never settles after a lost connection, on which postgres 3.4 would send a ROLLBACK. The timer is
 * needed because `begin` rejects a few microtasks after the queries of `work`.
 *
 * @param reject - rejects the promise of a savepoint, which would otherwise stay pending after a lost connection
 */
async function unlessLost<Result>(
  work: Promise<Result>,
  refusal: Refusal,
  reject: (reason: unknown) => void = ignore,
): Promise<Result> {
  try {
    return await work
  } finally {
    await new Promise((resolve) => setTimeout(resolve, 0))
    if (refusal() === LOST) {
      reject(new Error(LOST))
      await new Promise(() => {})
    }
  }
}

const LOST = 'the connection of the transaction was lost'

function ignore(): void {}
