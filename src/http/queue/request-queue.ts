import { type ErrorContext, RateLimitError } from '../../errors.ts'
import type { RequestLimits } from '../../options.ts'
import { MAX_TIMER_MS } from '../../shared/timers.ts'
import { Failure } from '../failure.ts'
import { withTimeout } from '../timeout.ts'
import { RateLimiter } from './rate-limiter.ts'

export interface Admission {
  readonly queue: TokenQueue
  /** The number of pauses of the token when the attempt started. */
  readonly pauses: number
  readonly waitedMs: number
}

interface Entry {
  /** 0 for the first attempt of a call. */
  readonly retry: number
  readonly admit: () => void
  readonly refuse: (reason: Failure) => void
}

/** The waiting calls of one token, in order. */
class TokenQueue {
  readonly limiter: RateLimiter
  /** Indexed by `Entry.retry`. */
  readonly #entries: Set<Entry>[] = []

  constructor(limiter: RateLimiter) {
    this.limiter = limiter
  }

  get isEmpty(): boolean {
    return this.#entries.every(({ size }) => size === 0)
  }

  add(entry: Entry): void {
    while (this.#entries.length <= entry.retry) this.#entries.push(new Set())
    this.#entries[entry.retry]?.add(entry)
  }

  /** Returns whether the entry was still waiting. */
  delete(entry: Entry): boolean {
    return this.#entries[entry.retry]?.delete(entry) ?? false
  }

  /**
   * Removes and returns the next entry. Retries go before first attempts. If a 429 is likely, the calls with the fewest
   * retries so far go first; otherwise the calls with the most.
   */
  take(): Entry | undefined {
    const [firstAttempts = [], ...retries] = this.#entries
    const ordered = this.limiter.isRisky ? retries : retries.reverse()
    for (const entries of [...ordered, firstAttempts]) {
      for (const entry of entries) {
        this.delete(entry)
        return entry
      }
    }
    return undefined
  }
}

/** If there are this many queues, the idle queues are removed before a new queue is added. */
const MAX_IDLE_QUEUES = 100

/**
 * Admits attempts in order. Derived clients share one queue and its `maxConcurrency`. Pauses and rates belong to a token,
 * so that a 429 of one tenant does not delay other tenants.
 */
export class RequestQueue {
  readonly #maxConcurrency: number
  readonly #requestsPerSecond: number | undefined
  readonly #queues = new Map<unknown, TokenQueue>()
  #inFlight = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ maxConcurrency = Number.POSITIVE_INFINITY, requestsPerSecond }: RequestLimits = {}) {
    this.#maxConcurrency = maxConcurrency
    this.#requestsPerSecond = requestsPerSecond
  }

  /** Admits an attempt, or returns `undefined` if it must wait. Call {@link release} after the attempt. */
  tryAdmit(token: unknown): Admission | undefined {
    const queue = this.#queueOf(token)
    const now = performance.now()
    const isFree = queue.isEmpty && this.#inFlight < this.#maxConcurrency && queue.limiter.nextStart <= now
    return isFree ? this.#start(queue, now, now) : undefined
  }

  /**
   * Waits until an attempt may be sent. Call {@link release} after the attempt.
   *
   * @param retry - 0 for the first attempt of a call
   * @throws Failure when the service asks for a pause that is too long to wait for
   * @throws `TIMED_OUT` after `ms`, or the signal's reason
   */
  async admit(token: unknown, retry: number, ms: number, signal: AbortSignal | undefined): Promise<Admission> {
    const since = performance.now()
    const queue = this.#queueOf(token)
    const retryAfterMs = queue.limiter.refusal(since)
    if (retryAfterMs !== undefined) throw pauseTooLong(retryAfterMs)
    let admission: Admission | undefined
    let entry: Entry | undefined
    try {
      return await withTimeout(
        ms,
        signal,
        () =>
          new Promise<Admission>((resolve, reject) => {
            entry = {
              retry,
              admit: () => {
                admission = this.#start(queue, since, performance.now())
                resolve(admission)
              },
              refuse: reject,
            }
            queue.add(entry)
            this.#admitNext()
          }),
      )
    } catch (reason) {
      // Aborted just as it was admitted: release the slot.
      if (admission !== undefined) this.release(admission)
      else if (entry !== undefined && queue.delete(entry)) this.#admitNext()
      throw reason
    }
  }

