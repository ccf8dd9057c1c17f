import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { CampaignClient } from '../../client.ts'
import type { Issue } from '../../schemas/issue.ts'
import { Semaphore } from '../../shared/semaphore.ts'
import type { Confirmation, Evidence } from '../award/evidence.ts'
import { type AwardRow, contradictions } from '../award/row.ts'
import type { Judgement } from '../award/verdict.ts'
import type { Attempt, LedgerSession, Reopening } from '../ledger/ledger.ts'
import type { ProgressReporter } from '../report/progress.ts'
import type { Recorder } from '../report/recorder.ts'
import { type AttemptResult, attemptAward, recordAttempt } from './attempt.ts'
import type { Pause } from './pause.ts'
import { type Placed, RowSource } from './rows.ts'
import { type StopReason, StopRules } from './stop-rules.ts'
import { readStrictly, wrongRows } from './strict.ts'

/** What a run works with. */
export interface RunParts {
  readonly client: Pick<CampaignClient, 'rewardWallet'>
  readonly session: LedgerSession
  readonly recorder: Recorder
  readonly progress: ProgressReporter
  readonly pause: Pause
  readonly concurrency: number
  readonly evidence: Evidence
  readonly retryRejected: boolean
  /** Returns the issues for which the client would refuse the row before sending it. */
  readonly refusals: (row: AwardRow) => readonly Issue[]
}

/** More workers than calls: while some rows are with the service, others are written to the ledger. */
const WORKERS_PER_CALL = 2
/** The longest wait before the next look at a row that another process is awarding. */
const MAX_BUSY_MS = 250
/** How long `confirm` may take once the run was stopped. */
const MAX_CONFIRM_MS = 10_000

/** One run over a list: each row from its intent to its verdict, many at once. */
export class Run {
  readonly #parts: RunParts
  readonly #reopening: Reopening
  readonly #evidence: Evidence
  readonly #calls: Semaphore
  readonly #rules = new StopRules()
  readonly #stopping = new AbortController()
  /** Aborted some time after the run was stopped. */
  readonly #confirmTimeout = new AbortController()
  #confirmTimer: NodeJS.Timeout | undefined
  #source: RowSource | undefined
  #stopped: StopReason | undefined

  constructor(parts: RunParts) {
    const { isUsedId, confirm } = parts.evidence
    this.#parts = parts
    // Each waiting row adds a listener.
    setMaxListeners(0, this.#stopping.signal, this.#confirmTimeout.signal)
    this.#calls = new Semaphore(parts.concurrency)
    this.#evidence = { isUsedId, confirm: confirm && ((row) => this.#confirm(() => confirm(row))) }
    this.#reopening = {
      rejected: parts.retryRejected,
      unconfirmed: confirm !== undefined || isUsedId !== undefined,
    }
  }

  /** Why the run ended before its rows did, if it did. */
  get stopped(): StopReason | undefined {
    return this.#stopped
  }

  /** Reads all rows, and stops the run when one of them is wrong. @returns the same rows, to be sent */
  async check(source: RowSource): Promise<RowSource> {
    this.#source = source
    const { session, recorder, refusals } = this.#parts
    try {
      const { rows, wrong } = await readStrictly(source, session, refusals)
      for (const { index, row, issues } of wrong) recorder.wrong(index, row, issues)
      if (wrong.length > 0) this.stop('some rows are wrong', wrongRows(wrong, 'Nothing was sent'))
      return new RowSource(rows)
    } catch (error) {
      this.stop('the rows could not be checked', error)
      return new RowSource([])
    }
  }

