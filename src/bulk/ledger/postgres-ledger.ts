import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ConfigurationError } from '../../errors/client-errors.ts'
import { issuesAt, milliseconds, type OptionRules, optional, readOptions } from '../../errors/option-checks.ts'
import { type PostgresDatabase, type Query, sqlStateOf } from '../../postgres/database.ts'
import { mustBeDatabase, openDatabase } from '../../postgres/open-database.ts'
import type { PgPool } from '../../postgres/pg.ts'
import type { PostgresSql } from '../../postgres/postgres-js.ts'
import type { AwardFailure, FinalVerdict, Verdict } from '../../schemas/award-report.ts'
import { isUnknown } from '../../shared/award.ts'
import type { ClientTarget } from '../../shared/client-internals.ts'
import { toJsonLine } from '../../shared/text.ts'
import { startTimer } from '../../shared/timers.ts'
import type { AwardRow } from '../rows.ts'
import {
  type AwardResult,
  type AwardState,
  claimAward,
  completeAward,
  type RetryableVerdicts,
  resultOf,
} from './award-state.ts'
import {
  type Attempt,
  type AwardClaim,
  LEDGER,
  type LedgerSession,
  mustBeRebind,
  mustBeRunName,
  type Rebind,
  requireTarget,
  type SharedLedger,
} from './ledger.ts'
import {
  DEFAULT_TABLE,
  type LedgerStatements,
  ledgerStatements,
  missingTables,
  mustBeAwardTable,
  VERSION,
} from './postgres-statements.ts'

/** Options of {@link postgresLedger}. Only `run` is required. */
export interface PostgresLedgerOptions {
  /**
   * The name of the run, at most 500 characters. Runs with different names do not see each other's awards. While a run has
   * awards, all its clients must have the same base URL, and tokens with the same `iss` and `sub`. A call with another client
   * fails with `ConfigurationError`.
   */
  run: string
  /**
   * Moves a run to the client's base URL and token. You state that they belong to the same service and organization as the
   * recorded ones. End the processes with the old token first: their next claims fail with `ConfigurationError`. It has no
   * effect once the run has moved.
   */
  rebind?: Rebind | undefined
  /**
   * The table of the awards, with or without a schema: `'campaign_awards'`, `'app.awards'`. It may have letters, digits and
   * underscores, at most 58 characters. It is case-sensitive, because it is quoted.
   *
   * @defaultValue `'campaign_awards'`
   */
  table?: string | undefined
  /**
   * The lease of a claim, in milliseconds. It is extended until the attempt ends, so it may be shorter than a call. It must
   * be longer than the longest pause of your processes, for instance for garbage collection.
   *
   * @defaultValue 60 000
   */
  leaseMs?: number | undefined
}

const OPTIONS: OptionRules<PostgresLedgerOptions> = {
  run: mustBeRunName,
  rebind: optional(mustBeRebind),
  table: optional(mustBeAwardTable),
  leaseMs: optional(milliseconds),
}
const DEFAULT_LEASE_MS = 60_000
/**
 * After this time without a response, a statement fails: its connection is lost, or another transaction holds the row.
 */
const STATEMENT_TIMEOUT_MS = 30_000

