/**
 * The columns of a row, in order. They have no names, because a client may rename them (`transform` of `postgres`). Every
 * statement casts its columns to text, because a client may convert other types (type parsers of `pg`).
 */
export type Row = readonly (string | null)[]

/** Sends one statement with its parameters, and resolves to its rows. */
export type Query = (text: string, ...values: (string | number | boolean)[]) => Promise<readonly Row[]>

/** A database, over a pool of `pg` or the `sql` of `postgres`. */
export interface PostgresDatabase {
  /** Runs one statement in its own transaction. */
  query: Query
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
  transaction(work: (transaction: PostgresTransaction) => Promise<void>): Promise<void>
}

/** An open transaction. */
export interface PostgresTransaction {
  query: Query
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
   * The time limit of each statement, in milliseconds. Then a connection of `pg` is closed. `postgres` cannot close a single
   * connection.
   */
  readonly statementTimeoutMs: number
}

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

/** Reads the columns of rows that a client returned as objects. */
export const readRows = (rows: readonly unknown[]): readonly Row[] =>
  rows.map((row) => Object.values(row as Readonly<Record<string, string | null>>))
