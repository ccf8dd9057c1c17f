/** Timers fire late. A delay up to this is made up for, so that drift does not lower the rate. */
const MAX_DRIFT_MS = 20
/** Above the threshold, this many full windows of answers add one attempt. */
const SLOW_GROWTH = 50
/** After this many answers, the service is assumed to accept requests again. */
const PROBES = 3
/** The longest pause that calls wait for. A longer `Retry-After` fails them; after this time, calls are sent again. */
export const MAX_PAUSE_MS = 30_000

/**
 * Decides when the next attempt of one access token may be sent. After a 429 there is a pause; then at most 1, 2, 4, …
 * attempts are in flight, as answers come in (the slow start of TCP). All times are those of `performance.now()`.
 */
export class RateLimiter {
  readonly #intervalMs: number
  #nextStart = Number.NEGATIVE_INFINITY
  #pausedUntil = Number.NEGATIVE_INFINITY
  /** A `Retry-After` that is too long to wait for, and until when calls fail because of it. */
  #refusal = { until: Number.NEGATIVE_INFINITY, retryAfterMs: 0 }
  /** How many attempts may be in flight at once. */
  #window = Number.POSITIVE_INFINITY
  /** From this size on the window grows slowly: half of the size that led to a 429. */
  #threshold = Number.POSITIVE_INFINITY
  /** Attempts in flight that were sent after the last pause. */
  #inFlight = 0
  /** Attempts in flight that were sent before the last pause. */
  #older = 0
  /** Counts the pauses. An attempt sent before the last pause says nothing about the time after it. */
  #pauses = 0
  /** How many answers other than 429 there were since the last pause. */
  #answers = 0
  /** How many there were between the two pauses before. */
  #earlierAnswers = 0
  /** How many pauses were too short since the queue was last empty. It decides the next backoff. */
  #shortPauses = 0

  /** @param intervalMs - the least time between two starts */
  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Whether a new limiter would behave the same. */
  isIdle(now: number): boolean {
    return this.#inFlight + this.#older === 0 && now >= this.#nextStart && now >= this.#pausedUntil
  }

  /**
   * Whether the next attempt is likely to get a 429: too few answers show that the last pause was long enough, or half as
   * many attempts were sent as the service answered before that pause.
   */
  get isRisky(): boolean {
    if (this.#pauses === 0) return false
    return this.#answers < PROBES || this.#answers + this.#inFlight >= this.#earlierAnswers / 2
  }

  /** The time of the next start; infinity while an attempt in flight must end first. */
  get nextStart(): number {
    return this.#inFlight < Math.floor(this.#window)
      ? Math.max(this.#nextStart, this.#pausedUntil)
      : Number.POSITIVE_INFINITY
  }

  pauseLeft(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  /** The `Retry-After` in milliseconds that is too long to wait for, while calls fail because of it. */
  refusal(now: number): number | undefined {
    return now < this.#refusal.until ? this.#refusal.retryAfterMs : undefined
  }

  /** Records that an attempt is sent. @returns its number of pauses, for {@link ended}, {@link answered} and {@link limited} */
  start(now: number): number {
    this.#inFlight++
    const isLate = now - this.#nextStart > MAX_DRIFT_MS
    this.#nextStart = (isLate ? now : this.#nextStart) + this.#intervalMs
    return this.#pauses
  }

  /**
   * Records that an attempt has ended, with an answer or without.
   *
   * @param isLast - whether no other call waits: with nothing in flight, the window is then reset
   */
  ended(pauses: number, isLast: boolean): void {
    if (pauses === this.#pauses) this.#inFlight--
    else this.#older--
    if (!isLast || this.#inFlight + this.#older > 0 || this.#answers === 0) return
    this.#window = Number.POSITIVE_INFINITY
    this.#threshold = Number.POSITIVE_INFINITY
    this.#shortPauses = 0
  }

  /** Records an answer other than 429. */
  answered(pauses: number): void {
    if (pauses !== this.#pauses) return
    this.#window += this.#window < this.#threshold ? 1 : 1 / (SLOW_GROWTH * this.#window)
    this.#answers++
  }

  /**
   * Records a 429.
   *
   * @param backoffMs - returns the pause without `Retry-After`, from the number of pauses that were too short
   */
  limited(pauses: number, now: number, retryAfterMs: number | undefined, backoffMs: (nth: number) => number): void {
    if (pauses === this.#pauses) {
      this.#pauses++
      if (this.#answers === 0 || this.#shortPauses === 0) this.#shortPauses++
      // A pause that was too short says nothing about how many attempts are too many.
      if (this.#answers > 0) {
        this.#threshold = Math.max(1, Math.floor(Math.min(this.#window, this.#inFlight, this.#answers) / 2))
        this.#earlierAnswers = this.#answers
      }
      this.#answers = 0
      this.#window = 1
      this.#older += this.#inFlight
      this.#inFlight = 0
      this.#pauseFor(retryAfterMs ?? Math.min(backoffMs(this.#shortPauses), MAX_PAUSE_MS), now)
    } else if (retryAfterMs !== undefined) this.#pauseFor(retryAfterMs, now)
  }

  #pauseFor(ms: number, now: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.min(ms, MAX_PAUSE_MS))
    if (ms > MAX_PAUSE_MS) this.#refusal = { until: this.#pausedUntil, retryAfterMs: ms }
  }
}
