import { quotedTable } from '../../../shared/postgres-table.ts'

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
    // The row keeps its token, so that a retry after a lost answer succeeds.
    complete: write('done', 'record.token = excluded.token OR '),
    current: `SELECT state, ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS remaining
      FROM ${table} WHERE ${delivery} AND expires_at > clock_timestamp()`,
    extend: `UPDATE ${table} SET expires_at = ${fromNow('$3')}
      WHERE ${currentClaim} AND expires_at > clock_timestamp() RETURNING 1`,
    release: `DELETE FROM ${table} WHERE ${currentClaim}`,
    runOnce: `INSERT INTO ${table} AS record (purpose, key_hash, key, state, token, expires_at)
      VALUES ('run_once', ${hash}, $1::text, 'done', NULL, ${runOnceExpiry})
      ON CONFLICT (purpose, key_hash) DO UPDATE SET expires_at = ${runOnceExpiry}
        WHERE record.expires_at <= clock_timestamp()
      RETURNING 1`,
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
