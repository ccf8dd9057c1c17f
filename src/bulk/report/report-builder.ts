import type { Issue } from '../../errors.ts'
import { type AwardRow, describeRowIssues } from '../award/row.ts'
import type { AwardFailure, AwardResult, Verdict } from '../award/verdict.ts'
import type { AwardReport, RowProblem } from './report.ts'
import { Totals } from './totals.ts'

const MAX_PROBLEMS = 1_000
/** The failure of a row whose earlier attempt has no recorded result, for instance because its process was killed. */
const IN_DOUBT: AwardFailure = { code: 'in_doubt', message: 'an earlier attempt may have awarded it' }

/** Builds the report of a run. */
export class ReportBuilder {
  readonly totals = new Totals()
  readonly #startedAt = new Date().toISOString()
  readonly #problems: RowProblem[] = []
  #problemsOmitted = 0
  #fromLedger = 0
  /** The number of rows with a final verdict, and of duplicates. */
  #finalRows = 0
  readonly #halted = new Map<string, { rows: number; readonly reason: string }>()

  /** Adds the result of a row. */
  add(index: number, { id, xp }: AwardRow, { verdict, failure }: AwardResult): void {
    this.#count(verdict, xp)
    if (verdict === 'awarded' || verdict === 'alreadyAwarded') return
    const { code, message: reason } = failure ?? IN_DOUBT
    this.#addProblem({ index, id, verdict, code, reason })
  }

  /** Adds a final result of an earlier run. */
  addFromLedger(index: number, row: AwardRow, result: AwardResult): void {
    this.#fromLedger++
    this.add(index, row, result)
  }

  addDuplicate(xp: number): void {
    this.totals.add('duplicate', xp)
    this.#finalRows++
  }

  addInvalid(index: number, { id, xp }: { id: string | undefined; xp: number }, issues: readonly Issue[]): void {
    this.#count('rejected', xp)
    const reason = describeRowIssues(issues)
    this.#addProblem({ index, ...(id !== undefined && { id }), verdict: 'rejected', code: 'invalid_request', reason })
  }

  /** Halts a campaign: its other rows are not sent. */
  haltCampaign(pid: string, reason: string): void {
    if (!this.#halted.has(pid)) this.#halted.set(pid, { rows: 0, reason })
  }

  isHalted(pid: string): boolean {
    return this.#halted.has(pid)
  }

  /** Counts a row without a final verdict, if its campaign is halted. */
  addHalted(pid: string): void {
    const halted = this.#halted.get(pid)
    if (halted !== undefined) halted.rows++
  }

  build(rows: number, isReadToEnd: boolean): AwardReport {
    return {
      version: 1,
      rows,
      counts: this.totals.counts,
      xp: this.totals.xp,
      fromLedger: this.#fromLedger,
      problems: [...this.#problems],
      problemsOmitted: this.#problemsOmitted,
      halted: [...this.#halted].map(([pid, campaign]) => ({ pid, ...campaign })),
      startedAt: this.#startedAt,
      finishedAt: new Date().toISOString(),
      complete: isReadToEnd && this.#finalRows === rows,
    }
  }

  #count(verdict: Verdict, xp: number): void {
    this.totals.add(verdict, xp)
    if (verdict !== 'indeterminate') this.#finalRows++
  }

  #addProblem(problem: RowProblem): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem)
    else this.#problemsOmitted++
  }
}
