/** An attempt that waits for its turn. */
export interface Waiting {
  /** How many times its call has been sent already. */
  readonly tried: number
  readonly admit: () => void
  readonly refuse: (reason: unknown) => void
}

/** What timers are late by must not slow the rate down. */
const LATE_TIMER_MS = 20

/** So many successes after a pause show that the service takes requests again. */
const PROBES = 3

/**
 * How fast the calls of one token may go: as fast as they like, until the service answers 429. Then all of them pause, and
 * are let go one after the other; how many may be under way at once grows as they succeed.
 */
export class Pace {
  readonly #intervalMs: number
  /** By how often they were tried. In each the longest waiting first. */
  readonly #waiting: Set<Waiting>[] = []
  #nextStart = Number.NEGATIVE_INFINITY
  #pausedSince = Number.NEGATIVE_INFINITY
  #pausedUntil = Number.NEGATIVE_INFINITY
  /** How many may be under way at once. */
  #window = Number.POSITIVE_INFINITY
  /** Beyond it the window grows slowly: half of what was too much. */
  #knownGood = Number.POSITIVE_INFINITY
  #underWay = 0
  /** Pauses that were too short, one after the other. */
  #tooShort = 0
  /** How many attempts have succeeded since the last pause. */
  #successes = Number.POSITIVE_INFINITY

  /** @param intervalMs - the least time between two starts */
  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Nothing of it is worth remembering. */
  isIdle(now: number): boolean {
    return this.#underWay === 0 && !this.isAwaited && now >= this.#nextStart && now >= this.#pausedUntil
  }

  get isAwaited(): boolean {
    return this.#waiting.some((each) => each.size > 0)
  }

  /** How long the service has asked to wait, from now. */
  pauseLeft(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  /** When the next attempt may start, for all that time decides; infinity while others must end first. */
  nextStart(): number {
    return this.#underWay >= Math.floor(this.#window)
      ? Number.POSITIVE_INFINITY
      : Math.max(this.#nextStart, this.#pausedUntil)
  }

  started(now: number): void {
    this.#underWay++
    const isLate = now - this.#nextStart > LATE_TIMER_MS
    this.#nextStart = (isLate ? now : this.#nextStart) + this.#intervalMs
  }

  ended(): void {
    this.#underWay--
    // What was learnt holds as long as there is a rush.
    if (this.#underWay > 0 || this.isAwaited || this.#successes === 0) return
    this.#window = Number.POSITIVE_INFINITY
    this.#knownGood = Number.POSITIVE_INFINITY
    this.#tooShort = 0
  }

  /** An attempt was answered with something else than 429. */
  accepted(): void {
    this.#successes++
    if (this.#window === Number.POSITIVE_INFINITY) return
    this.#window += this.#window < this.#knownGood ? 1 / this.#window : 1 / (50 * this.#window)
  }

  /**
   * An attempt was answered with 429.
   *
   * @param rush - how many were under way at once
   * @param retryAfterMs - what the service asks for
   * @param backoffMs - the pause where it asks for nothing, by how many pauses before it were too short
   */
  limited(
    startedAt: number,
    now: number,
    rush: number,
    retryAfterMs: number | undefined,
    backoffMs: (nth: number) => number,
  ): void {
    if (startedAt <= this.#pausedSince) {
      // One of the rush that led to the pause: it tells nothing new, unless it asks for a longer one.
      this.#pausedUntil = Math.max(this.#pausedUntil, now + (retryAfterMs ?? 0))
      return
    }
    this.#tooShort += this.#successes === 0 || this.#tooShort === 0 ? 1 : 0
    this.#knownGood = Math.max(1, Math.floor(Math.min(this.#window, rush) / 2))
    this.#window = 1
    this.#successes = 0
    this.#pausedSince = now
    this.#pausedUntil = now + (retryAfterMs ?? backoffMs(this.#tooShort))
  }

  join(waiting: Waiting): void {
    let line = this.#waiting[waiting.tried]
    if (line === undefined) {
      line = new Set()
      this.#waiting[waiting.tried] = line
    }
    line.add(waiting)
  }

  /** @returns whether it was still waiting */
  leave(waiting: Waiting): boolean {
    return this.#waiting[waiting.tried]?.delete(waiting) ?? false
  }

  /**
   * Those that were tried come first. After a pause, of which nobody knows whether it was long enough, the ones with the most
   * retries left try it; once some have succeeded, the ones with the fewest follow.
   */
  next(): Waiting | undefined {
    const [untried, ...tried] = this.#waiting.map((line) => line ?? new Set())
    const inOrder = this.#successes < PROBES ? tried : tried.reverse()
    for (const line of [...inOrder, untried]) {
      const first = line?.values().next().value
      if (first !== undefined) {
        line?.delete(first)
        return first
      }
    }
    return undefined
  }

  /** Everyone who waits, who then waits no longer. */
  dismiss(): Waiting[] {
    const everyone = this.#waiting.flatMap((line) => [...(line ?? [])])
    this.#waiting.length = 0
    return everyone
  }
}