/**
 * Records a run of awards in PostgreSQL 11 or newer, for `rewardWallets` and `awardOne`. Several processes can share it.
 * {@link postgresLedgerSchema} creates its tables.
 *
 * Each attempt claims the award before it sends a request. One attempt at a time holds the claim, until its lease expires by the
 * database's clock. Then a second attempt may claim the award:
 *
 * - The ledger then accepts only the verdict `awarded` from the first attempt.
 * - If the service refuses the second attempt, the award is `unconfirmed`, because the first attempt may have made it. `confirm`
 *   or `isUsedId` can decide.
 *
 * Each statement has a time limit of 30 s: after a failover, a connection may stay open without a response. Then the run stops,
 * or `awardOne` throws. A connection of `pg` is closed and replaced. `postgres` cannot close a single connection.
 *
 * It uses your pool and does not close it. Claims and verdicts are single statements, each in its own transaction, so it works
 * behind a transaction pooler such as PgBouncer. Durability depends on `synchronous_commit` of the database. Rows stay until
 * you delete them.
 *
 * @param database - a `Pool` of `pg`, or the `sql` of `postgres` with `prepare: false`
 * @param options - the name of the run, the table and the lease
 * @throws ConfigurationError when `database` is neither of the two, the `sql` prepares statements, or an option is invalid
 *
 * @example
 * ```ts
 * import { awardOne } from 'campaign-client/bulk'
 * import { postgresLedger, postgresLedgerSchema } from 'campaign-client/bulk/postgres'
 *
 * await pool.query(postgresLedgerSchema())
 * const ledger = postgresLedger(pool, { run: 'launch-party' })
 * const verdict = await awardOne(client, award, { ledger })
 * ```
 */
export function postgresLedger(database: PgPool | PostgresSql, options: PostgresLedgerOptions): SharedLedger {
  const own = readOptions('postgresLedger', options, OPTIONS, issuesAt('database', mustBeDatabase(database)))
  const opened = openDatabase(database, { name: 'postgresLedger', statementTimeoutMs: STATEMENT_TIMEOUT_MS })
  const open = async (target: ClientTarget | undefined): Promise<LedgerSession> => {
    const session = new PostgresSession(opened, own, target)
    await session.check()
    // `rebind` takes effect even if the run has no new awards.
    if (own.rebind !== undefined) await session.bind()
    return session
  }
  return {
    kind: 'shared',
    run: own.run,
    [LEDGER]: { open, openForOne: open },
  }
}

/** SQLSTATE codes of a missing table, column or primary key, and of a column with the wrong type or constraint. */
const SCHEMA_PROBLEMS: ReadonlySet<unknown> = new Set(['42P01', '42703', '42804', '42P10', '42883', '23502'])

/** Deadlock and serialization failure: PostgreSQL rolled the statement back. */
const ROLLED_BACK: ReadonlySet<unknown> = new Set(['40P01', '40001'])
const MAX_RETRIES = 9
const MAX_WAIT_MS = 500

/** A row of the table of awards. */
interface FoundAward {
  readonly award: AwardRow
  /** Whether the award has the address, campaign and XP of the row in the query. */
  readonly isSame: boolean
  readonly state: AwardState
  /** The time until the lease of the claim ends; 0 without a claim. */
  readonly leaseLeftMs: number
  /** The recorded target of the run, as JSON. */
  readonly target: string | null | undefined
}

interface PostgresAttempt extends Attempt {
  /** Proves that the attempt holds the claim. */
  readonly token: string
  readonly stopExtending: () => void
}

const MIN_RETRY_MS = 50

/** The session of a run or a job. It does not cache the target of the run: each claim checks it in the database. */
class PostgresSession implements LedgerSession {
  readonly #database: PostgresDatabase
  readonly #run: string
  readonly #rebind: Rebind | undefined
  readonly #table: string
  readonly #leaseMs: number
  readonly #target: ClientTarget | undefined
  readonly #sql: LedgerStatements

  constructor(
    database: PostgresDatabase,
    { run, rebind, table = DEFAULT_TABLE, leaseMs = DEFAULT_LEASE_MS }: PostgresLedgerOptions,
    target: ClientTarget | undefined,
  ) {
    this.#database = database
    this.#run = run
    this.#rebind = rebind
    this.#table = table
    this.#leaseMs = leaseMs
    this.#target = target
    this.#sql = ledgerStatements(table)
  }

