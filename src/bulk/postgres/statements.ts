import type { OptionRule } from '../../shared/options.ts'
import { isTable, quotedTable } from '../../shared/postgres-table.ts'

export const DEFAULT_TABLE = 'campaign_awards'

/** Of the tables, as the format of a file has one. */
export const VERSION = 1

/** The table of the runs stands beside that of the awards. */
const runsOf = (table: string): string => `${table}_runs`

/** A table whose name leaves room for that of the runs: PostgreSQL would cut it off, and take one for the other. */
export const isAwardTable: OptionRule = (value) =>
  isTable(value) ?? (isTable(runsOf(String(value))) === undefined ? undefined : TOO_LONG)

const TOO_LONG = 'must have at most 58 characters: the table of the runs has the same name with "_runs" behind it'

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

/** The statements of one ledger. @param tableName - as in the options, checked */
export function statements(tableName: string) {
  const table = quotedTable(tableName)
  const runs = quotedTable(runsOf(tableName))
  const hashOf = (id: string): string => `sha256(convert_to(${id}, 'UTF8'))`
  // As text: the clients encode what they take for JSON a second time.
  const given = (columns: string): string => `jsonb_to_recordset($2::text::jsonb) AS given(${columns})`
  const lease = (parameter: string): string => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`
  /** The rows in one order for everybody, so that two statements wait for each other in one direction only. */
  const locked = `locked AS (
      SELECT held.id_hash FROM ${table} AS held
      WHERE held.run = $1::text AND held.id_hash IN (SELECT ${hashOf('given.id')} FROM given)
      ORDER BY held.id_hash FOR UPDATE
    )`
  return {
    beginRun: `INSERT INTO ${runs} (run, version, target) VALUES ($1::text, $2::int, nullif($3::text, ''))
      ON CONFLICT (run) DO NOTHING`,
    run: `SELECT version, target FROM ${runs} WHERE run = $1::text`,
    // What is free: new, without a verdict, or with one that may be taken up again. What is open and past its lease is
    // free as well, and in doubt from then on. A row that is neither, or stands for another award, stays as it is.
    begin: `INSERT INTO ${table} AS held (run, id_hash, id, address, pid, xp, attempt, lease_until)
      SELECT $1::text, ${hashOf('given.id')}, given.id, given.address, given.pid, given.xp, given.token, ${lease('$3')}
      FROM ${given('id text, address text, pid text, xp float8, token uuid')} ORDER BY 2
      ON CONFLICT (run, id_hash) DO UPDATE SET
        attempt = excluded.attempt,
        lease_until = ${lease('$3')},
        doubtful = held.doubtful OR held.attempt IS NOT NULL,
        verdict = CASE WHEN held.attempt IS NULL THEN held.verdict END
      WHERE lower(held.address) = lower(excluded.address) AND held.pid = excluded.pid AND held.xp = excluded.xp
        AND CASE WHEN held.attempt IS NULL
          THEN held.verdict IS NULL OR (held.verdict = 'rejected' AND $4::boolean)
            OR (held.verdict = 'unconfirmed' AND $5::boolean)
          ELSE held.lease_until <= clock_timestamp() END
      RETURNING attempt::text AS token, doubtful, verdict`,
    // Compared here: what a pool makes of a number is its own affair, and before PostgreSQL 12 it loses digits on the way.
    state: `SELECT held.id, held.address, held.pid, held.xp, held.verdict, held.doubtful, held.attempt IS NOT NULL AS open,
        lower(held.address) = lower(given.address) AND held.pid = given.pid AND held.xp = given.xp AS same,
        greatest(0, ceil(extract(epoch FROM held.lease_until - clock_timestamp()) * 1000))::float8 AS remaining
      FROM ${table} AS held, ${given('id text, address text, pid text, xp float8')}
      WHERE held.run = $1::text AND held.id_hash = ${hashOf('given.id')}`,
    // That it was awarded is the truth, whoever says so. Everything else is for the holder of the attempt to say.
    settle: `WITH given AS (SELECT * FROM ${given('id text, token uuid, verdict text, error text')}),
    ${locked}
      UPDATE ${table} AS held SET
        verdict = nullif(given.verdict, 'indeterminate'),
        doubtful = CASE given.verdict WHEN 'indeterminate' THEN true WHEN 'rejected' THEN false ELSE held.doubtful END,
        attempt = NULL, lease_until = NULL, error = given.error, settled_at = clock_timestamp()
      FROM given, locked
      WHERE held.run = $1::text AND held.id_hash = locked.id_hash AND held.id_hash = ${hashOf('given.id')}
        AND (held.attempt = given.token OR (given.verdict = 'awarded' AND held.verdict IS DISTINCT FROM 'awarded'))
      RETURNING given.token::text AS token`,
    // Back to what was before the attempt: nothing at all, where it was the first one.
    release: `WITH given AS (SELECT * FROM ${given('id text, token uuid')}),
    ${locked},
    forgotten AS (
      DELETE FROM ${table} AS held USING given, locked
      WHERE held.run = $1::text AND held.id_hash = locked.id_hash AND held.id_hash = ${hashOf('given.id')}
        AND held.attempt = given.token AND NOT held.doubtful AND held.verdict IS NULL
    )
      UPDATE ${table} AS held SET attempt = NULL, lease_until = NULL
      FROM given, locked
      WHERE held.run = $1::text AND held.id_hash = locked.id_hash AND held.id_hash = ${hashOf('given.id')}
        AND held.attempt = given.token AND (held.doubtful OR held.verdict IS NOT NULL)`,
    extend: `WITH given AS (SELECT * FROM ${given('id text, token uuid')}),
    ${locked}
      UPDATE ${table} AS held SET lease_until = ${lease('$3')}
      FROM given, locked
      WHERE held.run = $1::text AND held.id_hash = locked.id_hash AND held.id_hash = ${hashOf('given.id')}
        AND held.attempt = given.token`,
  }
}
