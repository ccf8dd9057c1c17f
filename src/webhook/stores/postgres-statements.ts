import { createTables, mustBeTable, quotedTable } from '../../postgres/table.ts'

export const DEFAULT_TABLE = 'campaign_deliveries'

/**
 * Returns the SQL statement that creates the table of `postgresStore`, for a migration or for the start of your program. The
 * statement does nothing when the table exists. Several processes may run it at once. It needs the right to create tables
 * only when the table does not exist.
 *
 * Requires PostgreSQL 11 or newer. The schema of a qualified name must exist.
 *
 * @param table - as in {@link PostgresStoreOptions.table}
 * @throws TypeError when the name is malformed
 *
 * @example
 * ```ts
 * await pool.query(postgresSchema())            // pg
 * await sql.unsafe(postgresSchema())            // postgres
 * ```
 */
export function postgresSchema(table: string = DEFAULT_TABLE): string {
  const problem = mustBeTable(table)
  if (problem !== undefined) throw new TypeError(`postgresSchema: the table ${problem}`)
  const name = quotedTable(table)
  return createTables({
    [name]: `CREATE TABLE ${name} (
      purpose text NOT NULL CHECK (purpose IN ('delivery', 'run_once')),
      key_hash bytea NOT NULL,
      key text NOT NULL,
      state text NOT NULL CHECK (state IN ('claimed', 'done')),
      token text,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (purpose, key_hash)
    );
    CREATE INDEX ON ${name} (expires_at);`,
  })
}

/** Returns the SQL statements of a store. */
export function statements(tableName: string, runOnceRetainMs: number) {
  const table = quotedTable(tableName)
  const hash = "sha256(convert_to($1::text, 'UTF8'))"
  const fromNow = (ms: string) => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`
  const runOnceExpiry =
    runOnceRetainMs === Infinity ? "'infinity'::timestamptz" : fromNow(String(Math.ceil(runOnceRetainMs)))
  const delivery = `purpose = 'delivery' AND key_hash = ${hash}`
  const currentClaim = `${delivery} AND state = 'claimed' AND token = $2::text`
  // Computes the expiry again on conflict, because the statement may have waited for another session.
  const write = (state: string, condition: string) => `INSERT INTO ${table} AS record
        (purpose, key_hash, key, state, token, expires_at)
      VALUES ('delivery', ${hash}, $1::text, '${state}', $2::text, ${fromNow('$3')})
      ON CONFLICT (purpose, key_hash) DO UPDATE
        SET state = excluded.state, token = excluded.token, expires_at = ${fromNow('$3')}
        WHERE ${condition}record.expires_at <= clock_timestamp()
      RETURNING 1`
  return {
    claim: write('claimed', ''),
    // The row keeps its token, so that a retry after a lost response succeeds.
    complete: write('done', 'record.token = excluded.token OR '),
    current: `SELECT state, ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::text AS remaining
      FROM ${table} WHERE ${delivery} AND expires_at > clock_timestamp()`,
    extend: `UPDATE ${table} SET expires_at = ${fromNow('$3')}
      WHERE ${currentClaim} AND expires_at > clock_timestamp() RETURNING 1`,
    release: `DELETE FROM ${table} WHERE ${currentClaim}`,
    runOnce: `INSERT INTO ${table} AS record (purpose, key_hash, key, state, token, expires_at)
      VALUES ('run_once', ${hash}, $1::text, 'done', NULL, ${runOnceExpiry})
      ON CONFLICT (purpose, key_hash) DO UPDATE SET expires_at = ${runOnceExpiry}
        WHERE record.expires_at <= clock_timestamp()
      RETURNING 1`,
    hasRun: `SELECT 1 FROM ${table} WHERE purpose = 'run_once' AND key_hash = ${hash}`,
    // Finds the row only in the transaction that wrote it.
    stillOpen: `SELECT 1 FROM ${table}
      WHERE purpose = 'run_once' AND key_hash = ${hash} AND xmin::text::bigint = txid_current() % 4294967296`,
    prune: `WITH expired AS (
        SELECT purpose, key_hash FROM ${table} WHERE expires_at <= clock_timestamp()
        ORDER BY expires_at LIMIT $1::int FOR UPDATE SKIP LOCKED
      )
      DELETE FROM ${table} AS record USING expired
      WHERE record.purpose = expired.purpose AND record.key_hash = expired.key_hash
      RETURNING 1`,
  }
}
