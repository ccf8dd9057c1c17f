import type { RequestLimits } from '../options.ts'
import { MAX_TIMER_MS, TIMED_OUT, withTimeout } from '../shared/timers.ts'
import { MAX_PAUSE_MS } from './retry.ts'

/** Timers fire late. A start that is late by at most this much does not delay the next start. */
const MAX_DRIFT_MS = 20
/** Above the threshold, a window of `n` grows by 1 after 50 × `n` responses. */
const SLOW_GROWTH = 50
/** After a pause, the service counts as available once it has sent this many responses. */
const MIN_RESPONSES = 3
/** If there are this many tokens, the idle ones are removed before a new one is added. */
const MAX_IDLE_TOKENS = 100

/** The permission to send one attempt. */
export interface Slot {
  readonly limit: TokenLimit
  /** The epoch in which the attempt started. */
  readonly epoch: number
  readonly waitedMs: number
}

/** The service asked for a pause that is too long to wait for. */
export interface LongPause {
  readonly retryAfterMs: number
}

/** An attempt in the queue. */
class Waiter {
  state: 'waiting' | 'admitted' | 'gone' = 'waiting'
  /** 0 for the first attempt of a call. */
  readonly retry: number
  readonly since = performance.now()
  readonly settled: Promise<Slot | LongPause>
  #slot: Slot | undefined
  #settle!: (result: Slot | LongPause) => void

  constructor(retry: number) {
    this.retry = retry
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  get slot(): Slot | undefined {
    return this.#slot
  }

  admit(slot: Slot): void {
    this.state = 'admitted'
    this.#slot = slot
    this.#settle(slot)
  }

  refuse(pause: LongPause): void {
    this.state = 'gone'
    this.#settle(pause)
  }
}

/**
 * The queue and the pace of one access token. Attempts are spaced to meet `requestsPerSecond`. After a 429 they pause, then
 * 1, 2, 4, … attempts may be in flight as responses arrive: the slow start of TCP, whose terms the fields have.
 *
 * All times are values of `performance.now()`.
 */
export class TokenLimit {
  /** Indexed by `Waiter.retry`. */
  readonly #waiters: Set<Waiter>[] = []
  readonly #intervalMs: number
  #nextStart = Number.NEGATIVE_INFINITY
  #pausedUntil = Number.NEGATIVE_INFINITY
  /** A `Retry-After` that is too long to wait for. Calls fail until the time `until`. */
  #longPause = { until: Number.NEGATIVE_INFINITY, retryAfterMs: 0 }
  /** Maximum number of attempts in flight. */
  #window = Number.POSITIVE_INFINITY
  /** Above this size the window grows slowly. The threshold is half of the size that led to the last 429. */
  #threshold = Number.POSITIVE_INFINITY
  /** The number of pauses so far. Attempts of an earlier epoch do not change the window. */
  #epoch = 0
  /** Attempts of this epoch that are in flight. */
  #inFlight = 0
  /** The number of responses other than 429 in this epoch. */
  #responses = 0
  /** The number of responses in the last epoch that had any. */
  #lastResponses = 0
  /** 1 after the first pause, and 1 more for each later pause that was too short. The backoff grows with this number. */
  #shortPauses = 0

  constructor(requestsPerSecond = Number.POSITIVE_INFINITY) {
    this.#intervalMs = 1_000 / requestsPerSecond
  }

  get isEmpty(): boolean {
    return this.#waiters.every(({ size }) => size === 0)
  }

