import { isTable, quotedTable } from '../../../shared/postgres-table.ts'

export const DEFAULT_TABLE = 'campaign_deliveries'

/**
 * Returns the SQL statement that creates the table of {@link postgresStore}, for a migration or for the start of your
 * program. The statement does nothing when the table exists. Several processes may run it at once. It needs the right to
 * create tables only when the table does not exist.
 *
 * ```ts
 * await pool.query(postgresSchema())            // pg
 * await sql.unsafe(postgresSchema())            // postgres
 * ```
 *
 * Requires PostgreSQL 11 or newer. The schema of a qualified name must exist.
 *
 * @param table - as in {@link PostgresStoreOptions.table}
 * @throws TypeError when the name is malformed
 */
export function postgresSchema(table: string = DEFAULT_TABLE): string {
  const problem = isTable(table)
  if (problem !== undefined) throw new TypeError(`postgresSchema: the table ${problem}`)
  const name = quotedTable(table)
  // CREATE TABLE IF NOT EXISTS can fail when two sessions run it at once. The advisory lock makes the second session wait.
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
