import type { OptionRule } from '../../shared/options.ts'
import { isTable, quotedTable } from '../../shared/postgres-table.ts'

export const DEFAULT_TABLE = 'campaign_awards'

/** The version of the tables. */
export const VERSION = 1

/** The table of the runs stands beside that of the awards. */
const runsOf = (table: string): string => `${table}_runs`

/** A table name short enough for the `_runs` suffix. PostgreSQL would truncate both names to the same one. */
export const isAwardTable: OptionRule = (value) =>
  isTable(value) ?? (isTable(runsOf(String(value))) === undefined ? undefined : TOO_LONG)

const TOO_LONG = 'must have at most 58 characters, since the table of the runs has the same name with "_runs" appended'

/**
 * The SQL statement that creates the two tables of {@link postgresLedger}, for a migration or for `pool.query(…)` at the
 * start of the program: that of the awards, and one beside it, with `_runs` behind its name, of the runs. One statement (an
 * anonymous `DO` block); running it again, or from several processes at once, does nothing.
 *
 * ```ts
 * await pool.query(postgresLedgerSchema())            // pg
 * await sql.unsafe(postgresLedgerSchema())            // postgres
 * ```
 *
 * PostgreSQL 11 or newer. The schema of a qualified name must exist.
 *
 * @param table - as in {@link PostgresLedgerOptions.table}
 * @throws TypeError when the name is malformed
 */
export function postgresLedgerSchema(table: string = DEFAULT_TABLE): string {
  const problem = isAwardTable(table)
  if (problem !== undefined) throw new TypeError(`postgresLedgerSchema: the table ${problem}`)
  const awards = quotedTable(table)
  const runs = quotedTable(runsOf(table))
  // CREATE TABLE IF NOT EXISTS fails when two sessions run it at once; the advisory lock makes the second one wait.
  return `DO $campaign_client$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('campaign-client'), hashtext('${awards}'));
  IF to_regclass('${runs}') IS NULL THEN
    CREATE TABLE ${runs} (
      run text PRIMARY KEY,
      version integer NOT NULL,
      target text,
      begun_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
  END IF;
  IF to_regclass('${awards}') IS NULL THEN
    CREATE TABLE ${awards} (
      run text NOT NULL,
      id_hash bytea NOT NULL,
      id text NOT NULL,
      address text NOT NULL,
      pid text NOT NULL,
      xp float8 NOT NULL,
      verdict text CHECK (verdict IN ('awarded', 'alreadyAwarded', 'unconfirmed', 'rejected')),
      doubtful boolean NOT NULL DEFAULT false,
      attempt uuid,
      lease_until timestamptz,
      error text,
      begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      settled_at timestamptz,
      PRIMARY KEY (run, id_hash)
    );
  END IF;
END
$campaign_client$`
}

/** The statements of one ledger, each a transaction of its own. @param tableName - as in the options, checked */
export function statements(tableName: string) {
  const table = quotedTable(tableName)
  const runs = quotedTable(runsOf(tableName))
  const hash = (id: string): string => `sha256(convert_to(${id}, 'UTF8'))`
  const lease = (parameter: string): string => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`
  const isSame = (address: string, pid: string, xp: string): string =>
    `lower(held.address) = lower(${address}) AND held.pid = ${pid} AND held.xp = ${xp}`
  const ofId = `held.run = $1::text AND held.id_hash = ${hash('$2::text')}`
  return {
    beginRun: `INSERT INTO ${runs} (run, version, target) VALUES ($1::text, $2::int, nullif($3::text, ''))
      ON CONFLICT (run) DO NOTHING`,
    run: `SELECT version, target FROM ${runs} WHERE run = $1::text`,
    // Claimable are a new award, one without a final verdict or with one that may be tried again, and one whose lease is over,
    // which leaves it in doubt. Any other row stays as it is.
    begin: `INSERT INTO ${table} AS held (run, id_hash, id, address, pid, xp, attempt, lease_until)
      VALUES ($1::text, ${hash('$2::text')}, $2::text, $3::text, $4::text, $5::float8, $6::uuid, ${lease('$7')})
      ON CONFLICT (run, id_hash) DO UPDATE SET
        attempt = excluded.attempt,
        lease_until = ${lease('$7')},
        doubtful = held.doubtful OR held.attempt IS NOT NULL,
        verdict = CASE WHEN held.attempt IS NULL THEN held.verdict END
      WHERE ${isSame('excluded.address', 'excluded.pid', 'excluded.xp')}
        AND CASE WHEN held.attempt IS NULL
          THEN held.verdict IS NULL OR (held.verdict = 'unconfirmed' AND $9::boolean)
            OR (held.verdict = 'rejected' AND $8::boolean AND held.error::jsonb ->> 'code' IS DISTINCT FROM 'other_amount')
          ELSE held.lease_until <= clock_timestamp() END
      RETURNING doubtful, verdict`,
    // Compared in SQL: a pool may read numbers as text, which before PostgreSQL 12 lacks their last digits.
    state: `SELECT held.id, held.address, held.pid, held.xp, held.verdict, held.error, held.doubtful,
        held.attempt IS NOT NULL AS open, ${isSame('$3::text', '$4::text', '$5::float8')} AS same,
        greatest(0, ceil(extract(epoch FROM held.lease_until - clock_timestamp()) * 1000))::float8 AS remaining
      FROM ${table} AS held WHERE ${ofId}`,
    // "Awarded" is certain, whichever attempt reports it. Any other verdict is accepted from the holder only.
    settle: `UPDATE ${table} AS held SET
        verdict = nullif($4::text, 'indeterminate'),
        doubtful = CASE $4::text WHEN 'indeterminate' THEN true WHEN 'rejected' THEN false ELSE held.doubtful END,
        attempt = NULL, lease_until = NULL, error = nullif($5::text, ''), settled_at = clock_timestamp()
      WHERE ${ofId}
        AND (held.attempt = $3::uuid OR ($4::text = 'awarded' AND held.verdict IS DISTINCT FROM 'awarded'))
      RETURNING held.id`,
    // Back to what was before the attempt: no row at all, where it was the first one.
    release: `WITH forgotten AS (
        DELETE FROM ${table} AS held
        WHERE ${ofId} AND held.attempt = $3::uuid AND NOT held.doubtful AND held.verdict IS NULL
      )
      UPDATE ${table} AS held SET attempt = NULL, lease_until = NULL
      WHERE ${ofId} AND held.attempt = $3::uuid AND (held.doubtful OR held.verdict IS NOT NULL)`,
    // Locks the rows in a fixed order, so that two statements cannot deadlock.
    extend: `WITH given AS (SELECT * FROM jsonb_to_recordset($2::text::jsonb) AS given(id text, token uuid)),
      locked AS (
        SELECT held.id_hash FROM ${table} AS held JOIN given ON held.id_hash = ${hash('given.id')}
        WHERE held.run = $1::text AND held.attempt = given.token
        ORDER BY held.id_hash FOR UPDATE OF held
      )
      UPDATE ${table} AS held SET lease_until = ${lease('$3')} FROM locked, given
      WHERE held.run = $1::text AND held.id_hash = locked.id_hash
        AND held.id_hash = ${hash('given.id')} AND held.attempt = given.token`,
  }
}