  /** @throws ConfigurationError when the run has another version, or awards of another target */
  async check(query: Query = this.#query): Promise<void> {
    const [found] = await query(this.#sql.selectRun, this.#run)
    if (found === undefined) return
    const [version, recorded, hasAwards] = found
    if (Number(version) !== VERSION) {
      throw this.#unusable(`it has version ${version}, and this package uses version ${VERSION}: use a new run name`)
    }
    if (hasAwards === 'true') this.#requireTarget(recorded)
  }

  /** @throws ConfigurationError when the run has awards of another target */
  #requireTarget(recorded: string | null | undefined): void {
    if (typeof recorded !== 'string') return
    requireTarget(this.#name, JSON.parse(recorded) as ClientTarget, this.#target, this.#rebind)
  }

  async claim(row: AwardRow, retryable: RetryableVerdicts): Promise<AwardClaim> {
    const claimed = await this.#claim(row, retryable)
    if (claimed !== undefined) return claimed
    const found = await this.#select(row)
    if (found !== undefined) this.#requireTarget(found.target)
    const refusal = found && refusalOf(found, retryable)
    if (refusal !== undefined) return refusal
    // The claim failed, but no record forbids it: the run is new, has no target, or the claim has just been released.
    await this.bind()
    return (await this.#claim(row, retryable)) ?? { state: 'busy', retryMs: MIN_RETRY_MS }
  }

  async #claim(row: AwardRow, { rejected, unconfirmed }: RetryableVerdicts): Promise<AwardClaim | undefined> {
    const token = randomUUID()
    const target = this.#target === undefined ? '' : JSON.stringify(this.#target)
    const values = [...this.#values(row), token, this.#leaseMs, rejected, unconfirmed, target] as const
    const [claimed] = await this.#query(this.#sql.claim, ...values)
    if (claimed === undefined) return undefined
    const stopExtending = extendRegularly(this.#leaseMs / 3, () =>
      this.#query(this.#sql.extend, this.#run, row.id, token, this.#leaseMs),
    )
    const [isInDoubt, verdict] = claimed
    const previousVerdict = (verdict as FinalVerdict | null) ?? undefined
    const attempt: PostgresAttempt = { row, token, stopExtending, isInDoubt: isInDoubt === 'true', previousVerdict }
    return { state: 'claimed', attempt }
  }

  async complete(attempt: Attempt, verdict: Verdict, failure?: AwardFailure): Promise<Verdict | 'busy'> {
    const { row, token, stopExtending, isInDoubt } = attempt as PostgresAttempt
    const error = failure === undefined ? '' : JSON.stringify(failure)
    try {
      if (verdict === 'awarded') {
        await this.#query(this.#sql.award, ...this.#values(row))
        return verdict
      }
      const [completed] = await this.#query(this.#sql.complete, this.#run, row.id, token, verdict, error, isInDoubt)
      if (completed !== undefined) return completed[0] as Verdict
    } finally {
      stopExtending()
    }
    // Another attempt has or had the claim, or the row is gone.
    if (isUnknown(verdict)) await this.#putInDoubt(row, error)
    const found = await this.#select(row)
    if (found === undefined) await this.#putInDoubt(row, error)
    if (!found?.isSame) return 'busy'
    return completeAward(found.state, { isInDoubt, holdsClaim: false }, verdict, failure).result
  }

  async release(attempt: Attempt, failure?: AwardFailure): Promise<void> {
    const { row, token, stopExtending, isInDoubt, previousVerdict } = attempt as PostgresAttempt
    stopExtending()
    const error = failure === undefined ? '' : JSON.stringify(failure)
    const wasRejected = previousVerdict === 'rejected'
    const kept = await this.#query(this.#sql.release, this.#run, row.id, token, error, wasRejected)
    if (isInDoubt && kept.length === 0) await this.#putInDoubt(row, '')
  }

  /** @param error - the failure as JSON; empty for none */
  async #putInDoubt(row: AwardRow, error: string): Promise<void> {
    await this.#query(this.#sql.doubt, ...this.#values(row), error)
  }

  async lookUp(row: AwardRow): Promise<AwardResult | undefined> {
    const found = await this.#select(row)
    return found?.isSame ? resultOf(found.state) : undefined
  }

  async findConflict(row: AwardRow): Promise<AwardRow | undefined> {
    const found = await this.#select(row)
    return found?.isSame === false ? found.award : undefined
  }

  /** The caller owns the pool. */
  async close(): Promise<void> {}

  async #select(row: AwardRow): Promise<FoundAward | undefined> {
    const [found] = await this.#query(this.#sql.select, ...this.#values(row))
    if (found === undefined) return undefined
    const [id, address, pid, xp, verdict, error, inDoubt, isClaimed, isSame, leaseLeftMs, target] = found
    return {
      award: { id: id as string, address: address as string, pid: pid as string, xp: Number(xp) },
      isSame: isSame === 'true',
      state: {
        verdict: (verdict as FinalVerdict | null) ?? undefined,
        failure: typeof error === 'string' ? (JSON.parse(error) as AwardFailure) : undefined,
        isInDoubt: inDoubt === 'true',
        claim: isClaimed !== 'true' ? 'none' : Number(leaseLeftMs) > 0 ? 'held' : 'expired',
      },
      leaseLeftMs: Number(leaseLeftMs),
      target,
    }
  }

