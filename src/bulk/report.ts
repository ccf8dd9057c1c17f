import type { Issue } from '../errors/client-errors.ts'
import type { AwardFailure, AwardReport, Countable, PerVerdict, RowProblem } from '../schemas/award-report.ts'
import { addDecimals, isAwarded, isUsedBefore } from '../shared/award.ts'
import { callSafely } from '../shared/call-safely.ts'
import { startTimer } from '../shared/timers.ts'
import type { AwardResult } from './ledger/award-state.ts'
import type { Waiting } from './pacing.ts'
import type { AwardRow } from './rows.ts'

const MAX_PROBLEMS = 1_000
/** The failure of a row whose earlier attempt has no recorded result, for instance because its process was killed. */
const IN_DOUBT: AwardFailure = { code: 'in_doubt', message: 'an earlier attempt may have awarded it' }

const zeros = (): Record<Countable, number> => ({
  awarded: 0,
  alreadyAwarded: 0,
  unconfirmed: 0,
  rejected: 0,
  indeterminate: 0,
  duplicate: 0,
})

/** Counts the rows of a run, and builds its report. */
export class RunReport {
  rows = 0
  readonly #startedAt = new Date().toISOString()
  readonly #counts = zeros()
  readonly #xp = zeros()
  readonly #usedBefore = { awards: 0, xp: 0 }
  readonly #problems: RowProblem[] = []
  #problemsOmitted = 0
  #fromLedger = 0
  readonly #halted = new Map<string, { rows: number; readonly reason: string }>()