  /** Records the end of an attempt and frees its slot. */
  release({ queue, pauses }: Admission): void {
    this.#inFlight--
    queue.limiter.recordEnd(pauses, queue.isEmpty)
    this.#admitNext()
  }

  /** Records an answer other than 429. Call it before {@link release}. */
  recordAnswer({ queue, pauses }: Admission): void {
    queue.limiter.recordAnswer(pauses)
  }

  /**
   * Records a 429. Call it before {@link release}.
   *
   * @param backoffMs - returns the pause if there is no `Retry-After`. Its argument is 1 for the first pause, and
   *   increases after each pause that was too short
   */
  record429({ queue, pauses }: Admission, retryAfterMs: number | undefined, backoffMs: (nth: number) => number): void {
    const now = performance.now()
    queue.limiter.record429(pauses, now, retryAfterMs, backoffMs)
    const refusedMs = queue.limiter.refusal(now)
    if (refusedMs === undefined) return
    for (let next = queue.take(); next !== undefined; next = queue.take()) next.refuse(pauseTooLong(refusedMs))
  }

  /** Returns the rest of a token's pause in milliseconds. */
  pauseLeft(token: unknown): number {
    return this.#queueOf(token).limiter.pauseLeft(performance.now())
  }

  #start(queue: TokenQueue, since: number, now: number): Admission {
    this.#inFlight++
    return { queue, pauses: queue.limiter.recordStart(now), waitedMs: now - since }
  }

  #queueOf(token: unknown): TokenQueue {
    const known = this.#queues.get(token)
    if (known !== undefined) return known
    if (this.#queues.size >= MAX_IDLE_QUEUES) this.#removeIdle(performance.now())
    const queue = new TokenQueue(new RateLimiter(this.#requestsPerSecond))
    this.#queues.set(token, queue)
    return queue
  }

  #removeIdle(now: number): void {
    for (const [token, queue] of this.#queues) {
      if (queue.isEmpty && queue.limiter.isIdle(now)) this.#queues.delete(token)
    }
  }

  /** Admits the attempts that are due, round-robin over the tokens, and sets a timer for the next attempt. */
  #admitNext(): void {
    clearTimeout(this.#timer)
    while (this.#inFlight < this.#maxConcurrency) {
      const token = this.#nextToken()
      if (token === undefined) return
      const queue = this.#queueOf(token)
      const waitMs = queue.limiter.nextStart - performance.now()
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#admitNext(), Math.min(Math.ceil(waitMs), MAX_TIMER_MS))
        return
      }
      this.#queues.delete(token)
      this.#queues.set(token, queue)
      queue.take()?.admit()
    }
  }

  /** Returns the token whose waiting calls may start first; on a tie, the token that was admitted least recently. */
  #nextToken(): unknown {
    let next: unknown
    let earliest = Number.POSITIVE_INFINITY
    const now = performance.now()
    for (const [token, queue] of this.#queues) {
      const at = Math.max(now, queue.limiter.nextStart)
      if (queue.isEmpty || at >= earliest) continue
      earliest = at
      next = token
    }
    return next
  }
}

/** The failure of a call that was not sent because the pause is too long to wait for. */
function pauseTooLong(retryAfterMs: number): Failure {
  const toError = ({ operation, outcome }: ErrorContext): RateLimitError => {
    const seconds = Math.ceil(retryAfterMs / 1_000)
    const message = `${operation}: the service asked to wait ${seconds} s (HTTP 429); nothing was sent`
    return new RateLimitError(message, { operation, outcome, status: 429, headers: {}, retryAfterMs })
  }
  return new Failure('not_sent', toError, { retryAfterMs })
}
