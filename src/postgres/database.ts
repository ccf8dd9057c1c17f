import { ConfigurationError } from '../errors/client-errors.ts'

/**
 * The columns of a row, in order. They have no names, because a client may rename them (`transform` of `postgres`). Every
 * statement casts its columns to text, because a client may convert other types (type parsers of `pg`).
 */
export type Row = readonly (string | null)[]

export type Value = string | number | boolean

/**
 * Sends one statement with its parameters, and resolves to its rows. Every statement has a parameter. Without one, postgres 3.4
 * sends the next query before the response: PgBouncer then loses responses, and the connection stays silent.
 */
export type Query = (text: string, value: Value, ...values: Value[]) => Promise<readonly Row[]>

/** A database, over a pool of `pg` or the `sql` of `postgres`. Its functions need no `this`. */
export interface PostgresDatabase {
  /** Runs one statement in its own transaction. */
  readonly query: Query
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
  readonly transaction: (work: (transaction: PostgresTransaction) => Promise<void>) => Promise<void>
}

/** A database that does not retry: the part that depends on the client library. */
export interface PostgresDriver extends PostgresDatabase {
  /** Whether a statement that failed with this error had no effect, and may be sent again on another connection. */
  hadNoEffect(error: unknown): boolean
}

/** An open transaction. Its methods need `this`: call them on the transaction. */
export interface PostgresTransaction {
  query(...statement: Parameters<Query>): ReturnType<Query>
  /**
   * Calls `apply` with the client of the transaction. The client cannot be used after `apply` has ended.
   *
   * @param maxRunMs - the time limit of `apply`
   */
  withClient<Result>(apply: (tx: unknown) => Result, maxRunMs: number): Promise<Awaited<Result>>
}

export interface PostgresOptions {
  /** The function of the package that uses the database, for messages: `'postgresStore'`. */
  readonly name: string
  /**
   * The time limit of each statement, in milliseconds. After it, a connection of `pg` is closed. `postgres` cannot close a single
   * connection.
   */
  readonly statementTimeoutMs: number
  /** Whether transactions run a function of the caller, which may take long. They then leave one connection of the pool free. */
  readonly runsCallerFunctions?: boolean
}

/** The SQLSTATE of a write on a replica. The statement wrote nothing. */
const READ_ONLY = '25006'

/** Whether the server refused to write, usually because it has become a replica. */
export const isReadOnly = (error: unknown): boolean => sqlStateOf(error) === READ_ONLY

/**
 * Ends the session on a replica. Closing the connection is not enough: a pooler such as PgBouncer would keep the session. The
 * statement returns no row, because postgres 3.4 would add the row of an ended session to the next result. Never send it inside a
 * transaction: the end of the session would crash `postgres`. Its parameter means nothing: see {@link Query}.
 */
export const LEAVE_REPLICA: Parameters<Query> = [
  'SELECT $1::text WHERE CASE WHEN pg_is_in_recovery() THEN NOT pg_terminate_backend(pg_backend_pid()) ELSE false END',
  'left',
]

/** The SQLSTATEs of a server that ends or refuses a session, and of PgBouncer for a lost server. */
const LOST_SESSION: ReadonlySet<unknown> = new Set(['57P01', '57P02', '57P03', '08P01'])

/** Whether the server or a pooler has ended the session. */
export const isLostSession = (error: unknown): boolean => LOST_SESSION.has(sqlStateOf(error))

/**
 * Whether a statement that failed with this error may have been executed, or may still be. An error of the server proves that it
 * was not, unless the session was lost.
 */
export function mayBeExecuted(error: unknown): boolean {
  const code = sqlStateOf(error)
  // `pg` gives a lost connection no code, `postgres` begins its codes with CONNECTION.
  return code === undefined || isLostSession(error) || /^(CONNECTION_|ECONNRESET$|EPIPE$)/.test(String(code))
}

/** Returns the SQLSTATE, or another code of an error. */
export const sqlStateOf = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code

/** No response within the time limit. The outcome of the statement is unknown. */
export class SilentConnectionError extends Error {
  constructor({ name, statementTimeoutMs }: PostgresOptions) {
    super(
      `${name}: PostgreSQL did not respond within ${statementTimeoutMs} ms: the connection is lost, or another ` +
        'transaction holds the row',
    )
  }
}

export const tookTooLong = (maxRunMs: number): Error =>
  new Error(`the function of runOnce took longer than ${maxRunMs} ms (maxRunMs), so nothing was committed`)

/** The message of the error when `tx` is used too late. Another transaction may already use the connection. */
export const ENDED =
  'the transaction of runOnce has ended: await everything that you write through tx before your function returns'

/**
 * Reads the columns of rows that a client returned as objects.
 *
 * @throws ConfigurationError when the client did not return a list
 */
export function readRows(rows: unknown, options: PostgresOptions): readonly Row[] {
  if (!Array.isArray(rows)) throw unreadable(options)
  return rows.map((row) => Object.values(row ?? {}))
}

/** The databases that a caller may pass, for messages. */
export const YOUR_DATABASE = 'a Pool of "pg" or the sql of "postgres"'

/** The error for a client that does not return rows as `pg` or `postgres` does. */
export const unreadable = ({ name }: PostgresOptions): ConfigurationError =>
  new ConfigurationError(
    `${name} can't read rows: pass ${YOUR_DATABASE}, without a transform (postgres) or type parser (pg) that changes texts ` +
      'or drops columns',
  )
