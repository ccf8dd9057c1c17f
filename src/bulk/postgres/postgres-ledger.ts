import { ConfigurationError } from '../../errors.ts'
import type { ClientTarget } from '../../shared/client-internals.ts'
import { milliseconds, type OptionRules, optional } from '../../shared/options.ts'
import { isRecord } from '../../shared/types.ts'
import { readOptions } from '../invalid-request.ts'
import { headerConflict, isRunName } from '../ledger/header.ts'
import { LEDGER, type SharedLedger } from '../ledger/ledger.ts'
import { type PgPool, type PostgresSql, type Query, queryOf } from './database.ts'
import { Leases } from './leases.ts'
import { sharedSession } from './shared-session.ts'
import { DEFAULT_TABLE, isAwardTable, statements, VERSION } from './statements.ts'

/** Options of {@link postgresLedger}. Only `run` is needed. */
export interface PostgresLedgerOptions {
  /**
   * The name of the run that the awards belong to. Awards of another run are not seen, and a run that was begun for
   * another service or token is refused. At most 500 characters.
   */
  run: string
  /**
   * The table of the awards, with its schema or without: `'campaign_awards'`, `'app.awards'`. Letters, digits and
   * underscores, at most 58; the case counts, since the name is always quoted.
   *
   * @defaultValue `'campaign_awards'`
   */
  table?: string | undefined
  /**
   * How long an attempt holds its award without a sign of life of its process, in milliseconds. The lease is renewed while
   * the attempt works: it need not be longer than a call, only longer than your processes may stand still.
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
 * Records a run of awards in PostgreSQL 11 or newer, for `rewardWallets` and, in many processes at once,
 * for `awardOne`. Its tables are made by {@link postgresLedgerSchema}.
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
 * One attempt at a time holds an award, with a lease on the database's clock and a token. After its lease, another attempt
 * may try; a refusal may then mean that the first one had succeeded. Once another attempt has begun, the first one can only
 * record the verdict `awarded`: its other results are dropped.
 *
 * Takes the pool you have and neither opens nor ends it. Every change is one statement and one transaction, so it works
 * behind a transaction pooler such as PgBouncer. It is as durable as `synchronous_commit` of the database. Rows stay until
 * you delete them.
 *
 * @param database - a `Pool` of `pg`, or the `sql` of `postgres` with `prepare: false`
 * @throws InvalidRequestError when it is neither, the `sql` prepares statements, or an option is wrong
 */
export function postgresLedger(database: PgPool | PostgresSql, options: PostgresLedgerOptions): SharedLedger {
  const query = queryOf(database)
  const own = readOptions('postgresLedger', options, OPTIONS)
  const { run, table = DEFAULT_TABLE, leaseMs = DEFAULT_LEASE_MS } = own
  const ask: Query = async (...statement) => {
    try {
      return await query(...statement)
    } catch (error) {
      throw isSchemaProblem(error) ? unusable(run, `${MAKE_TABLES}: ${(error as Error).message}`, error) : error
    }
  }
  const sql = statements(table)
  const leases = new Leases(leaseMs, (held) => ask(sql.extend, run, JSON.stringify(held), leaseMs))
  /** The comparisons by target, so that each target is compared once and not for every job. */
  const compared = new Map<string, Promise<void>>()
  const compare = (target: ClientTarget | undefined): Promise<void> => {
    const key = JSON.stringify(target ?? null)
    let comparison = compared.get(key)
    if (comparison === undefined) {
      comparison = compareRun(ask, sql, run, target)
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
        return sharedSession({ query: ask, sql, run, leaseMs, leases })
      },
    },
  }
}

/** @throws ConfigurationError when the run was begun for another target, or by another version */
async function compareRun(
  query: Query,
  sql: ReturnType<typeof statements>,
  run: string,
  target: ClientTarget | undefined,
): Promise<void> {
  await query(sql.beginRun, run, VERSION, target === undefined ? '' : JSON.stringify(target))
  const [begun] = await query(sql.run, run)
  if (begun === undefined) throw unusable(run, 'it is gone')
  // A pool may be configured to read numbers as text.
  if (Number(begun.version) !== VERSION) {
    throw unusable(run, `it has version ${begun.version}, and this is version ${VERSION}`)
  }
  const conflict = headerConflict({ run, target: readTarget(begun.target) }, { run, target })
  if (conflict !== undefined) throw unusable(run, conflict)
}

function readTarget(text: unknown): ClientTarget | undefined {
  const target: unknown = typeof text === 'string' ? JSON.parse(text) : undefined
  return isRecord(target) ? (target as unknown as ClientTarget) : undefined
}

const MAKE_TABLES = 'its tables are not there, or others have their names; make them with postgresLedgerSchema()'

/** No such table or column, a column of another type, or no such primary key. */
const SCHEMA_PROBLEMS: ReadonlySet<unknown> = new Set(['42P01', '42703', '42804', '42P10', '42883', '23502'])

const isSchemaProblem = (error: unknown): boolean =>
  SCHEMA_PROBLEMS.has((error as { code?: unknown } | undefined)?.code)

const unusable = (run: string, why: string, cause?: unknown): ConfigurationError =>
  new ConfigurationError(`The ledger of the run ${JSON.stringify(run)} can't be used: ${why}`, { cause })
