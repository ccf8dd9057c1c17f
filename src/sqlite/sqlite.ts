import { ConfigurationError } from '../errors/client-errors.ts'
import { hasMethod } from '../shared/type-checks.ts'

/** A value that SQLite stores. */
export type SqliteValue = string | number | bigint | null | Uint8Array

/** The part of a `StatementSync` of node:sqlite that this package uses. */
export interface SqliteStatement {
  /** Runs the statement, and returns the number of changed rows. */
  run(...values: SqliteValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  /** Returns the first row. Without a row, returns `undefined` or `null`. */
  get(...values: SqliteValue[]): unknown
  /** Returns all rows. */
  all(...values: SqliteValue[]): unknown[]
  /** Returns the rows one by one. */
  iterate(...values: SqliteValue[]): Iterator<unknown> & Iterable<unknown>
}

/** The part of a `DatabaseSync` of node:sqlite that this package uses. Every call blocks the event loop. */
export interface SqliteDatabase {
  /** Runs statements. */
  exec(sql: string): unknown
  /** Compiles a statement. */
  prepare(sql: string): SqliteStatement
  /** Closes the database. */
  close(): void
}

/** The part of Node's `process` that loads built-in modules. Workers and browsers have none. */
interface NodeProcess {
  readonly version: string
  getBuiltinModule?(name: string): object | undefined
}

interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => SqliteDatabase
}

/**
 * Loads node:sqlite at run time: an import would fail on runtimes without it.
 *
 * @param where - the function to name in the error
 * @throws ConfigurationError when this runtime has no node:sqlite
 */
export function loadSqlite(where: string): NodeSqlite {
  const { process } = globalThis as { process?: NodeProcess }
  const sqlite = process?.getBuiltinModule?.('node:sqlite') as NodeSqlite | undefined
  if (sqlite !== undefined) return sqlite
  const version = process === undefined ? '' : ` (${process.version})`
  throw new ConfigurationError(
    `${where} needs node:sqlite (Node.js 22.13 or newer): this runtime${version} does not provide it`,
  )
}

/**
 * Opens a file with node:sqlite, or creates it. Reads nothing yet. Has no busy timeout, which would block the event
 * loop: a statement fails immediately if the database is busy.
 *
 * @param where - the function to name in the error
 * @throws ConfigurationError when this Node.js has no node:sqlite; the error of SQLite when the file can't be opened
 */
export function openSqlite(where: string, path: string): SqliteDatabase {
  return new (loadSqlite(where).DatabaseSync)(path)
}

/** The databases that a caller may pass, for messages. */
export const YOUR_DATABASE = 'a DatabaseSync of node:sqlite or a Database of "better-sqlite3"'

/**
 * Runs two test queries and returns the database. Detects asynchronous databases, whose `get` returns before there is a row.
 *
 * @param where - the function to name in the error
 * @throws ConfigurationError when the database returned another result
 * @throws the error of SQLite, or BusyError, when a test query cannot run
 */
export function requireSynchronous(where: string, database: SqliteDatabase): SqliteDatabase {
  const timeoutMs = Number(firstRow(database, 'PRAGMA busy_timeout')?.[0])
  const isKnown = atOnce(database, timeoutMs, () => {
    // A row of libsql has more properties than columns.
    const [answer] = firstRow(database, 'SELECT 1 AS answer') ?? []
    return (answer === 1 || answer === 1n) && firstRow(database, 'SELECT 1 AS answer WHERE 0') === undefined
  })
  if (isKnown) return database
  throw new ConfigurationError(
    `${where} can't read rows: pass ${YOUR_DATABASE}, or another database that returns rows synchronously`,
  )
}

/** Returns the columns of the first row. A database of another form returns any values. */
function firstRow(database: SqliteDatabase, sql: string): unknown[] | undefined {
  const statement: unknown = database.prepare(sql)
  const row = (hasMethod(statement, 'get') ? (statement as SqliteStatement).get() : statement) ?? undefined
  if (row === undefined) return undefined
  return isPromise(row) ? [] : Object.values(row)
}

/** Another connection holds the lock. `cause` is the error of SQLite. */
export class BusyError extends Error {}

/**
 * Runs `work`, which takes a lock, without the busy timeout of the database: it would block the event loop.
 *
 * @param timeoutMs - the busy timeout of the database
 * @throws BusyError when another connection holds the lock
 */
export function atOnce<Result>(database: SqliteDatabase, timeoutMs: number, work: () => Result): Result {
  if (timeoutMs > 0) database.exec('PRAGMA busy_timeout = 0')
  try {
    return work()
  } catch (error) {
    throw sqliteProblem(error) === 'busy' ? new BusyError(undefined, { cause: error }) : error
  } finally {
    if (timeoutMs > 0) database.exec(`PRAGMA busy_timeout = ${timeoutMs}`)
  }
}

/** Whether a value is a promise. Handles its rejection, because nobody awaits it. */
export function isPromise(value: unknown): boolean {
  if (!hasMethod(value, 'then')) return false
  Promise.resolve(value).catch(() => undefined)
  return true
}

interface NodeFs {
  statSync(
    path: string,
    options: { bigint: true; throwIfNoEntry: false },
  ): { readonly dev: bigint; readonly ino: bigint } | undefined
}

/** Returns an ID of the file at a path; `undefined` without a file. A file that replaces it has another ID. */
export function fileIdentity(path: string): string | undefined {
  const { process } = globalThis as { process?: NodeProcess }
  const fs = process?.getBuiltinModule?.('node:fs') as NodeFs | undefined
  const file = fs?.statSync(path, { bigint: true, throwIfNoEntry: false })
  return file && `${file.dev}:${file.ino}`
}

/** The problems that SQLite reports and this package handles. */
type SqliteProblem = 'busy' | 'cantopen' | 'corrupt' | 'full' | 'ioerr' | 'notadb' | 'readonly'

/** Primary result codes: https://sqlite.org/rescode.html */
const PROBLEMS: Readonly<Record<number, SqliteProblem>> = {
  5: 'busy',
  8: 'readonly',
  10: 'ioerr',
  11: 'corrupt',
  13: 'full',
  14: 'cantopen',
  26: 'notadb',
}
const NAMES: ReadonlySet<string> = new Set(Object.values(PROBLEMS))

/** Returns the problem that an error of node:sqlite or better-sqlite3 reports; `undefined` for any other error. */
export function sqliteProblem(error: unknown): SqliteProblem | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  // The low byte of an extended code is its primary code.
  if (typeof errcode === 'number') return PROBLEMS[errcode & 0xff]
  // better-sqlite3 has names: SQLITE_BUSY, or SQLITE_BUSY_SNAPSHOT for an extended code.
  const name = typeof code === 'string' ? (/^SQLITE_([A-Z]+)/.exec(code)?.[1] ?? '').toLowerCase() : ''
  return NAMES.has(name) ? (name as SqliteProblem) : undefined
}
