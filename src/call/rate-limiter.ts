import type { RequestLimits } from '../options.ts'
import { reasonOf, TIMED_OUT, withTimeout } from '../shared/timers.ts'
import { MAX_PAUSE_MS } from './retry.ts'

/** Timers fire late. A start that is late by at most this much does not delay the next start. */
const MAX_DRIFT_MS = 20
/** Above the threshold, a window of `n` grows by 1 after 50 × `n` responses. */
const SLOW_GROWTH = 50
/** After a pause, the service counts as available once it has sent this many responses. */
const MIN_RESPONSES = 3
/** If there are this many tokens, the idle ones are removed before a new one is added. */
const MAX_IDLE_TOKENS = 100
/** A waiting attempt checks at least this often whether it may start, in milliseconds. */
const CHECK_MS = 250
/** A waiting attempt that has not checked for this long does not hold others up: its call was abandoned, or the process was blocked. */
const MAX_SILENCE_MS = 1_000

/** The permission to send one attempt. */
export interface Slot {
  readonly limit: TokenLimit
  /** The epoch in which the attempt started. */
  readonly epoch: number
  /** The end of the attempt's time limit. From then on the slot is free, even if its call was abandoned and never releases it. */
  readonly endsAt: number
}

/** The service asked for a pause that is too long to wait for. */
interface LongPause {
  readonly retryAfterMs: number
}

/** An attempt that must wait, and its time limits. */
export interface Wait {
  /** 0 for the first attempt of a call. */
  readonly retry: number
  /** The time limit of the attempt, in milliseconds. */
  readonly attemptMs: number
  /** The time limit of the wait and the attempt together, in milliseconds. */
  readonly totalMs: number
  readonly signal: AbortSignal | undefined
  /** The {@link NotReady.since} of the attempt's last wait, if there was one. The attempt gets its place in the queue back. */
  readonly since: number | undefined
  /** Whether the attempt has a valid token. Called when it is the attempt's turn. */
  readonly isReady: () => boolean
}

/** The attempt got no slot: at its turn, it had no valid token. */
export interface NotReady {
  /** The value of `performance.now()` when the attempt began to wait. */
  readonly since: number
}

/** An attempt in the queue. */
class Waiter {
  /** 0 for the first attempt of a call. */
  readonly retry: number
  readonly since: number
  checkedAt = performance.now()
  /** Ends {@link sleep}. */
  wake: () => void = () => undefined

  constructor(retry: number, since: number | undefined) {
    this.retry = retry
    this.since = since ?? this.checkedAt
  }

  /** Waits for {@link wake}, at most for `ms`. Rejects with the signal's reason when `signal` aborts. */
  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve
    })
    await withTimeout(woken, ms, signal)
  }
}

/**
 * The queue and the pace of one access token. Attempts are spaced to meet `requestsPerSecond`. After a 429 they pause, then
 * 1, 2, 4, … attempts may be in flight as responses arrive. This is TCP slow start; the fields use its terms.
 *
 * All times are values of `performance.now()`.
 */
export class TokenLimit {
  /** Indexed by `Waiter.retry`. */
  readonly #waiters: Set<Waiter>[] = []
  readonly #intervalMs: number
  #nextStart = -Infinity
  #pausedUntil = -Infinity
  /** A `Retry-After` that is too long to wait for. Calls fail until the time `until`. */
  #longPause = { until: -Infinity, retryAfterMs: 0 }
  /** Maximum number of attempts in flight. */
  #window = Infinity
  /**
   * Above this size the window grows slowly. At a 429, it becomes half of the smallest of window, attempts in flight and
   * responses.
   */
  #threshold = Infinity
  /** The number of pauses so far. Attempts of an earlier epoch do not change the window. */
  #epoch = 0
  /** Attempts of this epoch that are in flight. */
  readonly #inFlight = new Set<Slot>()
  /** The number of responses other than 429 in this epoch. */
  #responses = 0
  /** The number of responses in the last epoch that had any. */
  #lastResponses = 0
  /** 1 after the first pause, and 1 more for each later pause that was too short. The backoff grows with this number. */
  #shortPauses = 0

  constructor(requestsPerSecond = Infinity) {
    this.#intervalMs = 1_000 / requestsPerSecond
  }

