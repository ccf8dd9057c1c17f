import { issuesAt, refuseOptions } from '../../errors/option-checks.ts'
import { createTables, mustBeTable, quotedTable } from '../../postgres/table.ts'
import { EVIDENCE_FAILED } from './award-state.ts'

export const DEFAULT_TABLE = 'campaign_awards'

/** The version of the tables. */
export const VERSION = 1

const runsTableOf = (table: string): string => `${table}_runs`

/** The rule for a table name that is short enough for the `_runs` suffix: PostgreSQL truncates longer names. */
export const mustBeAwardTable = (value: unknown): string | undefined =>
  mustBeTable(value) ?? (mustBeTable(runsTableOf(String(value))) === undefined ? undefined : TOO_LONG)

const TOO_LONG = 'must have at most 58 characters, because the name of the second table is this name and "_runs"'

/**
 * Returns the SQL statement that creates the two tables of {@link postgresLedger}: one for the awards, and one for the runs,
 * whose name ends with `_runs`. Run it in a migration or at the start of the program. It is one anonymous `DO` block. It does
 * nothing if the tables exist, and several processes can run it at once.
 *
 * It needs PostgreSQL 11 or newer. The schema of a qualified name must exist.
 *
 * @param table - as in {@link PostgresLedgerOptions.table}
 * @throws ConfigurationError when the name is malformed
 *
 * @example
 * ```ts
 * await pool.query(postgresLedgerSchema())            // pg
 * await sql.unsafe(postgresLedgerSchema())            // postgres
 * ```
 */
export function postgresLedgerSchema(table: string = DEFAULT_TABLE): string {
  refuseOptions('postgresLedgerSchema', issuesAt('table', mustBeAwardTable(table)))
  const awards = quotedTable(table)
  const runs = quotedTable(runsTableOf(table))
  return createTables({
    [runs]: {
      create: `CREATE TABLE ${runs} (
      run text PRIMARY KEY,
      version integer NOT NULL,
      target text,
      begun_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );`,
    },
    [awards]: {
      create: `CREATE TABLE ${awards} (
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
    );`,
    },
  })
}

/** The reason why the tables can't be used. */
export const missingTables = (table: string): string => {
  const argument = table === DEFAULT_TABLE ? '' : `'${table}'`
  const names = `${quotedTable(table)} and ${quotedTable(runsTableOf(table))}`
  return `its tables ${names} are missing or have other columns; create them with postgresLedgerSchema(${argument})`
}

export type LedgerStatements = ReturnType<typeof ledgerStatements>

/**
 * Returns the statements of a ledger. Each column is cast to text, and has a name of its own.
 *
 * @param tableName - passes {@link mustBeAwardTable}
 */
