import type { CampaignClient } from '../../client.ts'
import { type CampaignError, RateLimitError } from '../../errors.ts'
import type { Issue } from '../../schemas/issue.ts'
import { Semaphore } from '../../shared/semaphore.ts'
import { attemptAward, type Conclusion, record, type Unjudged, whatStands } from '../award/attempt.ts'
import { failureOf } from '../award/ending.ts'
import type { Evidence } from '../award/judge.ts'
import { type AwardRow, contradictions } from '../award/row.ts'
import { type FinalVerdict, isFinal, type Verdict } from '../award/verdict.ts'
import type { Attempt, LedgerSession, Reopening } from '../ledger/ledger.ts'
import type { ProgressReporter } from '../report/progress.ts'
import type { Recorder } from '../report/recorder.ts'
import { Patience } from './patience.ts'
import type { Pause } from './pause.ts'
import { type Comeback, type Placed, RowSource } from './rows.ts'
import { StopRules } from './stop-rules.ts'
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
  /** What the client would refuse of a row, without asking the service. */
  readonly refusals: (row: AwardRow) => readonly Issue[]
}

/** Why a run ended before its rows did. */
export interface Stop {
  readonly why: string
  cause: unknown
}

/** A row that comes back into the line. */
interface Return extends Comeback {
  readonly delayMs: number
}

/** More lanes than calls: while some rows are with the service, others are with the disk. */
const LANES_PER_CALL = 2
/** The first wait after a call that reached nobody, and the longest without a word from the service. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 30_000
/** How often a row is looked at that another process is just awarding. */
const BUSY_MS = 1_000
const WRITTEN = 'the ledger has it so, and says why'

/** One run over a list: each row from its intent to its verdict, many at once. */
export class Run {
  readonly #parts: RunParts
  readonly #reopening: Reopening
  readonly #slots: Semaphore
  readonly #rules = new StopRules()
  /** With what the partner's functions are asked. */
  readonly #patience = new Patience()
  readonly #evidence: Evidence
  /** Pauses since the service answered last. */
  #pauses = 0
  /** That is read at present. */
  #source: RowSource | undefined
  #stopped: Stop | undefined

  constructor(parts: RunParts) {
    const { evidence, retryRejected, concurrency } = parts
    this.#parts = parts
    this.#slots = new Semaphore(concurrency)
    const { isUsedId, confirm } = evidence
    this.#evidence = { isUsedId, confirm: confirm && ((row) => this.#patience.wait(() => confirm(row))) }
    const canTell = confirm !== undefined || isUsedId !== undefined
    this.#reopening = { rejected: retryRejected, unconfirmed: canTell }
  }

  /** Why the run ended before its rows did, if it did. */
  get stopped(): Stop | undefined {
    return this.#stopped
  }

  /**
   * Reads all rows, and stops the run when one of them is wrong.
   *
   * @returns the same rows, to be sent
   */
  async check(source: RowSource): Promise<RowSource> {
    this.#source = source
    const { session, recorder, refusals } = this.#parts
    try {
      const { rows, wrong } = await readStrictly(source, session, refusals)
      for (const { index, row, issues } of wrong) recorder.wrong(index, row, issues)
      if (wrong.length > 0) this.stop(wrongRows(wrong, 'Nothing was sent'), 'not all of the rows are right')
      return new RowSource(rows)
    } catch (error) {
      this.stop(error, 'the rows could not be checked')
      return new RowSource([])
    }
  }

