import type { PgClient, PgPool } from 'campaign-client/webhook/postgres'

/** Returns the rows of the first statement of every store, which checks that the client returns text unchanged. */
export const rowsOfCheck = (text: string): unknown[] | undefined =>
  text.startsWith('SELECT $1::text AS unchanged') ? [{ unchanged: 'Text', missing: null }] : undefined

/**
 * A pool without a database. BEGIN, COMMIT and ROLLBACK return one row.
 *
 * @param readRows - returns the rows of any other statement
 */
export function fakePool(
  readRows: (text: string) => unknown[] | Promise<unknown[]>,
  members?: Partial<PgPool>,
): PgPool {
  const query: PgClient['query'] = async (text) => ({
    rows: rowsOfCheck(text) ?? (/^(BEGIN|COMMIT|ROLLBACK)/.test(text) ? [{}] : await readRows(text)),
  })
  return { query, connect: (callback) => callback(undefined, { query }, () => undefined), ...members }
}