  /** Resolves when each row is finished. After a stop, only the rows that were begun before it are finished. */
  async send(source: RowSource): Promise<void> {
    this.#source = source
    if (this.#stopped !== undefined) await source.close()
    const { concurrency } = this.#parts
    await Promise.all(Array.from({ length: concurrency * WORKERS_PER_CALL }, () => this.#work(source)))
    await source.close()
    this.#parts.pause.end()
    clearTimeout(this.#confirmTimer)
  }

  /** Sends nothing more. Only the first reason counts. */
  stop(why: string, cause: unknown): void {
    if (this.#stopped !== undefined) return
    this.#stopped = { why, cause }
    this.#stopping.abort()
    this.#parts.pause.end()
    this.#confirmTimer = setTimeout(() => this.#confirmTimeout.abort(), MAX_CONFIRM_MS)
    void this.#source?.close()
  }

  /** Takes one row after the other. */
  async #work(source: RowSource): Promise<void> {
    for (;;) {
      let placed: Placed | undefined
      try {
        placed = await source.take()
      } catch (error) {
        this.stop('the list of awards threw an error', error)
      }
      if (placed === undefined) return
      try {
        await this.#award(placed)
      } catch (error) {
        this.stop('the ledger failed', error)
      }
      this.#parts.progress.changed()
    }
  }

  /** Resolves when the row is finished. @throws what the ledger throws */
  async #award({ index, row: read }: Placed): Promise<void> {
    const { session, recorder, refusals } = this.#parts
    if (!read.ok) return recorder.wrong(index, read, read.issues)
    const row = read.value
    const issues = refusals(row)
    if (issues.length > 0) return recorder.wrong(index, row, issues)

    for (let isAgain = false; ; isAgain = true) {
      if (this.#mayNotSend(row)) return this.#leaveOut(index, row, isAgain)
      const beginning = await session.begin(row, this.#reopening, isAgain)
      switch (beginning.kind) {
        case 'duplicate':
          return recorder.duplicate(row.xp)
        case 'settled':
          return this.#countRecorded(index, row, beginning)
        case 'unfit':
          return recorder.wrong(index, row, [beginning.issue])
        case 'conflict': {
          const wrong = { index, row, issues: contradictions(row, beginning.known) }
          return this.stop('a row contradicts the ledger or an earlier row', wrongRows([wrong], 'It was not sent'))
        }
        case 'busy':
          await this.#waitWhileBusy(beginning.retryMs)
          break
        case 'begun':
          if (await this.#attempt(index, beginning.attempt)) return
      }
    }
  }

  /** @returns whether the row is finished. @throws what the ledger throws */
  async #attempt(index: number, attempt: Attempt): Promise<boolean> {
    const { client, session, pause, progress } = this.#parts
    const { row } = attempt
    await this.#calls.acquire()
    await pause.admitted()
    const { round } = pause
    let result: AttemptResult
    try {
      if (this.#mayNotSend(row)) {
        pause.passOn(round)
        await this.#written(index, row, session.release(attempt))
        return false
      }
      session.check()
      result = await attemptAward(client, attempt, this.#evidence)
    } finally {
      this.#calls.release()
    }
    this.#heed(row, result, round)
    progress.changed()

    const verdict = await this.#written(index, row, recordAttempt(session, attempt, result))
    if (verdict === undefined) return this.#isRefusedByClient(index, attempt, result)
    if (verdict === 'open') {
      await this.#waitWhileBusy(MAX_BUSY_MS)
      return false
    }
    this.#parts.recorder.settled(index, row, { verdict, failure: result.failure })
    progress.ended()
    return true
  }

  /** Counts the row if the client refused it before sending anything. @returns whether the row is finished */
  async #isRefusedByClient(
    index: number,
    { row, isDoubtful, reopened }: Attempt,
    { outcome }: AttemptResult,
  ): Promise<boolean> {
    if (outcome?.kind !== 'invalid') return false
    if (isDoubtful || reopened !== undefined) await this.#leaveOut(index, row, true)
    else this.#parts.recorder.wrong(index, row, outcome.error.issues)
    return true
  }

  /** Pauses or stops the run where the outcome of a call asks for it. */
  #heed(row: AwardRow, { outcome, verdict }: AttemptResult, round: number): void {
    const { pause, recorder } = this.#parts
    if (verdict === 'awarded' || verdict === 'alreadyAwarded') this.#rules.succeeded()
    if (outcome === undefined || outcome.kind === 'invalid') {
      pause.passOn(round)
      return
    }
    if (outcome.kind === 'campaign_refused') recorder.halt(row.pid, outcome.error.message)
    const { stop, pauseMs } = this.#rules.ended(outcome, verdict, round !== pause.round)
    if (stop !== undefined) this.stop(stop.why, stop.cause)
    else if (pauseMs !== undefined) pause.begin(round, pauseMs)
    else if (outcome.kind === 'unreachable') pause.passOn(round)
    else pause.answered(round)
  }

  /** Waits for a write to the ledger. If it fails, the ledger has an intent without an outcome: `indeterminate`. */
  async #written<Result>(index: number, row: AwardRow, writing: Promise<Result>): Promise<Result> {
    try {
      return await writing
    } catch (error) {
      const failure = { code: 'ledger_failed', message: 'the ledger failed before it had the outcome' }
      this.#parts.recorder.settled(index, row, { verdict: 'indeterminate', failure })
      throw error
    }
  }

  #mayNotSend({ pid }: AwardRow): boolean {
    return this.#stopped !== undefined || this.#parts.recorder.isHalted(pid)
  }

  /** Counts a row that is not sent, with the verdict that the ledger has. */
  async #leaveOut(index: number, row: AwardRow, isAgain: boolean): Promise<void> {
    const { session, recorder } = this.#parts
    const known = await session.recall(row, isAgain)
    if (known === 'duplicate') return recorder.duplicate(row.xp)
    if (known !== undefined && known.verdict !== 'indeterminate') return this.#countRecorded(index, row, known)
    recorder.leftOut(row.pid)
    if (known !== undefined) recorder.settled(index, row, known)
  }

  #countRecorded(index: number, row: AwardRow, judgement: Judgement): void {
    if (judgement.verdict === 'awarded' || judgement.verdict === 'alreadyAwarded') this.#rules.succeeded()
    this.#parts.recorder.recorded(index, row, judgement)
  }

  async #waitWhileBusy(retryMs: number): Promise<void> {
    await wait(Math.min(retryMs, MAX_BUSY_MS), undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }

  /** Asks the partner's `confirm`, with a time limit once the run was stopped. */
  async #confirm(ask: () => Confirmation | Promise<Confirmation>): Promise<Confirmation> {
    const { signal } = this.#confirmTimeout
    let onTimeout: () => void = () => undefined
    try {
      return await new Promise<Confirmation>((resolve, reject) => {
        onTimeout = () => reject(new Error('it gave no answer in time'))
        if (signal.aborted) onTimeout()
        signal.addEventListener('abort', onTimeout)
        Promise.resolve(ask()).then(resolve, reject)
      })
    } finally {
      signal.removeEventListener('abort', onTimeout)
    }
  }
}