  /** Resolves when all of the rows are through, or when what was begun before the run was stopped is settled. */
  async send(source: RowSource): Promise<void> {
    this.#source = source
    if (this.#stopped !== undefined) await source.close()
    const { concurrency } = this.#parts
    await Promise.all(Array.from({ length: concurrency * LANES_PER_CALL }, () => this.#lane(source)))
    await source.close()
    for (const placed of source.left) {
      if (placed.row.ok) this.#leave(placed, placed.row.value, placed.again?.standing)
    }
  }

  /** Sends nothing more. The first reason counts: the others give undefined. */
  stop(cause: unknown, why: string): Stop | undefined {
    if (this.#stopped !== undefined) return undefined
    this.#stopped = { cause, why }
    this.#parts.pause.cancel()
    this.#patience.limit()
    void this.#source?.close()
    return this.#stopped
  }

  async #lane(source: RowSource): Promise<void> {
    for (;;) {
      let placed: Placed | undefined
      try {
        placed = await source.take()
      } catch (error) {
        this.stop(error, 'the list of awards threw an error')
      }
      if (placed === undefined) return
      try {
        const again = await this.#award(placed)
        if (again === undefined) source.done()
        else source.giveBack(placed, again, again.delayMs)
      } catch (error) {
        this.stop(error, 'the ledger failed')
        source.done()
      }
      this.#parts.progress.changed()
    }
  }

  /** How the row comes back into the line, if it does. @throws what the ledger throws */
  async #award(placed: Placed): Promise<Return | undefined> {
    const { session, recorder, refusals } = this.#parts
    if (!placed.row.ok) {
      recorder.wrong(placed.index, placed.row, placed.row.issues)
      return undefined
    }
    const row = placed.row.value
    const issues = refusals(row)
    if (issues.length > 0) {
      recorder.wrong(placed.index, row, issues)
      return undefined
    }
    if (recorder.isHalted(row.pid)) {
      await this.#leaveOut(placed, row)
      return undefined
    }
    const answer = session.begin(row, this.#reopening, placed.again !== undefined)
    const beginning = answer instanceof Promise ? await answer : answer
    switch (beginning.kind) {
      case 'duplicate':
        recorder.duplicate(row.xp)
        return undefined
      case 'settled':
        this.#countBefore(placed, row, beginning.verdict)
        return undefined
      case 'conflict':
        await this.#contradiction(placed, row)
        return undefined
      case 'unfit':
        recorder.wrong(placed.index, row, [beginning.issue])
        return undefined
      case 'busy':
        return { standing: undefined, delayMs: Math.min(beginning.retryMs, BUSY_MS) }
      case 'begun':
        return this.#attempt(placed, beginning.attempt)
    }
  }

  async #attempt(placed: Placed, attempt: Attempt): Promise<Return | undefined> {
    const { client, session, recorder, pause } = this.#parts
    const { row } = attempt
    await this.#turn()
    if (this.#stopped !== undefined || recorder.isHalted(row.pid)) {
      this.#slots.release()
      await this.#written(placed, row, 'that nothing was sent', session.release(attempt))
      this.#leave(placed, row, whatStands(attempt))
      return undefined
    }
    const { round } = pause
    const conclusion = await attemptAward(client, attempt, this.#evidence)
    this.#slots.release()
    this.#heed(attempt, conclusion, round)
    return conclusion.kind === 'judged'
      ? this.#settle(placed, attempt, conclusion)
      : this.#withdraw(placed, attempt, conclusion.ending)
  }

  /** Waits for a slot while no pause is on. */
  async #turn(): Promise<void> {
    const { pause } = this.#parts
    for (;;) {
      await pause.over()
      await this.#slots.acquire()
      if (pause.remainingMs === 0) return
      this.#slots.release()
    }
  }

  /** What the end of a call means for the calls to come. */
  #heed({ row, reopened }: Attempt, conclusion: Conclusion, round: number): void {
    const { ending } = conclusion
    const verdict = conclusion.kind === 'judged' ? conclusion.judgement.verdict : undefined
    if (verdict === 'awarded' || verdict === 'alreadyAwarded') this.#rules.succeeded()
    switch (ending?.kind) {
      case 'awarded':
        this.#answered()
        break
      case 'refused':
        this.#answered()
        if (verdict === 'rejected') this.#stopBy(this.#rules.refused(ending.error, reopened !== 'rejected'))
        break
      case 'campaignRefused':
        this.#answered()
        this.#parts.recorder.halt(row.pid, ending.error.message)
        break
      case 'unknown':
        this.#stopBy(this.#rules.unknown(ending.error))
        break
      case 'unsent':
        this.#pause(ending.error, round)
        break
      case 'hopeless':
        this.stop(ending.error, 'no award can go on')
        break
    }
  }

  async #settle(
    placed: Placed,
    attempt: Attempt,
    conclusion: Conclusion & { kind: 'judged' },
  ): Promise<Return | undefined> {
    const { session, progress } = this.#parts
    const { verdict, failure } = conclusion.judgement
    const { row } = attempt
    const standing = await this.#written(placed, row, `the verdict ${verdict}`, record(session, attempt, conclusion))
    if (standing === undefined || standing === 'superseded') return { standing: 'indeterminate', delayMs: BUSY_MS }
    this.#count(placed, row, standing, failure?.message ?? '')
    progress.ended()
    return undefined
  }

