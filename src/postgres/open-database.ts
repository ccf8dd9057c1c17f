import { ConfigurationError } from '../errors/client-errors.ts'
import { Semaphore } from '../shared/semaphore.ts'
import { hasMethod, typeName } from '../shared/type-checks.ts'
import { warnOnce } from '../shared/warn-once.ts'
import type { PostgresDatabase, PostgresDriver, PostgresOptions } from './database.ts'
import { type PgPool, pgDatabase } from './pg.ts'
import { isSql, mustNotPrepare, type PostgresSql, postgresJsDatabase } from './postgres-js.ts'

/** The rule for a pool of `pg`, or a `sql` of `postgres`. */
export const mustBeDatabase = (value: unknown): string | undefined => {
  if (isSql(value)) return mustNotPrepare(value)
  const isPool = typeof value === 'object' && hasMethod(value, 'query') && hasMethod(value, 'connect')
  // A `Client` has `escapeIdentifier`, a `Pool` does not.
  if (isPool && !hasMethod(value, 'escapeIdentifier')) return undefined
  // A single client or the `sql` of a transaction cannot run concurrent transactions, and may never commit.
  return `must be a Pool of "pg" or the sql of "postgres", not a single client or a transaction; got ${typeName(value)}`
}

/**
 * Opens a database. Before the first statement it checks that the client returns text unchanged.
 *
 * @param database - passes {@link mustBeDatabase}
 */
export function openDatabase(database: PgPool | PostgresSql, options: PostgresOptions): PostgresDatabase {
  const opened = isSql(database) ? postgresJsDatabase(database, options) : pgDatabase(database, options)
  let check: Promise<void> | undefined
  const checkOnce = (): Promise<void> => {
    check ??= requireUnchangedText(opened, options).catch((error) => {
      check = undefined
      throw error
    })
    return check
  }
  return {
    async query(...statement) {
      await checkOnce()
      return retry(opened, options, () => opened.query(...statement))
    },
    async transaction(work) {
      await checkOnce()
      const run = (): Promise<void> => {
        let isCalled = false
        const attempt = () =>
          opened.transaction((transaction) =>
            work({
              query: (...statement) => transaction.query(...statement),
              withClient(...args) {
                isCalled = true
                return transaction.withClient(...args)
              },
            }),
          )
        return retry(opened, options, attempt, () => !isCalled)
      }
      const limit = options.runsCallerFunctions ? transactionLimit(database, options) : undefined
      return limit === undefined ? run() : limit.run(run)
    },
  }
}

const MAX_RETRIES = 10

/**
 * Sends a statement or a transaction again when it had no effect, because the server has become a replica. The connection to it is
 * closed by then, and a new connection reaches the new primary.
 *
 * @param mayRetry - whether the transaction may run again: the caller's function is called once
 */
async function retry<Result>(
  { hadNoEffect }: PostgresDriver,
  { statementTimeoutMs }: PostgresOptions,
  work: () => Promise<Result>,
  mayRetry = () => true,
): Promise<Result> {
  const end = performance.now() + statementTimeoutMs
  for (let retries = 0; ; retries++) {
    try {
      return await work()
    } catch (error) {
      if (!hadNoEffect(error) || retries === MAX_RETRIES || performance.now() >= end || !mayRetry()) throw error
    }
  }
}

async function requireUnchangedText({ query }: PostgresDatabase, { name }: PostgresOptions): Promise<void> {
  const [row] = await query("SELECT 'Text'::text AS unchanged, NULL::text AS missing")
  if (row?.length === 2 && row[0] === 'Text' && row[1] === null) return
  throw new ConfigurationError(
    `${name} can't read rows: the client must not change texts, or drop columns (transform of postgres, type parsers of pg)`,
  )
}

/** The semaphore is a property of the pool, because the ESM and the CommonJS copy of this package may use the same pool. */
const TRANSACTIONS = Symbol.for('campaign-client.transactions')

/**
 * Returns the semaphore of a pool, which reserves one connection for other statements. Otherwise extensions would wait for
 * functions of the caller, and leases would expire. Ledgers are not counted: an award inside `runOnce`
 * would wait for its own connection. A pool of fewer than three connections, or of unknown size, has no limit.
 */
function transactionLimit(
  pool: (PgPool | PostgresSql) & { [TRANSACTIONS]?: Semaphore },
  { name }: PostgresOptions,
): Semaphore | undefined {
  const connections = pool.options?.max
  if (connections === undefined) return undefined
  if (connections < 3) {
    warnOnce('small-pool', tooFewConnections(name))
    return undefined
  }
  const { [TRANSACTIONS]: limit = new Semaphore(connections - 1) } = pool
  Object.defineProperty(pool, TRANSACTIONS, { value: limit, configurable: true })
  return limit
}

const tooFewConnections = (name: string): string =>
  `${name}: give the pool at least three connections (max). With fewer, claims, extensions and completions wait for ` +
  'transactions, and a lease may expire.'
