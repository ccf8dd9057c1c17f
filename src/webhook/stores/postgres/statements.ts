import { isTable, quotedTable } from '../../../shared/postgres-table.ts'

export const DEFAULT_TABLE = 'campaign_deliveries'

/**
 * Returns the SQL statement that creates the table of {@link postgresStore}, for a migration or for `pool.query(…)` at the
 * start of the program. Does nothing when the table exists; several processes may run it at once. Needs the right to
 * create tables only when the table does not exist.
 *
 * ```ts
 * await pool.query(postgresSchema())            // pg
 * await sql.unsafe(postgresSchema())            // postgres
 * ```
 *
 * PostgreSQL 11 or newer. The schema of a qualified name must exist.
 *
 * @param table - as in {@link PostgresStoreOptions.table}
 * @throws TypeError when the name is malformed
 */
export function postgresSchema(table: string = DEFAULT_TABLE): string {
  const problem = isTable(table)
  if (problem !== undefined) throw new TypeError(`postgresSchema: the table ${problem}`)
  const name = quotedTable(table)
  // CREATE TABLE IF NOT EXISTS fails when two sessions run it at once: the advisory lock makes the second one wait.
  return `DO $campaign_client$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('campaign-client'), hashtext('${name}'));
  IF to_regclass('${name}') IS NULL THEN
    CREATE TABLE ${name} (
      purpose text NOT NULL CHECK (purpose IN ('delivery', 'run_once')),
      key_hash bytea NOT NULL,
      key text NOT NULL,
      state text NOT NULL CHECK (state IN ('claimed', 'done')),
      token text,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (purpose, key_hash)
    );
    CREATE INDEX ON ${name} (expires_at);
  END IF;
END
$campaign_client$`
}

/** Returns the statements of one store. @param tableName - as in the options, checked */
export function statements(tableName: string, runOnceRetainMs: number) {
  const table = quotedTable(tableName)
  const hash = "sha256(convert_to($1::text, 'UTF8'))"
  const fromNow = (ms: string) => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`
  const runOnceExpiry =
    runOnceRetainMs === Infinity ? "'infinity'::timestamptz" : fromNow(String(Math.ceil(runOnceRetainMs)))
  const delivery = `purpose = 'delivery' AND key_hash = ${hash}`
  const holder = `${delivery} AND state = 'claimed' AND token = $2::text`
  // The expiry is computed again on conflict: the statement may have waited for another session since the first time.
  const write = (state: string, isOurs: string) => `INSERT INTO ${table} AS held
        (purpose, key_hash, key, state, token, expires_at)
      VALUES ('delivery', ${hash}, $1::text, '${state}', $2::text, ${fromNow('$3')})
      ON CONFLICT (purpose, key_hash) DO UPDATE
        SET state = excluded.state, token = excluded.token, expires_at = ${fromNow('$3')}
        WHERE ${isOurs}held.expires_at <= clock_timestamp()
      RETURNING 1 AS made`
  return {
    claim: write('claimed', ''),
    // The token stays in the finished row, so that a holder whose answer was lost may complete again.
    complete: write('done', 'held.token = excluded.token OR '),
    held: `SELECT state, ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS remaining
      FROM ${table} WHERE ${delivery} AND expires_at > clock_timestamp()`,
    extend: `UPDATE ${table} SET expires_at = ${fromNow('$3')}
      WHERE ${holder} AND expires_at > clock_timestamp() RETURNING 1 AS made`,
    release: `DELETE FROM ${table} WHERE ${holder}`,
    runOnce: `INSERT INTO ${table} AS held (purpose, key_hash, key, state, token, expires_at)
      VALUES ('run_once', ${hash}, $1::text, 'done', NULL, ${runOnceExpiry})
      ON CONFLICT (purpose, key_hash) DO UPDATE SET expires_at = ${runOnceExpiry}
        WHERE held.expires_at <= clock_timestamp()
      RETURNING 1 AS made`,
    // Finds the row only within the transaction that wrote it: not after a COMMIT, nor in a later transaction.
    stillOpen: `SELECT 1 AS made FROM ${table}
      WHERE purpose = 'run_once' AND key_hash = ${hash} AND xmin::text::bigint = txid_current() % 4294967296`,
    prune: `WITH expired AS (
        SELECT purpose, key_hash FROM ${table} WHERE expires_at <= clock_timestamp()
        ORDER BY expires_at LIMIT $1::int FOR UPDATE SKIP LOCKED
      )
      DELETE FROM ${table} AS held USING expired
      WHERE held.purpose = expired.purpose AND held.key_hash = expired.key_hash
      RETURNING 1 AS made`,
  }
}
