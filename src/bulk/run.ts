import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { CampaignClient } from '../client.ts'
import { ApiError, type CampaignError } from '../errors/client-errors.ts'
import type { ClientInternals } from '../shared/client-internals.ts'
import { isSameAward } from '../shared/same-award.ts'
import { DEFAULT_CONCURRENCY } from './arguments.ts'
import type { Attempt, LedgerSession, RetryableVerdicts } from './ledger/ledger.ts'
import { Pacer, statusOf } from './pacing.ts'
import { type AwardProgress, ProgressReporter, type RunReport } from './report.ts'
import type { RewardWalletsOptions } from './reward-wallets.ts'
import {
  type AwardRow,
  type CheckedRow,
  checkRow,
  conflictIssues,
  invalidRowsError,
  type ListItem,
  lengthOf,
  type RowIssues,
  type Rows,
  readList,
} from './rows.ts'
import {
  type AttemptEnd,
  type Attempted,
  type AwardResult,
  attemptAward,
  type Confirmation,
  type Evidence,
  recordAttempt,
  retryableVerdicts,
} from './verdict.ts'

/** The number of workers per concurrent call: while one worker waits for the service, another can write to the ledger. */
const WORKERS_PER_CALL = 2
/** The longest wait before the run checks again whether another process has finished an award. */
const MAX_BUSY_MS = 250
/** The time limit of `confirm` after a stop. */
const MAX_CONFIRM_MS = 10_000
/** The run stops after this many equal refusals before any success: the list, the campaign or the token must be wrong. */
const MAX_REFUSALS = 20
/** The run stops after this many consecutive responses that leave the outcome of the award unknown. */
const MAX_UNKNOWN = 100

export const CONTINUE = 'To continue, run it again with the same ledger'
const CORRECT = 'Correct the rows, then run it again'

/** Why a run stopped before its last row. */
export interface StopReason {
  readonly message: string
  readonly cause: unknown
  /** What to do, as a sentence without its full stop. */
  readonly advice: string
}

export interface RunParts {
  readonly client: Pick<CampaignClient, 'rewardWallet'>
  readonly internals: ClientInternals | undefined
  readonly session: LedgerSession
  readonly rows: Rows<AwardRow>
  readonly report: RunReport
  readonly options: RewardWalletsOptions
}

type CheckedRows = Iterator<ListItem<CheckedRow>, unknown> | AsyncIterator<ListItem<CheckedRow>, unknown>

/** Sends the rows of one list, several at once. */
export class Run {
  readonly #client: Pick<CampaignClient, 'rewardWallet'>
  readonly #session: LedgerSession
  readonly #report: RunReport
  readonly #rows: AsyncIterator<ListItem<CheckedRow>, boolean>
  readonly #workers: number
  readonly #isStrict: boolean
  readonly #retryable: RetryableVerdicts
  readonly #evidence: Evidence
  readonly #pacer: Pacer
  readonly #progress: ProgressReporter<Omit<AwardProgress, 'rate' | 'timeLeftMs'>>
  readonly #stopping = new AbortController()
  /** Aborted `MAX_CONFIRM_MS` after the stop. */
  readonly #confirmTimeout = new AbortController()
  #confirmTimer: NodeJS.Timeout | undefined
  #stopReason: StopReason | undefined
  #hasSucceeded = false
  readonly #refusals = new Map<string, number>()
  #consecutiveUnknown = 0