  /** Whether the limit can be deleted: nothing waits or is in flight, and the interval and the pause are over. */
  isIdle(now: number): boolean {
    removeEnded(this.#inFlight, now)
    return (
      this.next(now) === undefined && this.#inFlight.size === 0 && now >= this.#nextStart && now >= this.#pausedUntil
    )
  }

  /** Returns the time of the next start. Infinity if an attempt in flight must end first. */
  nextStart(now: number): number {
    return hasRoom(this.#inFlight, Math.floor(this.#window), now)
      ? Math.max(this.#nextStart, this.#pausedUntil)
      : Infinity
  }

  pauseLeft(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  /** Returns the pause if calls must fail now; `undefined` if they can wait. */
  longPause(now: number): LongPause | undefined {
    return now < this.#longPause.until ? { retryAfterMs: this.#longPause.retryAfterMs } : undefined
  }

  /** Adds a waiter to the end of its queue, or at its earlier place. Does nothing if it is in the queue. */
  add(waiter: Waiter): void {
    while (this.#waiters.length <= waiter.retry) this.#waiters.push(new Set())
    const queue = this.#waiters[waiter.retry] as Set<Waiter>
    if (queue.has(waiter)) return
    const isReturning = waiter.since < waiter.checkedAt
    const later = isReturning ? [...queue].filter(({ since }) => since > waiter.since) : []
    for (const each of [waiter, ...later]) {
      queue.delete(each)
      queue.add(each)
    }
  }

  remove(waiter: Waiter): void {
    this.#waiters[waiter.retry]?.delete(waiter)
  }

  /**
   * Returns the waiter that may start next, and removes those that have not checked for a while. Retries go before first
   * attempts. Among retries, the call with the fewest goes first if a 429 is likely, otherwise the call with the most.
   */
  next(now: number): Waiter | undefined {
    const [firstAttempts = [], ...retries] = this.#waiters
    const ordered = this.isRisky ? retries : retries.reverse()
    for (const waiters of [...ordered, firstAttempts]) {
      for (const waiter of waiters) {
        if (now - waiter.checkedAt < MAX_SILENCE_MS) return waiter
        this.remove(waiter)
      }
    }
    return undefined
  }

  wakeAll(): void {
    for (const waiters of this.#waiters) for (const waiter of waiters) waiter.wake()
  }

  /**
   * Whether the next attempt is likely to get a 429: few responses have arrived in this epoch, or its attempts have reached
   * half of `#lastResponses`.
   */
  get isRisky(): boolean {
    if (this.#epoch === 0) return false
    return this.#responses < MIN_RESPONSES || this.#responses + this.#inFlight.size >= this.#lastResponses / 2
  }

  /** Records the start of an attempt. */
  start(now: number, attemptMs: number): Slot {
    const slot = { limit: this, epoch: this.#epoch, endsAt: now + attemptMs }
    removeOldest(this.#inFlight, now)
    this.#inFlight.add(slot)
    const isLate = now - this.#nextStart > MAX_DRIFT_MS
    this.#nextStart = (isLate ? now : this.#nextStart) + this.#intervalMs
    return slot
  }

  /** Records the end of an attempt. Resets the window and the backoff if no other attempt is left, and there was a response. */
  end(slot: Slot, now: number): void {
    this.#inFlight.delete(slot)
    if (this.#window === Infinity) return
    removeEnded(this.#inFlight, now)
    if (this.#inFlight.size > 0 || this.#responses === 0 || this.next(now) !== undefined) return
    this.#window = Infinity
    this.#threshold = Infinity
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
        this.#threshold = Math.max(1, Math.floor(Math.min(this.#window, this.#inFlight.size, this.#responses) / 2))
        this.#lastResponses = this.#responses
      }
      this.#responses = 0
      this.#window = 1
      this.#inFlight.clear()
      this.#pauseFor(retryAfterMs ?? Math.min(backoffMs(this.#shortPauses), MAX_PAUSE_MS), now)
    } else if (retryAfterMs !== undefined) this.#pauseFor(retryAfterMs, now)
  }

  #pauseFor(ms: number, now: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.min(ms, MAX_PAUSE_MS))
    if (ms > MAX_PAUSE_MS) this.#longPause = { until: this.#pausedUntil, retryAfterMs: ms }
  }
}

/** Whether fewer than `max` attempts are in flight. Removes those whose time limit is over. */
function hasRoom(inFlight: Set<Slot>, max: number, now: number): boolean {
  if (inFlight.size >= max) removeEnded(inFlight, now)
  return inFlight.size < max
}

function removeEnded(inFlight: Set<Slot>, now: number): void {
  for (const slot of inFlight) {
    if (slot.endsAt <= now) inFlight.delete(slot)
  }
}

/**
 * Removes the oldest attempts if their time limit is over. Otherwise abandoned attempts would use up memory when nothing
 * limits the attempts in flight.
 */
function removeOldest(inFlight: Set<Slot>, now: number): void {
  for (const slot of inFlight) {
    if (slot.endsAt > now) return
    inFlight.delete(slot)
  }
}

/**
 * Admits attempts in order. Derived clients share one limiter and its `maxConcurrency`. Pauses and rates belong to a token,
 * so that a 429 of one tenant does not delay other tenants.
 *
 * No attempt depends on another call, because that call may have been abandoned: in Workers, a promise that is pending when
 * a request ends never settles. Each waiting attempt checks by its own timer whether it may start; waking it earlier only
 * saves time. A slot becomes free when its time limit is over, even without a release.
 */
export class RateLimiter {
  readonly #maxConcurrency: number
  readonly #requestsPerSecond: number | undefined
  /** By access token. {@link admit} moves a token to the end. */
  readonly #limits = new Map<unknown, TokenLimit>()
  readonly #inFlight = new Set<Slot>()

  constructor({ maxConcurrency = Infinity, requestsPerSecond }: RequestLimits = {}) {
    this.#maxConcurrency = maxConcurrency
    this.#requestsPerSecond = requestsPerSecond
  }

  /**
   * Admits an attempt, or returns `undefined` if it must wait. Call {@link release} after the attempt.
   *
   * @param attemptMs - the time limit of the attempt
   */
  tryAdmit(token: unknown, attemptMs: number): Slot | undefined {
    const limit = this.#limitOf(token)
    const now = performance.now()
    if (this.#delay(limit, undefined, now) > 0) return undefined
    return this.#start(limit, now, attemptMs)
  }

  /**
   * Waits until an attempt may be sent. Call {@link release} after the attempt.
   *
   * @throws the reason of `signal`
   */
  async admit(
    token: unknown,
    { retry, attemptMs, totalMs, signal, since, isReady }: Wait,
  ): Promise<Slot | LongPause | NotReady | typeof TIMED_OUT> {
    const limit = this.#limitOf(token)
    const waiter = new Waiter(retry, since)
    const until = waiter.checkedAt + totalMs
    try {
      for (;;) {
        if (signal?.aborted) throw reasonOf(signal)
        const now = performance.now()
        const pause = limit.longPause(now)
        if (pause !== undefined) return pause
        waiter.checkedAt = now
        limit.add(waiter)
        const delayMs = this.#delay(limit, waiter, now)
        if (delayMs <= 0) {
          if (!isReady()) return { since: waiter.since }
          this.#moveToEnd(token, limit)
          return this.#start(limit, now, Math.min(attemptMs, until - now))
        }
        if (now >= until) return TIMED_OUT
        await waiter.sleep(Math.ceil(Math.min(delayMs, CHECK_MS, until - now)), signal)
      }
    } finally {
      limit.remove(waiter)
      this.#wakeNext(limit)
    }
  }

  /** Records the end of an attempt and frees its slot. */
  release(slot: Slot): void {
    this.#inFlight.delete(slot)
    slot.limit.end(slot, performance.now())
    this.#wakeNext(slot.limit)
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
    if (limit.longPause(now) !== undefined) limit.wakeAll()
  }

  /** Returns the rest of a token's pause in milliseconds. */
  pauseLeft(token: unknown): number {
    return this.#limitOf(token).pauseLeft(performance.now())
  }

  /**
   * Returns how long an attempt must wait before it checks again, in milliseconds: at most 0 if it may start,
   * infinity if another attempt must start or end first.
   *
   * @param waiter - `undefined` for an attempt that is not in the queue
   */
  #delay(limit: TokenLimit, waiter: Waiter | undefined, now: number): number {
    if (limit.next(now) !== waiter) return Infinity
    const delayMs = limit.nextStart(now) - now
    if (delayMs > 0 || this.#maxConcurrency === Infinity) return delayMs
    if (!hasRoom(this.#inFlight, this.#maxConcurrency, now)) return Infinity
    const due = this.#dueLimit(now)
    return due === undefined || due === limit ? 0 : Infinity
  }

  #start(limit: TokenLimit, now: number, attemptMs: number): Slot {
    const slot = limit.start(now, attemptMs)
    removeOldest(this.#inFlight, now)
    this.#inFlight.add(slot)
    return slot
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

  /** The tokens take turns. */
  #moveToEnd(token: unknown, limit: TokenLimit): void {
    this.#limits.delete(token)
    this.#limits.set(token, limit)
  }

  /** Wakes the attempts that may start next: of the token, and of the token whose turn it is. */
  #wakeNext(limit: TokenLimit): void {
    const now = performance.now()
    limit.next(now)?.wake()
    if (this.#maxConcurrency < Infinity) this.#dueLimit(now)?.next(now)?.wake()
  }

  /** Returns the first limit with a waiter that may start now. */
  #dueLimit(now: number): TokenLimit | undefined {
    for (const limit of this.#limits.values()) {
      if (limit.nextStart(now) <= now && limit.next(now) !== undefined) return limit
    }
    return undefined
  }
}
