import { ConfigurationError } from '../../errors.ts'
import type { ClientTarget } from '../../shared/client-internals.ts'
import { milliseconds, type OptionRules, optional } from '../../shared/option-checks.ts'
import { isRecord } from '../../shared/type-checks.ts'
import { headerConflict, isRunName } from '../ledger/header.ts'
import { LEDGER, type SharedLedger } from '../ledger/ledger.ts'
import { readOptions } from '../options.ts'
import { type PgPool, type PostgresSql, type Query, queryOf } from './database.ts'
import { LeaseRenewer } from './lease-renewer.ts'
import { postgresSession } from './postgres-session.ts'
import { DEFAULT_TABLE, isAwardTable, statements, VERSION } from './statements.ts'

/** Options of {@link postgresLedger}. Only `run` is required. */
export interface PostgresLedgerOptions {
  /**
   * The name of the run, at most 500 characters. Runs with different names do not see each other's awards. All clients
   * of a run must have the same base URL, and tokens with the same `iss` and `sub`. A call with another client fails with
   * `ConfigurationError`.
   */
  run: string
  /**
   * The table of the awards, with or without a schema: `'campaign_awards'`, `'app.awards'`. It may have letters, digits and
   * underscores, at most 58 characters. It is case-sensitive, because it is quoted.
   *
   * @defaultValue `'campaign_awards'`
   */
  table?: string | undefined
  /**
   * The lease of an attempt, in milliseconds. It is renewed until the attempt ends, so it may be shorter than a call. It must
   * be longer than the longest pause of your processes, for instance for garbage collection.
   *
   * @defaultValue 60 000
   */
  leaseMs?: number | undefined
}

const OPTIONS: OptionRules<PostgresLedgerOptions> = {
  run: isRunName,
  table: optional(isAwardTable),
  leaseMs: optional(milliseconds),
}
const DEFAULT_LEASE_MS = 60_000

/**
 * Records a run of awards in PostgreSQL 11 or newer, for `rewardWallets` and `awardOne`. Several processes can share it.
 * {@link postgresLedgerSchema} creates its tables.
 *
 * ```ts
 * import { awardOne } from 'campaign-client/bulk'
 * import { postgresLedger, postgresLedgerSchema } from 'campaign-client/bulk/postgres'
 *
 * await pool.query(postgresLedgerSchema())
 * const ledger = postgresLedger(pool, { run: 'launch-party' })
 * const verdict = await awardOne(client, award, { ledger })
 * ```
 *
 * Each attempt first claims the award. Only one attempt at a time can hold the claim. The claim has a lease, which is measured
 * by the database's clock. When the lease expires, another attempt may claim the award. From then on, the ledger accepts only
 * the verdict `awarded` from the first attempt. If the service refuses the second attempt, the first attempt may have
 * succeeded. The verdict is then `unconfirmed`, unless `confirm` or `isUsedId` gives an answer.
 *
 * It uses your pool and does not close it. Every change is one statement in its own transaction, so it works behind a
 * transaction pooler such as PgBouncer. Durability depends on `synchronous_commit` of the database. Rows stay until you
 * delete them.
 *
 * @param database - a `Pool` of `pg`, or the `sql` of `postgres` with `prepare: false`
 * @throws InvalidRequestError when `database` is neither of the two, the `sql` prepares statements, or an option is invalid
 */
export function postgresLedger(database: PgPool | PostgresSql, options: PostgresLedgerOptions): SharedLedger {
  const query = queryOf(database)
  const own = readOptions('postgresLedger', options, OPTIONS)
  const { run, table = DEFAULT_TABLE, leaseMs = DEFAULT_LEASE_MS } = own
  const queryOrExplain: Query = async (...statement) => {
    try {
      return await query(...statement)
    } catch (error) {
      throw isSchemaProblem(error) ? unusable(run, `${MISSING_TABLES}: ${(error as Error).message}`, error) : error
    }
  }
  const sql = statements(table)
  const leases = new LeaseRenewer(leaseMs, (claims) => queryOrExplain(sql.extend, run, JSON.stringify(claims), leaseMs))
  /** The result of `compareRun` by target, so that each target is compared once. */
  const compared = new Map<string, Promise<void>>()
  const compare = (target: ClientTarget | undefined): Promise<void> => {
    const key = JSON.stringify(target ?? null)
    let comparison = compared.get(key)
    if (comparison === undefined) {
      comparison = compareRun(queryOrExplain, sql, run, target)
      compared.set(key, comparison)
      comparison.catch(() => compared.delete(key))
    }
    return comparison
  }
  return {
    kind: 'shared',
    run,
    [LEDGER]: {
      async open(target) {
        await compare(target)
        return postgresSession({ query: queryOrExplain, sql, run, leaseMs, leases })
      },
    },
  }
}

/** Records the run if it is new. @throws ConfigurationError when the recorded run has another target or version */
async function compareRun(
  query: Query,
  sql: ReturnType<typeof statements>,
  run: string,
  target: ClientTarget | undefined,
): Promise<void> {
  await query(sql.insertRun, run, VERSION, target === undefined ? '' : JSON.stringify(target))
  const [existing] = await query(sql.selectRun, run)
  if (existing === undefined) throw unusable(run, 'another program has deleted it')
  // A pool may be configured to read numbers as text.
  if (Number(existing.version) !== VERSION) {
    throw unusable(run, `it has version ${existing.version}, and this package uses version ${VERSION}`)
  }
  const conflict = headerConflict({ run, target: readTarget(existing.target) }, { run, target })
  if (conflict !== undefined) throw unusable(run, conflict)
}

function readTarget(text: unknown): ClientTarget | undefined {
  const target: unknown = typeof text === 'string' ? JSON.parse(text) : undefined
  return isRecord(target) ? (target as unknown as ClientTarget) : undefined
}

const MISSING_TABLES = 'its tables are missing or have other columns; create them with postgresLedgerSchema()'

/** SQLSTATE codes of a missing table, column or primary key, and of a column with the wrong type or constraint. */
const SCHEMA_PROBLEMS: ReadonlySet<unknown> = new Set(['42P01', '42703', '42804', '42P10', '42883', '23502'])

const isSchemaProblem = (error: unknown): boolean =>
  SCHEMA_PROBLEMS.has((error as { code?: unknown } | undefined)?.code)

const unusable = (run: string, reason: string, cause?: unknown): ConfigurationError =>
  new ConfigurationError(`The ledger of the run ${JSON.stringify(run)} can't be used: ${reason}`, { cause })