  constructor({ client, internals, session, rows, report, options }: RunParts) {
    const { concurrency = DEFAULT_CONCURRENCY, strict, retryRejected, onProgress, isUsedId, confirm } = options
    this.#client = client
    this.#session = session
    this.#report = report
    this.#rows = readList(rows, (row) => checkRow(row, internals), this.#stopping.signal)
    this.#workers = concurrency * WORKERS_PER_CALL
    this.#isStrict = strict ?? false
    this.#retryable = retryableVerdicts(options, retryRejected)
    this.#evidence = { isUsedId, confirm: confirm && ((row) => this.#confirm(() => confirm(row))) }
    this.#pacer = new Pacer(concurrency, (message, cause) => this.stop(message, cause))
    const total = lengthOf(rows)
    this.#progress = new ProgressReporter(onProgress, () => ({
      rows: report.rows,
      total: (report.isReadToEnd ? report.rows : total) ?? null,
      counts: report.counts,
      xp: report.xp,
      waitingMs: this.#pacer.pauseLeftMs,
    }))
    // Each waiting row adds a listener, and Node warns of more than ten.
    setMaxListeners(0, this.#stopping.signal, this.#confirmTimeout.signal)
  }

  /** The reason of the stop; `undefined` if the run has not stopped. */
  get stopReason(): StopReason | undefined {
    return this.#stopReason
  }

  /**
   * Sends the rows, then closes the ledger. After a stop, it waits for the attempts in progress only. Never rejects.
   */
  async send(): Promise<void> {
    const rows: CheckedRows = this.#isStrict ? await this.#checkAll() : this.#rows
    await Promise.all(Array.from({ length: this.#workers }, () => this.#work(rows)))
    await this.#session.close().catch((error: unknown) => this.stop('the ledger failed', error))
    clearTimeout(this.#confirmTimer)
    this.#progress.finish()
  }

  /** Stops the run: it sends nothing more. Keeps the reason of the first call. */
  stop(message: string, cause: unknown, advice: string = CONTINUE): void {
    if (this.#stopReason !== undefined) return
    this.#stopReason = { message, cause, advice }
    this.#stopping.abort()
    this.#pacer.stop()
    this.#confirmTimer = setTimeout(() => this.#confirmTimeout.abort(), MAX_CONFIRM_MS)
  }

  /**
   * Reads all rows, and compares them with one another and with the ledger. Stops the run if one of them is invalid.
   *
   * @returns the rows to send
   */
  async #checkAll(): Promise<CheckedRows> {
    const rows: ListItem<CheckedRow>[] = []
    const invalid: RowIssues[] = []
    const byId = new Map<string, AwardRow>()
    try {
      for (let next = await this.#next(this.#rows); next !== undefined; next = await this.#next(this.#rows)) {
        rows.push(next)
        const { index, item } = next
        if (!item.ok) {
          invalid.push({ index, issues: item.issues })
          this.#report.addInvalid(index, item.fields, item.issues)
          continue
        }
        const row = item.value
        const earlier = byId.get(row.id)
        if (earlier === undefined) byId.set(row.id, row)
        const known = earlier ?? (await this.#session.findConflict(row))
        if (known === undefined || isSameAward(row, known)) continue
        const issues = conflictIssues(row, known)
        invalid.push({ index, issues })
        this.#report.addInvalid(index, row, issues)
      }
      if (invalid.length > 0) {
        this.stop('some rows are invalid', invalidRowsError(invalid, 'nothing was sent'), CORRECT)
      }
    } catch (error) {
      this.stop('the rows could not be checked', error)
      // Lets the list clean up.
      await this.#rows.next().catch(() => undefined)
    }
    return this.#stopReason === undefined ? rows.values() : [].values()
  }

  /** Returns the next row; `undefined` at the end and after a stop. @throws the error of the list */
  async #next(rows: CheckedRows): Promise<ListItem<CheckedRow> | undefined> {
    const next = await rows.next()
    if (next.done) {
      if (next.value === true) this.#report.isReadToEnd = true
      return undefined
    }
    this.#report.rows = Math.max(this.#report.rows, next.value.index + 1)
    return next.value
  }

  /** Processes one row after the other. */
  async #work(rows: CheckedRows): Promise<void> {
    for (;;) {
      let next: ListItem<CheckedRow> | undefined
      try {
        next = await this.#next(rows)
      } catch (error) {
        this.stop('the list of awards threw an error', error)
      }
      if (next === undefined) return
      try {
        await this.#award(next)
      } catch (error) {
        this.stop('the ledger failed', error)
      }
      this.#progress.schedule()
    }
  }

  /** Resolves when the row is finished. @throws the error of the ledger */
  async #award({ index, item: checked }: ListItem<CheckedRow>): Promise<void> {
    const report = this.#report
    if (!checked.ok) return report.addInvalid(index, checked.fields, checked.issues)
    const row = checked.value
    for (let isRetry = false; ; isRetry = true) {
      if (this.#mustNotSend(row)) return this.#addUnsent(index, row, isRetry)
      const claim = await this.#session.claim(row, this.#retryable, isRetry)
      switch (claim.state) {
        case 'duplicate':
          return report.addDuplicate(row.xp)
        case 'done':
          return this.#addFromLedger(index, row, claim)
        case 'conflict': {
          const conflict = { index, issues: conflictIssues(row, claim.known) }
          const cause = invalidRowsError([conflict], 'it was not sent')
          return this.stop('a row contradicts the ledger or an earlier row', cause, CORRECT)
        }
        case 'busy':
          await this.#waitWhileBusy(claim.retryMs)
          break
        case 'claimed':
          if (await this.#attempt(index, claim.attempt)) return
      }
    }
  }

  /** @returns whether the row is finished. @throws the error of the ledger */
  async #attempt(index: number, attempt: Attempt): Promise<boolean> {
    const { row } = attempt
    const end = await this.#makeAttempt(attempt).catch((error: unknown) => {
      const failure = { code: 'ledger_failed', message: 'the ledger failed before it recorded the outcome' }
      this.#report.add(index, row, { verdict: 'indeterminate', failure })
      throw error
    })
    if (end === undefined) return false
    if (end.kind === 'invalid') {
      // Report the ledger's result if an earlier attempt may have made the award.
      if (attempt.isInDoubt || attempt.previousVerdict !== undefined) await this.#addUnsent(index, row, true)
      else this.#report.addInvalid(index, row, end.error.issues)
      return true
    }
    if (end.kind === 'retry' && end.reason !== 'indeterminate') {
      if (end.reason === 'busy') await this.#waitWhileBusy(MAX_BUSY_MS)
      return false
    }
    const verdict = end.kind === 'final' ? end.verdict : 'indeterminate'
    this.#report.add(index, row, { verdict, failure: end.failure })
    this.#progress.countFinished()
    return true
  }

  /** Sends the award and records the outcome. @returns `undefined` if it was not sent. @throws the error of the ledger */
  async #makeAttempt(attempt: Attempt): Promise<AttemptEnd | undefined> {
    const attempted = await this.#pacer.call(async () => {
      if (this.#mustNotSend(attempt.row)) return undefined
      const made = await attemptAward(this.#client, attempt, this.#evidence)
      this.#applyRules(attempt, made)
      return made
    })
    this.#progress.schedule()
    if (attempted !== undefined) return recordAttempt(this.#session, attempt, attempted)
    await this.#session.release(attempt)
    return undefined
  }

  /** Halts a campaign or stops the run if the outcome requires it. */
  #applyRules({ row, isInDoubt }: Attempt, { outcome, verdict }: Attempted): void {
    if (verdict === 'awarded' || verdict === 'alreadyAwarded') this.#hasSucceeded = true
    switch (outcome?.kind) {
      case 'failed':
        if (++this.#consecutiveUnknown === MAX_UNKNOWN) {
          this.stop(`${MAX_UNKNOWN} consecutive awards ended with an unknown outcome`, outcome.error)
        }
        return
      case 'campaign_refused':
        this.#report.haltCampaign(row.pid, outcome.error.message)
        break
      case 'refused':
        // The refusal of a row in doubt may only mean that an earlier attempt succeeded.
        if (!isInDoubt && !outcome.maybeApplied) this.#countRefusal(outcome.error)
        break
      case 'done':
        break
      default:
        return
    }
    this.#consecutiveUnknown = 0
  }

  #countRefusal(cause: CampaignError): void {
    if (this.#hasSucceeded) return
    const kind = cause instanceof ApiError ? [cause.code, statusOf(cause), cause.reason].join(' ') : cause.code
    const count = (this.#refusals.get(kind) ?? 0) + 1
    this.#refusals.set(kind, count)
    if (count < MAX_REFUSALS) return
    this.stop(`${MAX_REFUSALS} awards were refused in the same way, and none was accepted`, cause)
  }

  #mustNotSend({ pid }: AwardRow): boolean {
    return this.#stopReason !== undefined || this.#report.isHalted(pid)
  }

  /** Reports a row that the run does not send. Uses the ledger's result of the row if there is one. */
  async #addUnsent(index: number, row: AwardRow, isRetry: boolean): Promise<void> {
    const known = await this.#session.lookUp(row, isRetry)
    if (known === 'duplicate') return this.#report.addDuplicate(row.xp)
    if (known === undefined) return this.#report.addHalted(row.pid)
    if (known.verdict !== 'indeterminate') return this.#addFromLedger(index, row, known)
    this.#report.add(index, row, known)
  }

  #addFromLedger(index: number, row: AwardRow, result: AwardResult): void {
    if (result.verdict === 'awarded' || result.verdict === 'alreadyAwarded') this.#hasSucceeded = true
    this.#report.addFromLedger(index, row, result)
  }

  async #waitWhileBusy(retryMs: number): Promise<void> {
    await wait(Math.min(retryMs, MAX_BUSY_MS), undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }

  /** Calls the caller's `confirm`, with a time limit after a stop. */
  async #confirm(confirm: () => Confirmation | Promise<Confirmation>): Promise<Confirmation> {
    const { signal } = this.#confirmTimeout
    let onTimeout: () => void = () => undefined
    try {
      return await new Promise<Confirmation>((resolve, reject) => {
        onTimeout = () => reject(new Error('confirm did not return in time'))
        if (signal.aborted) onTimeout()
        signal.addEventListener('abort', onTimeout)
        Promise.resolve(confirm()).then(resolve, reject)
      })
    } finally {
      signal.removeEventListener('abort', onTimeout)
    }
  }
}
