import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { CampaignClient } from '../../client.ts'
import type { Issue } from '../../schemas/issue.ts'
import { Semaphore } from '../../shared/semaphore.ts'
import type { Confirmation, Evidence } from '../award/judge-refusal.ts'
import { type AwardRow, conflictIssues } from '../award/row.ts'
import type { AwardResult } from '../award/verdict.ts'
import type { Attempt, LedgerSession, RetryableVerdicts } from '../ledger/ledger.ts'
import type { ProgressReporter } from '../report/progress-reporter.ts'
import type { ReportBuilder } from '../report/report-builder.ts'
import { type AttemptResult, attemptAward, recordAttempt } from './attempt.ts'
import { checkRows, invalidRowsError } from './check-rows.ts'
import type { PauseGate } from './pause-gate.ts'
import { RowSource, type SourceRow } from './row-source.ts'
import { type StopReason, StopRules } from './stop-rules.ts'

export interface RunParts {
  readonly client: Pick<CampaignClient, 'rewardWallet'>
  readonly session: LedgerSession
  readonly report: ReportBuilder
  readonly progress: ProgressReporter
  readonly gate: PauseGate
  readonly concurrency: number
  readonly evidence: Evidence
  readonly retryRejected: boolean
  /** Returns the issues for which the client's `guard` would refuse the row; empty if it allows the row. */
  readonly refusals: (row: AwardRow) => readonly Issue[]
}

/** The number of workers per concurrent call: while one worker waits for the service, another can write to the ledger. */
const WORKERS_PER_CALL = 2
/** The longest wait before the run checks again whether another process has finished an award. */
const MAX_BUSY_MS = 250
/** The time limit of `confirm` after a stop. */
const MAX_CONFIRM_MS = 10_000

/** Sends the rows of one list, several at once. */
export class Run {
  readonly #parts: RunParts
  readonly #retryable: RetryableVerdicts
  readonly #evidence: Evidence
  readonly #calls: Semaphore
  readonly #rules = new StopRules()
  readonly #stopping = new AbortController()
  /** Aborted `MAX_CONFIRM_MS` after the stop. */
  readonly #confirmTimeout = new AbortController()
  #confirmTimer: NodeJS.Timeout | undefined
  #source: RowSource | undefined
  #stopReason: StopReason | undefined

  constructor(parts: RunParts) {
    const { isUsedId, confirm } = parts.evidence
    this.#parts = parts
    // Each waiting row adds a listener, and Node warns of more than ten.
    setMaxListeners(0, this.#stopping.signal, this.#confirmTimeout.signal)
    this.#calls = new Semaphore(parts.concurrency)
    this.#evidence = { isUsedId, confirm: confirm && ((row) => this.#confirm(() => confirm(row))) }
    this.#retryable = {
      rejected: parts.retryRejected,
      unconfirmed: confirm !== undefined || isUsedId !== undefined,
    }
  }

  /** The reason of the stop; `undefined` if the run has not stopped. */
  get stopReason(): StopReason | undefined {
    return this.#stopReason
  }

  /** Reads all rows, and stops the run if one of them is invalid. @returns the rows to send */
  async check(source: RowSource): Promise<RowSource> {
    this.#source = source
    const { session, report, refusals } = this.#parts
    try {
      const { rows, invalid } = await checkRows(source, session, refusals)
      for (const { index, row, issues } of invalid) report.addInvalid(index, row, issues)
      if (invalid.length > 0) this.stop('some rows are invalid', invalidRowsError(invalid, 'Nothing was sent'))
      return new RowSource(rows)
    } catch (error) {
      this.stop('the rows could not be checked', error)
      return new RowSource([])
    } finally {
      await source.close()
    }
  }

