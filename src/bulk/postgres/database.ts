import { setTimeout as wait } from 'node:timers/promises'
import { hasMethod, typeName } from '../../shared/type-checks.ts'
import { invalidRequestError } from '../errors.ts'

/** The part of a `Pool` of the `pg` package that `postgresLedger` uses. */
export interface PgPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  connect(): Promise<unknown>
}

/** The part of the `sql` of the `postgres` package that `postgresLedger` uses. */
export interface PostgresSql {
  unsafe(query: string, parameters?: (string | number | boolean)[]): PromiseLike<readonly unknown[]>
  begin: unknown
  /** `prepare` must be `false`. */
  readonly options?: { readonly prepare?: boolean | undefined }
}

/** Sends one statement in its own transaction, and resolves to its rows. */
export type Query = (text: string, ...values: (string | number | boolean)[]) => Promise<readonly Row[]>

export type Row = Readonly<Record<string, unknown>>

/** Deadlock and serialization failure: PostgreSQL rolled the statement back. */
const ROLLED_BACK: ReadonlySet<unknown> = new Set(['40P01', '40001'])
const MAX_RETRIES = 9
const MAX_WAIT_MS = 500

const PREPARED =
  'must be made with prepare: false. With prepared statements, a connection pooler such as PgBouncer can lose a COMMIT ' +
  'that the package reports as done'

/** Returns a function that sends statements. @throws InvalidRequestError when the value is not a pool */
export function queryOf(database: unknown): Query {
  const has = (name: string): boolean => hasMethod(database, name)
  if (typeof database === 'function' && has('unsafe') && has('begin')) {
    const sql = database as unknown as PostgresSql
    if (sql.options?.prepare !== false) throw wrongDatabase(PREPARED)
    return withRetries(async (text, ...values) => (await sql.unsafe(text, values)) as readonly Row[])
  }
  // A `Client` has `escapeIdentifier`, a `Pool` does not.
  if (has('query') && has('connect') && !has('escapeIdentifier')) {
    const pool = database as PgPool
    return withRetries(async (text, ...values) => (await pool.query(text, values)).rows as Row[])
  }
  // A single client, or the sql of a transaction, may be inside a transaction that is never committed.
  throw wrongDatabase(
    `must be a Pool of "pg" or the sql of "postgres", not a single client or a transaction; got ${typeName(database)}`,
  )
}

const wrongDatabase = (message: string): Error =>
  invalidRequestError('postgresLedger', [{ path: ['database'], message }])

const withRetries =
  (query: Query): Query =>
  async (text, ...values) => {
    for (let retry = 0; ; retry++) {
      try {
        return await query(text, ...values)
      } catch (error) {
        if (!ROLLED_BACK.has((error as { code?: unknown } | undefined)?.code) || retry === MAX_RETRIES) throw error
        await wait(Math.random() * Math.min(MAX_WAIT_MS, 20 * 2 ** retry))
      }
    }
  }
