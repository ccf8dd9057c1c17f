import { callHook } from '../../shared/call-hook.ts'
import type { PerVerdict } from './totals.ts'

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
  /** The rest of the current pause, in milliseconds. The run pauses after a 429, or if the service can't be reached. */
  readonly waitingMs: number
}

const INTERVAL_MS = 100
const RATE_WINDOW_MS = 10_000
/** The minimum time before the first estimate. */
const MIN_ESTIMATE_MS = 1_000

interface Sample {
  readonly at: number
  readonly finished: number
}

/** Calls `onProgress` at most every 100 ms. */
export class ProgressReporter {
  readonly #onProgress: ((progress: AwardProgress) => void) | undefined
  readonly #state: () => Omit<AwardProgress, 'rate' | 'timeLeftMs'>
  readonly #samples: Sample[] = []
  #finished = 0
  #timer: NodeJS.Timeout | undefined
  #lastCallAt = -Infinity

  /** @param state - returns the current state of the run */
  constructor(
    onProgress: ((progress: AwardProgress) => void) | undefined,
    state: () => Omit<AwardProgress, 'rate' | 'timeLeftMs'>,
  ) {
    this.#onProgress = onProgress
    this.#state = state
  }

  /** Counts an award that was sent and is finished. */
  countFinished(): void {
    this.#finished++
  }

  /** Calls `onProgress` now, or when 100 ms have passed since the last call. */
  schedule(): void {
    if (this.#onProgress === undefined) return
    if (this.#timer !== undefined) return
    const waitMs = this.#lastCallAt + INTERVAL_MS - performance.now()
    if (waitMs <= 0) this.#call()
    else this.#timer = setTimeout(() => this.#call(), Math.ceil(waitMs))
  }

  /** Calls `onProgress` for the last time. */
  finish(): void {
    if (this.#onProgress !== undefined) this.#call()
  }

  #call(): void {
    clearTimeout(this.#timer)
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
    const rowsWithVerdict = Object.values(state.counts).reduce((sum, count) => sum + count, 0)
    const hasEstimate = state.total !== null && rate > 0 && elapsed >= MIN_ESTIMATE_MS
    const timeLeftMs = hasEstimate ? Math.round(((state.total - rowsWithVerdict) / rate) * 1_000) : null
    callHook(() => this.#onProgress?.({ ...state, rate, timeLeftMs }))
  }
}