  /** Whether the limit can be deleted: nothing waits or is in flight, and the interval and the pause are over. */
  isIdle(now: number): boolean {
    return this.isEmpty && this.#inFlight === 0 && now >= this.#nextStart && now >= this.#pausedUntil
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

  /** Returns the pause if calls must fail now; `undefined` if they can wait. */
  longPause(now: number): LongPause | undefined {
    return now < this.#longPause.until ? { retryAfterMs: this.#longPause.retryAfterMs } : undefined
  }

  add(waiter: Waiter): void {
    while (this.#waiters.length <= waiter.retry) this.#waiters.push(new Set())
    this.#waiters[waiter.retry]?.add(waiter)
  }

  remove(waiter: Waiter): void {
    this.#waiters[waiter.retry]?.delete(waiter)
  }

  /**
   * Removes and returns the next waiter. Retries go before first attempts. If a 429 is likely, the calls with the fewest
   * retries so far go first; otherwise the calls with the most.
   */
  take(): Waiter | undefined {
    const [firstAttempts = [], ...retries] = this.#waiters
    const ordered = this.isRisky ? retries : retries.reverse()
    for (const waiters of [...ordered, firstAttempts]) {
      for (const waiter of waiters) {
        this.remove(waiter)
        return waiter
      }
    }
    return undefined
  }

  /**
   * Whether the next attempt is likely to get a 429: few responses have arrived in this epoch, or its attempts have reached
   * half of `#lastResponses`.
   */
  get isRisky(): boolean {
    if (this.#epoch === 0) return false
    return this.#responses < MIN_RESPONSES || this.#responses + this.#inFlight >= this.#lastResponses / 2
  }

  /** Records the start of an attempt. Returns its epoch. */
  start(now: number): number {
    this.#inFlight++
    const isLate = now - this.#nextStart > MAX_DRIFT_MS
    this.#nextStart = (isLate ? now : this.#nextStart) + this.#intervalMs
    return this.#epoch
  }

  /** Records the end of an attempt. Resets the window and the backoff if no other attempt is left. */
  end(epoch: number): void {
    if (epoch === this.#epoch) this.#inFlight--
    if (this.#inFlight > 0 || this.#responses === 0 || !this.isEmpty) return
    this.#window = Number.POSITIVE_INFINITY
    this.#threshold = Number.POSITIVE_INFINITY
    this.#shortPauses = 0
  }

  recordResponse(epoch: number): void {
    if (epoch !== this.#epoch) return
    this.#window += this.#window < this.#threshold ? 1 : 1 / (SLOW_GROWTH * this.#window)
    this.#responses++
  }

  record429(epoch: number, now: number, retryAfterMs: number | undefined, backoffMs: (nth: number) => number): void {
    if (epoch === this.#epoch) {
      this.#epoch++
      if (this.#responses === 0 || this.#shortPauses === 0) this.#shortPauses++
      // Without a response, only the pause was too short: keep the threshold.
      if (this.#responses > 0) {
        this.#threshold = Math.max(1, Math.floor(Math.min(this.#window, this.#inFlight, this.#responses) / 2))
        this.#lastResponses = this.#responses
      }
      this.#responses = 0
      this.#window = 1
      this.#inFlight = 0
      this.#pauseFor(retryAfterMs ?? Math.min(backoffMs(this.#shortPauses), MAX_PAUSE_MS), now)
    } else if (retryAfterMs !== undefined) this.#pauseFor(retryAfterMs, now)
  }

  #pauseFor(ms: number, now: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.min(ms, MAX_PAUSE_MS))
    if (ms > MAX_PAUSE_MS) this.#longPause = { until: this.#pausedUntil, retryAfterMs: ms }
  }
}

/**
 * Admits attempts in order. Derived clients share one limiter and its `maxConcurrency`. Pauses and rates belong to a token,
 * so that a 429 of one tenant does not delay other tenants.
 */
export class RateLimiter {
  readonly #maxConcurrency: number
  readonly #requestsPerSecond: number | undefined
  /** By access token. The token that was admitted least recently comes first. */
  readonly #limits = new Map<unknown, TokenLimit>()
  #inFlight = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ maxConcurrency = Number.POSITIVE_INFINITY, requestsPerSecond }: RequestLimits = {}) {
    this.#maxConcurrency = maxConcurrency
    this.#requestsPerSecond = requestsPerSecond
  }

  /** Admits an attempt, or returns `undefined` if it must wait. Call {@link release} after the attempt. */
  tryAdmit(token: unknown): Slot | undefined {
    const limit = this.#limitOf(token)
    const now = performance.now()
    const isFree = this.#inFlight < this.#maxConcurrency && limit.nextStart <= now && limit.isEmpty
    return isFree ? this.#start(limit, now, now) : undefined
  }

  /**
   * Waits until an attempt may be sent. Call {@link release} after the attempt.
   *
   * @param retry - 0 for the first attempt of a call
   * @throws the reason of `signal`
   */
  async admit(
    token: unknown,
    retry: number,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Slot | LongPause | typeof TIMED_OUT> {
    const limit = this.#limitOf(token)
    const waiter = new Waiter(retry)
    const pause = limit.longPause(waiter.since)
    if (pause !== undefined) return pause
    limit.add(waiter)
    this.#admitNext()
    try {
      const result = await withTimeout(waiter.settled, timeoutMs, signal)
      if (result === TIMED_OUT) this.#leave(limit, waiter)
      return result
    } catch (reason) {
      this.#leave(limit, waiter)
      throw reason
    }
  }

  /** Removes a waiter that timed out or was aborted. */
  #leave(limit: TokenLimit, waiter: Waiter): void {
    const { state, slot } = waiter
    waiter.state = 'gone'
    if (state === 'waiting') {
      limit.remove(waiter)
      this.#admitNext()
    }
    // It was admitted just as it left.
    if (slot !== undefined) this.release(slot)
  }

  /** Records the end of an attempt and frees its slot. */
  release({ limit, epoch }: Slot): void {
    this.#inFlight--
    limit.end(epoch)
    this.#admitNext()
  }

  /** Records a response other than 429. Call it before {@link release}. */
  recordResponse({ limit, epoch }: Slot): void {
    limit.recordResponse(epoch)
  }

  /**
   * Records a 429. Call it before {@link release}.
   *
   * @param backoffMs - returns the pause if there is no `Retry-After`. Its argument is 1 for the first pause, and
   *   increases after each pause that was too short
   */
  record429({ limit, epoch }: Slot, retryAfterMs: number | undefined, backoffMs: (nth: number) => number): void {
    const now = performance.now()
    limit.record429(epoch, now, retryAfterMs, backoffMs)
    const pause = limit.longPause(now)
    if (pause === undefined) return
    for (let next = limit.take(); next !== undefined; next = limit.take()) next.refuse(pause)
  }

  /** Returns the rest of a token's pause in milliseconds. */
  pauseLeft(token: unknown): number {
    return this.#limitOf(token).pauseLeft(performance.now())
  }

  #start(limit: TokenLimit, since: number, now: number): Slot {
    this.#inFlight++
    return { limit, epoch: limit.start(now), waitedMs: now - since }
  }

  #limitOf(token: unknown): TokenLimit {
    const known = this.#limits.get(token)
    if (known !== undefined) return known
    if (this.#limits.size >= MAX_IDLE_TOKENS) this.#removeIdle(performance.now())
    const limit = new TokenLimit(this.#requestsPerSecond)
    this.#limits.set(token, limit)
    return limit
  }

  #removeIdle(now: number): void {
    for (const [token, limit] of this.#limits) {
      if (limit.isIdle(now)) this.#limits.delete(token)
    }
  }

  /** Admits the attempts that are due, round-robin over the tokens, and sets a timer for the next attempt. */
  #admitNext(): void {
    clearTimeout(this.#timer)
    while (this.#inFlight < this.#maxConcurrency) {
      const next = this.#nextLimit()
      if (next === undefined) return
      const [token, limit] = next
      const now = performance.now()
      const waitMs = limit.nextStart - now
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#admitNext(), Math.min(Math.ceil(waitMs), MAX_TIMER_MS))
        return
      }
      this.#limits.delete(token)
      this.#limits.set(token, limit)
      const waiter = limit.take()
      waiter?.admit(this.#start(limit, waiter.since, now))
    }
  }

  /** Returns the token whose waiters may start first; on a tie, the token that was admitted least recently. */
  #nextLimit(): readonly [token: unknown, limit: TokenLimit] | undefined {
    let next: readonly [unknown, TokenLimit] | undefined
    let earliest = Number.POSITIVE_INFINITY
    const now = performance.now()
    for (const entry of this.#limits) {
      const [, limit] = entry
      const at = limit.isEmpty ? Number.POSITIVE_INFINITY : Math.max(now, limit.nextStart)
      if (at >= earliest) continue
      earliest = at
      next = entry
    }
    return next
  }
}