  get counts(): PerVerdict {
    return { ...this.#counts }
  }

  get xp(): PerVerdict {
    return { ...this.#xp }
  }

  add(index: number, row: AwardRow, { verdict, failure }: AwardResult): void {
    this.#count(verdict, row.xp)
    if (isUsedBefore(verdict, failure)) {
      this.#usedBefore.awards++
      this.#usedBefore.xp = addDecimals(this.#usedBefore.xp, row.xp)
    }
    if (isAwarded(verdict)) return
    const { code, message: reason } = failure ?? IN_DOUBT
    const { id, address, pid, xp } = row
    this.#addProblem({ index, id, address, pid, xp, verdict, code, reason })
  }

  /** Removes a row that was added as `indeterminate`, because it is sent again. */
  removeIndeterminate(index: number, { xp }: AwardRow): void {
    this.#counts.indeterminate--
    this.#xp.indeterminate = addDecimals(this.#xp.indeterminate, -xp)
    const at = this.#problems.findIndex((problem) => problem.index === index)
    if (at === -1) this.#problemsOmitted--
    else this.#problems.splice(at, 1)
  }

  /** Counts a row whose result the ledger already had. */
  countFromLedger(): void {
    this.#fromLedger++
  }

  addDuplicate(xp: number): void {
    this.#count('duplicate', xp)
  }

  addInvalid(index: number, row: Partial<AwardRow>, issues: readonly Issue[]): void {
    this.#count('rejected', Math.max(0, row.xp ?? 0))
    const sentence = ({ path, message }: Issue): string => `${path.join('.') || 'the row'} ${message}`
    const reason = issues.map(sentence).join('; ')
    this.#addProblem({ index, ...row, verdict: 'rejected', code: 'invalid_request', reason })
  }

  haltCampaign(pid: string, reason: string): void {
    if (!this.#halted.has(pid)) this.#halted.set(pid, { rows: 0, reason })
  }

  isHalted(pid: string): boolean {
    return this.#halted.has(pid)
  }

  /** Counts a row that was not sent, if its campaign is halted. */
  addHalted(pid: string): void {
    const halted = this.#halted.get(pid)
    if (halted !== undefined) halted.rows++
  }

  /** @param isStopped - whether the run stopped before its last row */
  build(isStopped: boolean): AwardReport {
    const { indeterminate, ...final } = this.#counts
    return {
      version: 1,
      rows: this.rows,
      counts: this.counts,
      xp: this.xp,
      usedBefore: { ...this.#usedBefore },
      fromLedger: this.#fromLedger,
      problems: [...this.#problems],
      problemsOmitted: this.#problemsOmitted,
      halted: [...this.#halted].map(([pid, campaign]) => ({ pid, ...campaign })),
      startedAt: this.#startedAt,
      finishedAt: new Date().toISOString(),
      complete: !isStopped && sumOf(final) === this.rows,
    }
  }

  #count(verdict: Countable, xp: number): void {
    this.#counts[verdict]++
    this.#xp[verdict] = addDecimals(this.#xp[verdict], xp)
  }

  #addProblem(problem: RowProblem): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem)
    else this.#problemsOmitted++
  }
}

const sumOf = (numbers: Readonly<Record<string, number>>): number =>
  Object.values(numbers).reduce((sum, number) => sum + number, 0)

/** The progress of a run of awards. */
export interface AwardProgress {
  /** The number of rows that were read. */
  readonly rows: number
  /** The number of rows in the list; null until it is known. */
  readonly total: number | null
  /** The number of rows per verdict. */
  readonly counts: PerVerdict
  /** The XP of those rows, per verdict. */
  readonly xp: PerVerdict
  /** Awards sent and finished per second, over the last ten seconds. */
  readonly rate: number
  /** The estimated time left at this rate, in milliseconds; null while there is no estimate. */
  readonly timeLeftMs: number | null
  /** Set while the run waits, because the service responds with 429 or does not respond; otherwise null. */
  readonly waiting: Waiting | null
}

type Speed = Pick<AwardProgress, 'rate' | 'timeLeftMs'>

const INTERVAL_MS = 100
/** The interval while a run waits, and no call ends. */
const WAITING_INTERVAL_MS = 1_000
const RATE_WINDOW_MS = 10_000
/** The minimum time before the first estimate. */
const MIN_ESTIMATE_MS = 1_000

interface Sample {
  readonly at: number
  readonly finished: number
}

/** The state of a run, from which its progress is computed. */
interface ProgressState {
  readonly total: number | null
  readonly counts: Readonly<Record<string, number>>
  readonly waiting: Waiting | null
}

/** Calls `onProgress` at most every 100 ms, and every second while a run waits. */
export class ProgressReporter<State extends ProgressState> {
  readonly #onProgress: ((progress: State & Speed) => void) | undefined
  readonly #state: () => State
  readonly #samples: Sample[] = []
  #finished = 0
  #timer: NodeJS.Timeout | undefined
  #cancelNextCall: (() => void) | undefined
  #lastCallAt = -Infinity
  #isFinished = false

  constructor(onProgress: ((progress: State & Speed) => void) | undefined, state: () => State) {
    this.#onProgress = onProgress
    this.#state = state
  }

  /** Counts an item that was sent and is finished. */
  countFinished(): void {
    this.#finished++
  }

  /** Calls `onProgress` now, or when 100 ms have passed since the last call. */
  schedule(): void {
    if (this.#onProgress === undefined || this.#timer !== undefined || this.#isFinished) return
    const waitMs = this.#lastCallAt + INTERVAL_MS - performance.now()
    if (waitMs <= 0) this.#call()
    else this.#timer = setTimeout(() => this.#call(), Math.ceil(waitMs))
  }

  /** Calls `onProgress` for the last time. */
  finish(): void {
    this.#isFinished = true
    if (this.#onProgress !== undefined) this.#call()
    this.#cancelNextCall?.()
  }

  #call(): void {
    clearTimeout(this.#timer)
    this.#cancelNextCall?.()
    this.#timer = undefined
    const now = performance.now()
    this.#lastCallAt = now
    const samples = this.#samples
    samples.push({ at: now, finished: this.#finished })
    while (samples.length > 2 && now - (samples[1] as Sample).at > RATE_WINDOW_MS) samples.shift()
    const first = samples[0] as Sample
    const elapsed = now - first.at
    const rate = elapsed > 0 ? ((this.#finished - first.finished) / elapsed) * 1_000 : 0

    const state = this.#state()
    const hasEstimate = state.total !== null && rate > 0 && elapsed >= MIN_ESTIMATE_MS
    const timeLeftMs = hasEstimate ? Math.round(((state.total - sumOf(state.counts)) / rate) * 1_000) : null
    if (state.waiting !== null) this.#cancelNextCall = startTimer(WAITING_INTERVAL_MS, () => this.schedule())
    callSafely(() => this.#onProgress?.({ ...state, rate, timeLeftMs }))
  }
}
