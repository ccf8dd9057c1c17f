import type { OptionRule } from '../../shared/option-checks.ts'
import { isTable, quotedTable } from '../../shared/postgres-table.ts'

export const DEFAULT_TABLE = 'campaign_awards'

/** The version of the tables. */
export const VERSION = 1

const runsTableOf = (table: string): string => `${table}_runs`

/** The rule for a table name that is short enough for the `_runs` suffix: PostgreSQL truncates longer names. */
export const isAwardTable: OptionRule = (value) =>
  isTable(value) ?? (isTable(runsTableOf(String(value))) === undefined ? undefined : TOO_LONG)

const TOO_LONG = 'must have at most 58 characters, because the name of the second table is this name and "_runs"'

/**
 * Returns the SQL statement that creates the two tables of {@link postgresLedger}: one for the awards, and one for the runs,
 * whose name ends with `_runs`. Run it in a migration or at the start of the program. It is one anonymous `DO` block. It does
 * nothing if the tables exist, and several processes can run it at once.
 *
 * ```ts
 * await pool.query(postgresLedgerSchema())            // pg
 * await sql.unsafe(postgresLedgerSchema())            // postgres
 * ```
 *
 * It needs PostgreSQL 11 or newer. The schema of a qualified name must exist.
 *
 * @param table - as in {@link PostgresLedgerOptions.table}
 * @throws TypeError when the name is malformed
 */
export function postgresLedgerSchema(table: string = DEFAULT_TABLE): string {
  const problem = isAwardTable(table)
  if (problem !== undefined) throw new TypeError(`postgresLedgerSchema: the table ${problem}`)
  const awards = quotedTable(table)
  const runs = quotedTable(runsTableOf(table))
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
      in_doubt boolean NOT NULL DEFAULT false,
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

/** Returns the statements of a ledger. Each runs in its own transaction. @param tableName - passes {@link isAwardTable} */
export function statements(tableName: string) {
  const table = quotedTable(tableName)
  const runs = quotedTable(runsTableOf(tableName))
  const hash = (id: string): string => `sha256(convert_to(${id}, 'UTF8'))`
  const lease = (parameter: string): string => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`
  const isSame = (address: string, pid: string, xp: string): string =>
    `lower(award.address) = lower(${address}) AND award.pid = ${pid} AND award.xp = ${xp}`
  const ofId = `award.run = $1::text AND award.id_hash = ${hash('$2::text')}`
  return {
    insertRun: `INSERT INTO ${runs} (run, version, target) VALUES ($1::text, $2::int, nullif($3::text, ''))
      ON CONFLICT (run) DO NOTHING`,
    selectRun: `SELECT version, target FROM ${runs} WHERE run = $1::text`,
    // Claims an award that is new, has no final verdict, has a retryable verdict, or has an expired lease. After an expired
    // lease the award is in doubt. The column `attempt` has the token of the claim, or NULL if there is no claim.
    claim: `INSERT INTO ${table} AS award (run, id_hash, id, address, pid, xp, attempt, lease_until)
      VALUES ($1::text, ${hash('$2::text')}, $2::text, $3::text, $4::text, $5::float8, $6::uuid, ${lease('$7')})
      ON CONFLICT (run, id_hash) DO UPDATE SET
        attempt = excluded.attempt,
        lease_until = ${lease('$7')},
        in_doubt = award.in_doubt OR award.attempt IS NOT NULL,
        verdict = CASE WHEN award.attempt IS NULL THEN award.verdict END
      WHERE ${isSame('excluded.address', 'excluded.pid', 'excluded.xp')}
        AND CASE WHEN award.attempt IS NULL
          THEN award.verdict IS NULL OR (award.verdict = 'unconfirmed' AND $9::boolean)
            OR (award.verdict = 'rejected' AND $8::boolean AND award.error::jsonb ->> 'code' IS DISTINCT FROM 'other_amount')
          ELSE award.lease_until <= clock_timestamp() END
      RETURNING in_doubt, verdict`,
    // Compares the XP in SQL: a pool may read a float8 as text, and PostgreSQL 11 rounds that text.
    select: `SELECT award.id, award.address, award.pid, award.xp, award.verdict, award.error, award.in_doubt,
        award.attempt IS NOT NULL AS is_claimed, ${isSame('$3::text', '$4::text', '$5::float8')} AS is_same,
        greatest(0, ceil(extract(epoch FROM award.lease_until - clock_timestamp()) * 1000))::float8 AS lease_left_ms
      FROM ${table} AS award WHERE ${ofId}`,
    // Any attempt may record "awarded". Other verdicts are accepted only from the attempt that holds the claim.
    settle: `UPDATE ${table} AS award SET
        verdict = nullif($4::text, 'indeterminate'),
        in_doubt = CASE $4::text WHEN 'indeterminate' THEN true WHEN 'rejected' THEN false ELSE award.in_doubt END,
        attempt = NULL, lease_until = NULL, error = nullif($5::text, ''), settled_at = clock_timestamp()
      WHERE ${ofId}
        AND (award.attempt = $3::uuid OR ($4::text = 'awarded' AND award.verdict IS DISTINCT FROM 'awarded'))
      RETURNING award.id`,
    // Deletes the row if this was the first attempt.
    release: `WITH deleted AS (
        DELETE FROM ${table} AS award
        WHERE ${ofId} AND award.attempt = $3::uuid AND NOT award.in_doubt AND award.verdict IS NULL
      )
      UPDATE ${table} AS award SET attempt = NULL, lease_until = NULL
      WHERE ${ofId} AND award.attempt = $3::uuid AND (award.in_doubt OR award.verdict IS NOT NULL)`,
    // Locks the rows in a fixed order, so that two statements cannot deadlock.
    extend: `WITH claims AS (SELECT * FROM jsonb_to_recordset($2::text::jsonb) AS claims(id text, token uuid)),
      locked AS (
        SELECT award.id_hash FROM ${table} AS award JOIN claims ON award.id_hash = ${hash('claims.id')}
        WHERE award.run = $1::text AND award.attempt = claims.token
        ORDER BY award.id_hash FOR UPDATE OF award
      )
      UPDATE ${table} AS award SET lease_until = ${lease('$3')} FROM locked, claims
      WHERE award.run = $1::text AND award.id_hash = locked.id_hash
        AND award.id_hash = ${hash('claims.id')} AND award.attempt = claims.token`,
  }
}