  /** Resolves when all rows are finished; after a stop, when the attempts in progress are finished. */
  async send(source: RowSource): Promise<void> {
    this.#source = source
    if (this.#stopReason !== undefined) await source.close()
    const { concurrency } = this.#parts
    await Promise.all(Array.from({ length: concurrency * WORKERS_PER_CALL }, () => this.#work(source)))
    await source.close()
    this.#parts.gate.open()
    clearTimeout(this.#confirmTimer)
  }

  /** Stops the run: it sends nothing more. Keeps the reason of the first call. */
  stop(message: string, cause: unknown): void {
    if (this.#stopReason !== undefined) return
    this.#stopReason = { message, cause }
    this.#stopping.abort()
    this.#parts.gate.open()
    this.#confirmTimer = setTimeout(() => this.#confirmTimeout.abort(), MAX_CONFIRM_MS)
    void this.#source?.close()
  }

  /** Processes one row after the other. */
  async #work(source: RowSource): Promise<void> {
    for (;;) {
      let next: SourceRow | undefined
      try {
        next = await source.next()
      } catch (error) {
        this.stop('the list of awards threw an error', error)
      }
      if (next === undefined) return
      try {
        await this.#award(next)
      } catch (error) {
        this.stop('the ledger failed', error)
      }
      this.#parts.progress.schedule()
    }
  }

  /** Resolves when the row is finished. @throws the error of the ledger */
  async #award({ index, row: checked }: SourceRow): Promise<void> {
    const { session, report, refusals } = this.#parts
    if (!checked.ok) return report.addInvalid(index, checked, checked.issues)
    const row = checked.value
    const issues = refusals(row)
    if (issues.length > 0) return report.addInvalid(index, row, issues)

    for (let isRetry = false; ; isRetry = true) {
      if (this.#mustNotSend(row)) return this.#addUnsent(index, row, isRetry)
      const claim = await session.claim(row, this.#retryable, isRetry)
      switch (claim.kind) {
        case 'duplicate':
          return report.addDuplicate(row.xp)
        case 'settled':
          return this.#addFromLedger(index, row, claim)
        case 'invalid':
          return report.addInvalid(index, row, [claim.issue])
        case 'conflict': {
          const conflict = { index, row, issues: conflictIssues(row, claim.known) }
          return this.stop(
            'a row contradicts the ledger or an earlier row',
            invalidRowsError([conflict], 'It was not sent'),
          )
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
    const { session, report, progress } = this.#parts
    const { row } = attempt
    try {
      const result = await this.#call(attempt)
      if (result === undefined) {
        await session.release(attempt)
        return false
      }
      const verdict = await recordAttempt(session, attempt, result)
      if (verdict === 'busy') {
        await this.#waitWhileBusy(MAX_BUSY_MS)
        return false
      }
      if (verdict !== undefined) {
        report.add(index, row, { verdict, failure: result.failure })
        progress.countFinished()
        return true
      }
      if (result.outcome?.kind !== 'invalid') return false
      // The client refused the row. Report the ledger's result if an earlier attempt may have made the award.
      if (attempt.isInDoubt || attempt.previousVerdict !== undefined) await this.#addUnsent(index, row, true)
      else report.addInvalid(index, row, result.outcome.error.issues)
      return true
    } catch (error) {
      const failure = { code: 'ledger_failed', message: 'the ledger failed before it recorded the outcome' }
      report.add(index, row, { verdict: 'indeterminate', failure })
      throw error
    }
  }

  /** @returns the result; `undefined` if the row was not sent. @throws the error of the ledger */
  async #call(attempt: Attempt): Promise<AttemptResult | undefined> {
    const { client, session, gate, progress } = this.#parts
    await this.#calls.acquire()
    try {
      const pauseCount = await gate.enter()
      if (this.#mustNotSend(attempt.row)) {
        gate.replaceProbe(pauseCount)
        return undefined
      }
      session.checkLock()
      const result = await attemptAward(client, attempt, this.#evidence)
      this.#applyStopRules(attempt.row, result, pauseCount)
      progress.schedule()
      return result
    } finally {
      this.#calls.release()
    }
  }

  /** Pauses or stops the run if the result requires it. */
  #applyStopRules(row: AwardRow, { outcome, verdict }: AttemptResult, pauseCount: number): void {
    const { gate, report } = this.#parts
    if (verdict === 'awarded' || verdict === 'alreadyAwarded') this.#rules.awardSucceeded()
    if (outcome === undefined || outcome.kind === 'invalid') {
      gate.replaceProbe(pauseCount)
      return
    }
    if (outcome.kind === 'campaign_refused') report.haltCampaign(row.pid, outcome.error.message)
    const { stop, pauseMs } = this.#rules.callEnded(outcome, gate.hasPausedSince(pauseCount))
    if (stop !== undefined) this.stop(stop.message, stop.cause)
    else if (pauseMs !== undefined) gate.pause(pauseMs, pauseCount)
    else if (outcome.kind === 'unreachable') gate.replaceProbe(pauseCount)
    else gate.answered(pauseCount)
  }

  #mustNotSend({ pid }: AwardRow): boolean {
    return this.#stopReason !== undefined || this.#parts.report.isHalted(pid)
  }

  /** Reports a row that the run does not send. Uses the ledger's result of the row if there is one. */
  async #addUnsent(index: number, row: AwardRow, isRetry: boolean): Promise<void> {
    const { session, report } = this.#parts
    const known = await session.lookUp(row, isRetry)
    if (known === 'duplicate') return report.addDuplicate(row.xp)
    if (known !== undefined && known.verdict !== 'indeterminate') return this.#addFromLedger(index, row, known)
    report.addHalted(row.pid)
    if (known !== undefined) report.add(index, row, known)
  }

  #addFromLedger(index: number, row: AwardRow, result: AwardResult): void {
    if (result.verdict === 'awarded' || result.verdict === 'alreadyAwarded') this.#rules.awardSucceeded()
    this.#parts.report.addFromLedger(index, row, result)
  }

  async #waitWhileBusy(retryMs: number): Promise<void> {
    await wait(Math.min(retryMs, MAX_BUSY_MS), undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }

  /** Calls the partner's `confirm`, with a time limit after a stop. */
  async #confirm(confirm: () => Confirmation | Promise<Confirmation>): Promise<Confirmation> {
    const { signal } = this.#confirmTimeout
    let onTimeout: () => void = () => undefined
    try {
      return await new Promise<Confirmation>((resolve, reject) => {
        onTimeout = () => reject(new Error('confirm gave no answer in time'))
        if (signal.aborted) onTimeout()
        signal.addEventListener('abort', onTimeout)
        Promise.resolve(confirm()).then(resolve, reject)
      })
    } finally {
      signal.removeEventListener('abort', onTimeout)
    }
  }
}
