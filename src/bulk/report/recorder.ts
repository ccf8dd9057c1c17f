import type { Issue } from '../../errors.ts'
import { wordsOf } from '../award/row.ts'
import type { Verdict } from '../award/verdict.ts'
import type { AwardReport, HaltedCampaign, RowProblem } from './report.ts'
import { Tally } from './tally.ts'

const MOST_PROBLEMS = 1_000

/** Writes down what becomes of the rows, for the report. */
export class Recorder {
  readonly tally = new Tally()
  readonly #startedAt = new Date().toISOString()
  readonly #problems: RowProblem[] = []
  #problemsOmitted = 0
  #fromLedger = 0
  /** Rows that have a final verdict, or are the same as one before. */
  #final = 0
  readonly #halted = new Map<string, { rows: number; reason: string }>()

  /** A verdict that is durable. */
  settled(verdict: Verdict, xp: number): void {
    this.tally.add(verdict, xp)
    if (verdict !== 'indeterminate') this.#final++
  }

  /** A row whose final verdict stood in the ledger. */
  settledBefore(verdict: Exclude<Verdict, 'indeterminate'>, xp: number): void {
    this.#fromLedger++
    this.settled(verdict, xp)
  }

  duplicate(xp: number): void {
    this.tally.add('duplicate', xp)
    this.#final++
  }

  /** A row that is wrong here: never sent, and bound to nothing. */
  wrong(index: number, { id, xp }: { id: string | undefined; xp: number }, issues: readonly Issue[]): void {
    this.settled('rejected', xp)
    this.problem({ index, ...(id !== undefined && { id }), verdict: 'rejected', reason: wordsOf(issues) })
  }

  problem(problem: RowProblem): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push(problem)
    else this.#problemsOmitted++
  }

  /** No more rows of the campaign are sent. */
  halt(pid: string, reason: string): void {
    if (!this.#halted.has(pid)) this.#halted.set(pid, { rows: 0, reason })
  }

  isHalted(pid: string): boolean {
    return this.#halted.has(pid)
  }

  /** A row was left out because its campaign is halted. */
  leftOut(pid: string): void {
    const halted = this.#halted.get(pid)
    if (halted !== undefined) halted.rows++
  }

  report(rows: number, readToEnd: boolean): AwardReport {
    const halted: HaltedCampaign[] = [...this.#halted].map(([pid, about]) => ({ pid, ...about }))
    return {
      version: 1,
      rows,
      counts: this.tally.counts,
      xp: this.tally.xp,
      fromLedger: this.#fromLedger,
      problems: [...this.#problems],
      problemsOmitted: this.#problemsOmitted,
      halted,
      startedAt: this.#startedAt,
      finishedAt: new Date().toISOString(),
      complete: readToEnd && this.#final === rows,
    }
  }
}
