import type { Issue } from '../../errors.ts'
import { type AwardRow, describeRow } from '../award/row.ts'
import type { AwardFailure, Judgement, Verdict } from '../award/verdict.ts'
import type { AwardReport, RowProblem } from './report.ts'
import { Tally } from './tally.ts'

const MAX_PROBLEMS = 1_000
/** The failure of a row that an earlier run left in doubt without a reason: its process was killed, for instance. */
const IN_DOUBT: AwardFailure = { code: 'in_doubt', message: 'an earlier attempt may have awarded it' }

/** Collects the verdicts of the rows for the report. */
export class Recorder {
  readonly tally = new Tally()
  readonly #startedAt = new Date().toISOString()
  readonly #problems: RowProblem[] = []
  #problemsOmitted = 0
  #fromLedger = 0
  /** Rows that have a final verdict, or are the same as an earlier one. */
  #final = 0
  readonly #halted = new Map<string, { rows: number; readonly reason: string }>()

  /** A verdict that is flushed. */
  settled(index: number, { id, xp }: AwardRow, { verdict, failure }: Judgement): void {
    this.#count(verdict, xp)
    if (verdict === 'awarded' || verdict === 'alreadyAwarded') return
    const { code, message: reason } = failure ?? IN_DOUBT
    this.#problem({ index, id, verdict, code, reason })
  }

  /** A row whose final verdict was in the ledger. */
  recorded(index: number, row: AwardRow, judgement: Judgement): void {
    this.#fromLedger++
    this.settled(index, row, judgement)
  }

  duplicate(xp: number): void {
    this.tally.add('duplicate', xp)
    this.#final++
  }

  /** A row that is wrong. It is never sent, and the ledger does not have it. */
  wrong(index: number, { id, xp }: { id: string | undefined; xp: number }, issues: readonly Issue[]): void {
    this.#count('rejected', xp)
    const reason = describeRow(issues)
    this.#problem({ index, ...(id !== undefined && { id }), verdict: 'rejected', code: 'invalid_request', reason })
  }

  /** No more rows of the campaign are sent. */
  halt(pid: string, reason: string): void {
    if (!this.#halted.has(pid)) this.#halted.set(pid, { rows: 0, reason })
  }

  isHalted(pid: string): boolean {
    return this.#halted.has(pid)
  }

  /** A row was left without a final verdict; counted where its campaign is halted. */
  leftOut(pid: string): void {
    const halted = this.#halted.get(pid)
    if (halted !== undefined) halted.rows++
  }

  report(rows: number, isReadToEnd: boolean): AwardReport {
    return {
      version: 1,
      rows,
      counts: this.tally.counts,
      xp: this.tally.xp,
      fromLedger: this.#fromLedger,
      problems: [...this.#problems],
      problemsOmitted: this.#problemsOmitted,
      halted: [...this.#halted].map(([pid, about]) => ({ pid, ...about })),
      startedAt: this.#startedAt,
      finishedAt: new Date().toISOString(),
      complete: isReadToEnd && this.#final === rows,
    }
  }

  #count(verdict: Verdict, xp: number): void {
    this.tally.add(verdict, xp)
    if (verdict !== 'indeterminate') this.#final++
  }

  #problem(problem: RowProblem): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem)
    else this.#problemsOmitted++
  }
}