export function ledgerStatements(tableName: string) {
  const table = quotedTable(tableName)
  const runs = quotedTable(runsTableOf(tableName))
  const hash = (id: string): string => `sha256(convert_to(${id}, 'UTF8'))`
  const lease = (parameter: string): string => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`
  const isSame = (address: string, pid: string, xp: string): string =>
    `lower(award.address) = lower(${address}) AND award.pid = ${pid} AND award.xp = ${xp}`
  const ofId = `award.run = $1::text AND award.id_hash = ${hash('$2::text')}`
  const row = `$1::text, ${hash('$2::text')}, $2::text, $3::text, $4::text, $5::float8`
  const cameInDoubt = 'award.in_doubt AND NOT $6::boolean'
  const provesNothing = `$4::text = 'rejected' AND ${cameInDoubt}`
  const hasRecord = 'award.in_doubt OR award.verdict IS NOT NULL OR award.error IS NOT NULL'
  return {
    selectRun: `SELECT run.version::text, run.target,
        EXISTS (SELECT 1 FROM ${table} AS award WHERE award.run = $1::text)::text AS has_awards
      FROM ${runs} AS run WHERE run.run = $1::text`,
    insertRun: `INSERT INTO ${runs} (run, version) VALUES ($1::text, ${VERSION}) ON CONFLICT (run) DO NOTHING`,
    // Waits for claims that are under way. Later claims wait for this lock.
    lockRun: `SELECT run.run FROM ${runs} AS run WHERE run.run = $1::text FOR UPDATE`,
    bindRun: `UPDATE ${runs} SET target = $2::text WHERE run = $1::text`,
    // Claims an award that is new, has no final verdict, has a retryable verdict, or has an expired lease. After an expired
    // lease the award is in doubt. A rejected award keeps its error, but not its verdict: the attempt may make it. If `$10` is
    // empty, the client has no target, and any run matches. The column `attempt` has the token of the claim, or NULL if there
    // is no claim. The lock on the run keeps its target until the claim is committed.
    claim: `WITH bound AS (
        SELECT 1 FROM ${runs} AS run
        WHERE run.run = $1::text AND run.version = ${VERSION} AND $10::text IN ('', run.target)
        FOR KEY SHARE
      )
      INSERT INTO ${table} AS award (run, id_hash, id, address, pid, xp, attempt, lease_until)
      SELECT ${row}, $6::uuid, ${lease('$7')} FROM bound
      ON CONFLICT (run, id_hash) DO UPDATE SET
        attempt = excluded.attempt,
        lease_until = ${lease('$7')},
        in_doubt = award.in_doubt OR award.attempt IS NOT NULL,
        verdict = CASE WHEN award.attempt IS NULL AND award.verdict <> 'rejected' THEN award.verdict END,
        error = CASE WHEN award.attempt IS NULL THEN award.error END
      WHERE ${isSame('excluded.address', 'excluded.pid', 'excluded.xp')}
        AND CASE WHEN award.attempt IS NULL
          THEN award.verdict IS NULL OR (award.verdict = 'unconfirmed' AND $9::boolean)
            OR (award.verdict = 'rejected' AND $8::boolean AND award.error::jsonb ->> 'code' IS DISTINCT FROM 'other_amount')
          ELSE award.lease_until <= clock_timestamp() END
      RETURNING award.in_doubt::text,
        CASE WHEN award.verdict IS NULL AND NOT award.in_doubt
          AND award.error::jsonb ->> 'code' <> '${EVIDENCE_FAILED}' THEN 'rejected' ELSE award.verdict END`,
    // Compares the XP in SQL, because PostgreSQL 11 rounds a float8 that it converts to text.
    select: `SELECT award.id, award.address, award.pid, award.xp::text, award.verdict, award.error, award.in_doubt::text,
        (award.attempt IS NOT NULL)::text AS is_claimed,
        (${isSame('$3::text', '$4::text', '$5::float8')})::text AS is_same,
        greatest(0, ceil(extract(epoch FROM award.lease_until - clock_timestamp()) * 1000))::text AS lease_left_ms,
        (SELECT run.target FROM ${runs} AS run WHERE run.run = $1::text) AS target
      FROM ${table} AS award WHERE ${ofId}`,
    // Any attempt may record "awarded", even if the row is gone.
    award: `INSERT INTO ${table} AS award (run, id_hash, id, address, pid, xp, verdict, settled_at)
      VALUES (${row}, 'awarded', clock_timestamp())
      ON CONFLICT (run, id_hash) DO UPDATE SET
        address = excluded.address, pid = excluded.pid, xp = excluded.xp, verdict = excluded.verdict, in_doubt = false,
        attempt = NULL, lease_until = NULL, error = NULL, settled_at = excluded.settled_at`,
    // Other verdicts are accepted only from the attempt that holds the claim. If another attempt put the award in doubt after
    // this claim, a refusal does not prove that the award was not made.
    complete: `UPDATE ${table} AS award SET
        verdict = CASE WHEN ${provesNothing} THEN 'unconfirmed'
          ELSE nullif($4::text, 'indeterminate') END,
        in_doubt = $4::text IN ('indeterminate', 'unconfirmed') OR (${provesNothing}),
        attempt = NULL, lease_until = NULL, settled_at = clock_timestamp(),
        error = CASE WHEN $4::text <> 'alreadyAwarded' OR NOT (${cameInDoubt}) THEN nullif($5::text, '') END
      WHERE ${ofId} AND award.attempt = $3::uuid
      RETURNING coalesce(award.verdict, 'indeterminate')`,
    // Deletes the row if this was the first attempt. Returns the id if the row stays. `$4` is the failure of an undecided
    // award, `$5` whether the award was rejected before the claim.
    release: `WITH deleted AS (
        DELETE FROM ${table} AS award
        WHERE ${ofId} AND award.attempt = $3::uuid AND $4::text = '' AND NOT (${hasRecord})
      )
      UPDATE ${table} AS award SET attempt = NULL, lease_until = NULL,
        verdict = CASE
          WHEN $4::text <> '' THEN NULL
          WHEN NOT $5::boolean THEN award.verdict
          WHEN award.in_doubt THEN 'unconfirmed' ELSE 'rejected' END,
        error = coalesce(nullif($4::text, ''), award.error)
      WHERE ${ofId} AND award.attempt = $3::uuid AND ($4::text <> '' OR ${hasRecord})
      RETURNING award.id`,
    // Puts an award in doubt. Restores a row that is gone, for instance after a failover to a replica that lags. If another
    // attempt recorded `rejected` meanwhile, the award becomes `unconfirmed`: it may have been refused because of this attempt.
    doubt: `INSERT INTO ${table} AS award (run, id_hash, id, address, pid, xp, in_doubt, error, settled_at)
      VALUES (${row}, true, nullif($6::text, ''), clock_timestamp())
      ON CONFLICT (run, id_hash) DO UPDATE SET
        in_doubt = true, verdict = CASE WHEN award.verdict = 'rejected' THEN 'unconfirmed' END
      WHERE ${isSame('excluded.address', 'excluded.pid', 'excluded.xp')}
        AND (award.verdict IS NULL OR award.verdict = 'rejected')`,
    extend: `UPDATE ${table} AS award SET lease_until = ${lease('$4')} WHERE ${ofId} AND award.attempt = $3::uuid`,
  }
}
