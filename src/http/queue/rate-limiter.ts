import { MAX_PAUSE_MS } from '../retry-after.ts'

/** Timers fire late. A start that is late by at most this much does not delay the next start. */
const MAX_DRIFT_MS = 20
/** Above the threshold, a window of `n` grows by 1 after 50 × `n` answers. */
const SLOW_GROWTH = 50
/** After a pause, the service counts as available once it has given this many answers. */
const MIN_ANSWERS = 3

/**
 * Decides when the next attempt with one access token may be sent. It spaces attempts to meet `requestsPerSecond`. After a
 * 429 it pauses, then allows 1, 2, 4, … attempts in flight as answers arrive (the slow start of TCP).
 *
 * All times are those of `performance.now()`.
 */
export class RateLimiter {
  readonly #intervalMs: number
  #nextStart = Number.NEGATIVE_INFINITY
  #pausedUntil = Number.NEGATIVE_INFINITY
  /** A `Retry-After` that is too long to wait for. Calls fail until the time `until`. */
  #refusal = { until: Number.NEGATIVE_INFINITY, retryAfterMs: 0 }
  /** Maximum number of attempts in flight. */
  #window = Number.POSITIVE_INFINITY
  /** Above this size the window grows slowly. The threshold is half of the size that led to the last 429. */
  #threshold = Number.POSITIVE_INFINITY
  /** Attempts in flight that were sent after the last pause. */
  #inFlight = 0
  /** The number of pauses so far. Attempts that were sent before the last pause do not change the window. */
  #pauses = 0
  /** The number of answers other than 429 since the last pause. */
  #answers = 0
  /** The last value above 0 that `#answers` had at a 429. */
  #earlierAnswers = 0
  /** 1 after the first pause, and 1 more for each later pause that was too short. The backoff grows with this number. */
  #shortPauses = 0

  constructor(requestsPerSecond = Number.POSITIVE_INFINITY) {
    this.#intervalMs = 1_000 / requestsPerSecond
  }

  /** Whether the limiter can be deleted: no attempt is in flight, and the interval and the pause are over. */
  isIdle(now: number): boolean {
    return this.#inFlight === 0 && now >= this.#nextStart && now >= this.#pausedUntil
  }

  /**
   * Whether the next attempt is likely to get a 429: few answers have arrived since the last pause, or the attempts since the
   * pause have reached half of `#earlierAnswers`.
   */
  get isRisky(): boolean {
    if (this.#pauses === 0) return false
    return this.#answers < MIN_ANSWERS || this.#answers + this.#inFlight >= this.#earlierAnswers / 2
  }

  /** The time of the next start. Infinity if an attempt in flight must end first. */
  get nextStart(): number {
    return this.#inFlight < Math.floor(this.#window)
      ? Math.max(this.#nextStart, this.#pausedUntil)
      : Number.POSITIVE_INFINITY
  }

  pauseLeft(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  /** Returns the `Retry-After` in milliseconds if calls must fail now; `undefined` if they can wait. */
  refusal(now: number): number | undefined {
    return now < this.#refusal.until ? this.#refusal.retryAfterMs : undefined
  }

  /** Records the start of an attempt. Returns the number of pauses so far: pass it to the other `record` methods. */
  recordStart(now: number): number {
    this.#inFlight++
    const isLate = now - this.#nextStart > MAX_DRIFT_MS
    this.#nextStart = (isLate ? now : this.#nextStart) + this.#intervalMs
    return this.#pauses
  }

  /**
   * Records the end of an attempt, with or without an answer. Resets the window and the backoff if no other attempt is left.
   *
   * @param isQueueEmpty - whether no other call waits
   */
  recordEnd(pauses: number, isQueueEmpty: boolean): void {
    if (pauses === this.#pauses) this.#inFlight--
    if (!isQueueEmpty || this.#inFlight > 0 || this.#answers === 0) return
    this.#window = Number.POSITIVE_INFINITY
    this.#threshold = Number.POSITIVE_INFINITY
    this.#shortPauses = 0
  }

  /** Records an answer other than 429. */
  recordAnswer(pauses: number): void {
    if (pauses !== this.#pauses) return
    this.#window += this.#window < this.#threshold ? 1 : 1 / (SLOW_GROWTH * this.#window)
    this.#answers++
  }

  /**
   * Records a 429.
   *
   * @param backoffMs - returns the pause for a value of `#shortPauses`; called if there is no `Retry-After`
   */
  record429(pauses: number, now: number, retryAfterMs: number | undefined, backoffMs: (nth: number) => number): void {
    if (pauses === this.#pauses) {
      this.#pauses++
      if (this.#answers === 0 || this.#shortPauses === 0) this.#shortPauses++
      // Without an answer, only the pause was too short: keep the threshold.
      if (this.#answers > 0) {
        this.#threshold = Math.max(1, Math.floor(Math.min(this.#window, this.#inFlight, this.#answers) / 2))
        this.#earlierAnswers = this.#answers
      }
      this.#answers = 0
      this.#window = 1
      this.#inFlight = 0
      this.#pauseFor(retryAfterMs ?? Math.min(backoffMs(this.#shortPauses), MAX_PAUSE_MS), now)
    } else if (retryAfterMs !== undefined) this.#pauseFor(retryAfterMs, now)
  }

  #pauseFor(ms: number, now: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.min(ms, MAX_PAUSE_MS))
    if (ms > MAX_PAUSE_MS) this.#refusal = { until: this.#pausedUntil, retryAfterMs: ms }
  }
}
