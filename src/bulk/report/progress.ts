import { callHook } from '../../shared/call-hook.ts'
import type { PerVerdict } from './tally.ts'

/** The progress of a run of awards. */
export interface AwardProgress {
  /** How many rows were read from the list. */
  readonly rows: number
  /** The number of rows in the list; null until it is known. */
  readonly total: number | null
  /** The number of rows by verdict. */
  readonly counts: PerVerdict
  /** The XP of those rows, by verdict. */
  readonly xp: PerVerdict
  /** Awards sent and finished per second, over the last ten seconds. */
  readonly rate: number
  /** The estimated time left at this rate, in milliseconds; null while there is no estimate. */
  readonly timeLeftMs: number | null
  /** How long the current pause still lasts, in milliseconds: the service asked for it, or cannot be reached. */
  readonly waitingMs: number
}

/** The current state of a run. */
export interface ProgressSource {
  readonly rows: number
  readonly total: number | null
  readonly counts: PerVerdict
  readonly xp: PerVerdict
  readonly waitingMs: number
}

const EVERY_MS = 100
const WINDOW_MS = 10_000
/** A rate over a shorter time would mostly measure the start. */
const MIN_RATE_MS = 1_000

interface Mark {
  readonly at: number
  readonly sent: number
}

/** Calls a partner's `onProgress` at most every 100 ms. */
export class ProgressReporter {
  readonly #onProgress: ((progress: AwardProgress) => void) | undefined
  readonly #source: () => ProgressSource
  /** Samples of the number of finished awards, over the last ten seconds. */
  readonly #marks: Mark[] = []
  #sent = 0
  #timer: NodeJS.Timeout | undefined
  #toldAt = -Infinity

  constructor(onProgress: ((progress: AwardProgress) => void) | undefined, source: () => ProgressSource) {
    this.#onProgress = onProgress
    this.#source = source
  }

  /** An award that was sent is finished. */
  ended(): void {
    this.#sent++
  }

  /** The state has changed. */
  changed(): void {
    if (this.#onProgress === undefined) return
    if (this.#timer !== undefined) return
    const waitMs = this.#toldAt + EVERY_MS - performance.now()
    if (waitMs <= 0) this.#tell()
    else this.#timer = setTimeout(() => this.#tell(), Math.ceil(waitMs))
  }

  /** Calls `onProgress` for the last time. */
  finish(): void {
    if (this.#onProgress !== undefined) this.#tell()
  }

  #tell(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const now = performance.now()
    this.#toldAt = now
    this.#marks.push({ at: now, sent: this.#sent })
    while (this.#marks.length > 2 && now - (this.#marks[1] as Mark).at > WINDOW_MS) this.#marks.shift()
    const [first = { at: now, sent: 0 }] = this.#marks
    const elapsed = now - first.at
    const rate = elapsed > 0 ? ((this.#sent - first.sent) / elapsed) * 1_000 : 0

    const source = this.#source()
    const ended = Object.values(source.counts).reduce((sum, count) => sum + count, 0)
    const canTell = source.total !== null && rate > 0 && elapsed >= MIN_RATE_MS
    const timeLeftMs = canTell ? Math.round(((source.total - ended) / rate) * 1_000) : null
    callHook(() => this.#onProgress?.({ ...source, rate, timeLeftMs }))
  }
}
