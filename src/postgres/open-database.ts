import { Semaphore } from '../shared/semaphore.ts'
import { hasMethod, isRecord, typeName } from '../shared/type-checks.ts'
import { warnOnce } from '../shared/warn-once.ts'
import {
  type PostgresDatabase,
  type PostgresDriver,
  type PostgresOptions,
  unreadable,
  YOUR_DATABASE,
} from './database.ts'
import { type PgPool, pgDatabase } from './pg.ts'
import { isSql, mustNotPrepare, type PostgresSql, postgresJsDatabase } from './postgres-js.ts'

/** Clients that have the methods of a `Pool` of `pg`, but work differently. A `Pool` does not have these members. */
const OTHER_CLIENTS: Readonly<Record<string, string>> = {
  // A single client cannot run concurrent transactions.
  escapeIdentifier: 'a single client of "pg"',
  $pool: 'the db of "pg-promise": pass its db.$pool',
  maybeOneFirst: 'a pool of "slonik"',
  request: 'a pool of "mssql"',
}

/** The rule for a pool of `pg`, or a `sql` of `postgres`. */
export const mustBeDatabase = (value: unknown): string | undefined => {
  if (isSql(value)) return mustNotPrepare(value)
  const isLikePool = isRecord(value) && hasMethod(value, 'query') && hasMethod(value, 'connect')
  const other = isLikePool ? Object.keys(OTHER_CLIENTS).find((member) => member in value) : ''
  if (other === undefined) return undefined
  return `must be ${YOUR_DATABASE}, not a single client or a transaction; got ${OTHER_CLIENTS[other] ?? typeName(value)}`
}

/**
 * Opens a database. Before the first statement it asks a question with a known answer. If the client rejects or does not respond,
 * it asks again before the next statement.
 *
 * @param database - passes {@link mustBeDatabase}
 */
export function openDatabase(database: PgPool | PostgresSql, options: PostgresOptions): PostgresDatabase {
  const opened = isSql(database) ? postgresJsDatabase(database, options) : pgDatabase(database, options)
  let check: Promise<void> | undefined
  const checkOnce = (): Promise<void> => {
    check ??= requireKnownAnswer(opened, options).catch((error) => {
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

async function requireKnownAnswer({ query }: PostgresDatabase, options: PostgresOptions): Promise<void> {
  const [row, ...others] = await query('SELECT $1::text AS unchanged, NULL::text AS missing', 'Text')
  const isUnchanged = row?.length === 2 && row[0] === 'Text' && row[1] === null
  if (!isUnchanged || others.length > 0) throw unreadable(options)
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