  /** The award has not been judged: it leaves the ledger as it was, unless an attempt may have been applied. */
  async #withdraw(placed: Placed, attempt: Attempt, ending: Unjudged): Promise<Return | undefined> {
    const { session, recorder } = this.#parts
    const { row } = attempt
    await this.#written(placed, row, 'that it was not judged', record(session, attempt, { kind: 'unjudged', ending }))
    const standing = whatStands(attempt, ending)
    if (ending.kind === 'unsent') return { standing, delayMs: 0 }
    if (ending.kind === 'invalid' && standing === undefined) {
      recorder.wrong(placed.index, row, ending.error.issues)
    } else {
      this.#leave(placed, row, standing, failureOf(ending.error).message)
    }
    return undefined
  }

  /** Waits for the ledger to have something. @throws what it throws: then it has the intent, and not its end */
  async #written<Result>(placed: Placed, row: AwardRow, what: string, write: Promise<Result>): Promise<Result> {
    try {
      return await write
    } catch (error) {
      this.#count(placed, row, 'indeterminate', `the ledger failed before it had ${what}`)
      throw error
    }
  }

  /** A row that this run leaves as the ledger has it. */
  #leave(placed: Placed, row: AwardRow, standing: Verdict | undefined, reason = WRITTEN): void {
    if (standing !== undefined && isFinal(standing)) {
      this.#countBefore(placed, row, standing)
      return
    }
    this.#parts.recorder.leftOut(row.pid)
    if (standing !== undefined) this.#count(placed, row, standing, reason)
  }

  /** A row of a halted campaign: not sent, and counted only when it is through already. */
  async #leaveOut(placed: Placed, row: AwardRow): Promise<void> {
    const { session, recorder } = this.#parts
    const known = placed.again === undefined ? await session.recall(row) : placed.again.standing
    if (known === 'duplicate') recorder.duplicate(row.xp)
    else this.#leave(placed, row, known)
  }

  #countBefore(placed: Placed, row: AwardRow, verdict: FinalVerdict): void {
    this.#parts.recorder.settledBefore(verdict, row.xp)
    this.#problem(placed, row, verdict, WRITTEN)
  }

  #count(placed: Placed, row: AwardRow, verdict: Verdict, reason: string): void {
    this.#parts.recorder.settled(verdict, row.xp)
    this.#problem(placed, row, verdict, reason)
  }

  #problem({ index }: Placed, { id }: AwardRow, verdict: Verdict, reason: string): void {
    if (verdict === 'awarded' || verdict === 'alreadyAwarded') return
    this.#parts.recorder.problem({ index, id, verdict, reason })
  }

  #answered(): void {
    this.#rules.answered()
    this.#pauses = 0
  }

  /** Nothing was judged: everybody waits, for as long as the service asks or longer each time. */
  #pause(error: CampaignError, round: number): void {
    const isLimit = error instanceof RateLimitError
    const asked = isLimit ? error.retryAfterMs : undefined
    const waitMs = asked ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#pauses)
    if (this.#stopped !== undefined || !this.#parts.pause.begin(round, waitMs)) return
    this.#pauses++
    this.#stopBy(isLimit ? this.#rules.rateLimited(error, waitMs) : this.#rules.unreached(error))
  }

  #stopBy(reason: Stop | undefined): void {
    if (reason !== undefined) this.stop(reason.cause, reason.why)
  }

  async #contradiction(placed: Placed, row: AwardRow): Promise<void> {
    const errorWith = (known: AwardRow | undefined) =>
      wrongRows([{ index: placed.index, row, issues: contradictions(row, known) }], 'It was not sent')
    // First of all nothing more goes out: to find what the id stands for, the ledger is read from its beginning.
    const stop = this.stop(errorWith(undefined), 'a row contradicts the ledger, or a row before it')
    if (stop !== undefined) stop.cause = errorWith(await this.#parts.session.find(row.id))
  }
}