  /** The first parameters of the statements about a row. */
  #values({ id, address, pid, xp }: AwardRow): [string, string, string, string, number] {
    return [this.#run, id, address, pid, xp]
  }

  /** Records the target. Concurrent claims wait until it is committed. @throws the errors of {@link check} */
  async bind(): Promise<void> {
    await this.#retried(() =>
      this.#database.transaction(async (transaction) => {
        const query: Query = (...statement) => transaction.query(...statement)
        await query(this.#sql.insertRun, this.#run)
        await query(this.#sql.lockRun, this.#run)
        // After the lock, the check sees every claim that was committed before.
        await this.check(query)
        if (this.#target !== undefined) await query(this.#sql.bindRun, this.#run, JSON.stringify(this.#target))
      }),
    )
  }

  #query: Query = (...statement) => this.#retried(() => this.#database.query(...statement))

  async #retried<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let retry = 0; ; retry++) {
      try {
        return await work()
      } catch (error) {
        if (SCHEMA_PROBLEMS.has(sqlStateOf(error))) {
          throw this.#unusable(`${missingTables(this.#table)}: ${(error as Error).message}`, error)
        }
        if (!ROLLED_BACK.has(sqlStateOf(error)) || retry === MAX_RETRIES) throw error
        await wait(Math.random() * Math.min(MAX_WAIT_MS, 20 * 2 ** retry))
      }
    }
  }

  get #name(): string {
    return `the ledger of the run ${toJsonLine(this.#run)}`
  }

  #unusable(reason: string, cause?: unknown): ConfigurationError {
    return new ConfigurationError(`${this.#name} can't be used: ${reason}`, { cause })
  }
}

/** Extends a lease every `intervalMs`, one extension at a time. @returns a function that stops it */
function extendRegularly(intervalMs: number, extend: () => Promise<unknown>): () => void {
  let isStopped = false
  let cancel = startTimer(intervalMs, extendOnce)
  async function extendOnce(): Promise<void> {
    const sentAt = performance.now()
    // After a failure, the next extension may succeed before the lease expires.
    await extend().catch(() => undefined)
    if (!isStopped) cancel = startTimer(sentAt + intervalMs - performance.now(), extendOnce)
  }
  return () => {
    isStopped = true
    cancel()
  }
}

/** Returns why the award can't be claimed; `undefined` if it can. */
function refusalOf({ award, isSame, state, leaseLeftMs }: FoundAward, retryable: RetryableVerdicts) {
  if (!isSame) return { state: 'conflict', known: award } as const
  const claim = claimAward(state, retryable)
  if (claim.state === 'busy') return { ...claim, retryMs: Math.max(MIN_RETRY_MS, leaseLeftMs) }
  return claim.state === 'done' ? claim : undefined
}
