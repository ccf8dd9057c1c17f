import { type ErrorContext, RateLimitError } from '../errors.ts'
import type { RequestLimits } from '../options.ts'
import { MAX_TIMER_MS } from '../shared/timers.ts'
import { Failure } from './failure.ts'
import { RateLimiter } from './rate-limiter.ts'
import { within } from './timeout.ts'

/** The admission of one attempt. */
export interface Admission {
  readonly queue: Queue
  /** The number of pauses of its token before the attempt. */
  readonly pauses: number
  readonly waitedMs: number
}

interface Waiting {
  /** How many attempts of its call were sent before. */
  readonly tried: number
  readonly admit: () => void
  readonly refuse: (reason: Failure) => void
}

/** The calls that wait for one token, in order. */
class Queue {
  readonly limiter: RateLimiter
  /** Indexed by the number of earlier attempts of the call. */
  readonly #waiting: Set<Waiting>[] = []

  constructor(limiter: RateLimiter) {
    this.limiter = limiter
  }

  get isEmpty(): boolean {
    return this.#waiting.every(({ size }) => size === 0)
  }

  add(waiting: Waiting): void {
    while (this.#waiting.length <= waiting.tried) this.#waiting.push(new Set())
    this.#waiting[waiting.tried]?.add(waiting)
  }

  /** @returns whether it was still waiting */
  delete(waiting: Waiting): boolean {
    return this.#waiting[waiting.tried]?.delete(waiting) ?? false
  }

  /** Retries go first. Where a 429 is likely, calls with more retries left go before those with fewer. */
  take(): Waiting | undefined {
    const [untried = [], ...tried] = this.#waiting
    const retries = this.limiter.isRisky ? tried : tried.reverse()
    for (const line of [...retries, untried]) {
      for (const first of line) {
        this.delete(first)
        return first
      }
    }
    return undefined
  }
}

/** From this number of queues on, idle ones are removed. */
const MAX_IDLE_QUEUES = 100

/**
 * Decides when an attempt may be sent. Derived clients share one throttle and its limit of attempts in flight. Pauses and
 * rates belong to a token, so that the 429 of one tenant does not delay the others.
 */
export class Throttle {
  readonly #maxConcurrency: number
  readonly #intervalMs: number
  readonly #queues = new Map<unknown, Queue>()
  #inFlight = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ maxConcurrency = Number.POSITIVE_INFINITY, requestsPerSecond }: RequestLimits = {}) {
    this.#maxConcurrency = maxConcurrency
    this.#intervalMs = requestsPerSecond === undefined ? 0 : 1_000 / requestsPerSecond
  }

  /** Admits an attempt if it need not wait. Call {@link release} when it has ended. */
  admitAtOnce(token: unknown): Admission | undefined {
    const queue = this.#queueOf(token)
    const now = performance.now()
    const isFree = queue.isEmpty && this.#inFlight < this.#maxConcurrency && queue.limiter.nextStart <= now
    return isFree ? this.#start(queue, now, now) : undefined
  }

  /**
   * Waits until an attempt may be sent. Call {@link release} when it has ended.
   *
   * @param tried - how many attempts of its call were sent before
   * @throws Failure when the service asks for a pause that is too long to wait for; otherwise as `within` rejects
   */
  async admit(token: unknown, tried: number, ms: number, signal: AbortSignal | undefined): Promise<Admission> {
    const since = performance.now()
    const queue = this.#queueOf(token)
    const refused = queue.limiter.refusal(since)
    if (refused !== undefined) throw refusal(refused)
    let admission: Admission | undefined
    let entry: Waiting | undefined
    try {
      return await within(
        ms,
        signal,
        () =>
          new Promise<Admission>((resolve, reject) => {
            entry = {
              tried,
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
    queue.limiter.ended(pauses, queue.isEmpty)
    this.#admitNext()
  }

  /** Records that the service answered an attempt with something other than 429. */
  answered({ queue, pauses }: Admission): void {
    queue.limiter.answered(pauses)
  }

  /**
   * Records that the service answered an attempt with 429. Call it before {@link release}.
   *
   * @param backoffMs - returns the pause without `Retry-After`, from the number of pauses that were too short
   */
  limited({ queue, pauses }: Admission, retryAfterMs: number | undefined, backoffMs: (nth: number) => number): void {
    const now = performance.now()
    queue.limiter.limited(pauses, now, retryAfterMs, backoffMs)
    const refused = queue.limiter.refusal(now)
    if (refused === undefined) return
    for (let next = queue.take(); next !== undefined; next = queue.take()) next.refuse(refusal(refused))
  }

  /** Returns how long the pause of a token still lasts, in milliseconds. */
  pauseLeft(token: unknown): number {
    return this.#queueOf(token).limiter.pauseLeft(performance.now())
  }

  #start(queue: Queue, since: number, now: number): Admission {
    this.#inFlight++
    return { queue, pauses: queue.limiter.start(now), waitedMs: now - since }
  }

  #queueOf(token: unknown): Queue {
    const known = this.#queues.get(token)
    if (known !== undefined) return known
    if (this.#queues.size >= MAX_IDLE_QUEUES) this.#dropIdle(performance.now())
    const queue = new Queue(new RateLimiter(this.#intervalMs))
    this.#queues.set(token, queue)
    return queue
  }

  #dropIdle(now: number): void {
    for (const [token, queue] of this.#queues) {
      if (queue.isEmpty && queue.limiter.isIdle(now)) this.#queues.delete(token)
    }
  }

  /** Admits the attempts that are due, round-robin over the tokens, and sets a timer for the next one. */
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

  /** Returns the token with the earliest start among those with waiting calls; on a tie, the least recently admitted. */
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

/** Nothing was sent: the service asks for a pause that is too long to wait for. */
function refusal(retryAfterMs: number): Failure {
  const toError = ({ operation, outcome }: ErrorContext): RateLimitError => {
    const seconds = Math.ceil(retryAfterMs / 1_000)
    const message = `${operation}: the service asked to wait ${seconds} s (HTTP 429); nothing was sent`
    return new RateLimitError(message, { operation, outcome, status: 429, headers: {}, retryAfterMs })
  }
  return new Failure('not_sent', toError, { retryAfterMs, final: true })
}
