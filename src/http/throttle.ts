import { type ErrorContext, RateLimitError } from '../errors.ts'
import type { RequestLimits } from '../options.ts'
import { Failure } from './failure.ts'
import { Pace, type Waiting } from './pace.ts'
import { LONGEST_RETRY_AFTER_MS } from './retry.ts'
import { within } from './timeout.ts'

/** A place among the requests under way. */
export interface Admission {
  readonly token: unknown
  /** On the clock of `performance.now()`. */
  readonly startedAt: number
  readonly waitedMs: number
  readonly pace: Pace | undefined
}

/** More paces than this are looked through for those that can be forgotten. */
const MANY_PACES = 100

/**
 * Decides when an attempt may be sent. Clients that were derived from one another share one; pauses and rates belong to a
 * token, so that one tenant's 429 holds up nobody else.
 */
export class Throttle {
  readonly #maxConcurrency: number
  readonly #intervalMs: number
  readonly #paces = new Map<unknown, Pace>()
  #underWay = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ maxConcurrency = Number.POSITIVE_INFINITY, requestsPerSecond }: RequestLimits = {}) {
    this.#maxConcurrency = maxConcurrency
    this.#intervalMs = requestsPerSecond === undefined ? 0 : 1_000 / requestsPerSecond
  }

  /** Lets an attempt of a call with this token go at once, where nothing holds it up. {@link release} has to follow. */
  admitAtOnce(token: unknown): Admission | undefined {
    const isFree = this.#intervalMs === 0 && this.#underWay < this.#maxConcurrency && !this.#paces.has(token)
    return isFree ? this.#start(token, undefined, performance.now(), 0) : undefined
  }

  /**
   * Waits until an attempt of a call with this token may be sent. {@link release} has to follow.
   *
   * @param tried - how many attempts of its call there were before
   * @throws Failure when the service asks for a longer pause than anybody should wait for; what `within` rejects with.
   */
  async admit(token: unknown, tried: number, ms: number, signal: AbortSignal | undefined): Promise<Admission> {
    const atOnce = this.admitAtOnce(token)
    if (atOnce !== undefined) return atOnce
    const now = performance.now()
    const pace = this.#paceOf(token) ?? this.#newPace(token, now)
    const pauseMs = pace.pauseLeft(now)
    if (pauseMs > LONGEST_RETRY_AFTER_MS) throw pausedFailure(pauseMs)
    let admission: Admission | undefined
    let waiting: Waiting | undefined
    try {
      return await within(
        ms,
        signal,
        () =>
          new Promise<Admission>((resolve, reject) => {
            waiting = {
              tried,
              admit: () => {
                const startedAt = performance.now()
                admission = this.#start(token, pace, startedAt, startedAt - now)
                resolve(admission)
              },
              refuse: reject,
            }
            pace.join(waiting)
            this.#letGo()
          }),
      )
    } catch (reason) {
      // Given up in the very moment in which it was its turn.
      if (admission !== undefined) this.release(admission)
      else if (waiting !== undefined && pace.leave(waiting)) this.#letGo()
      throw reason
    }
  }

  /** An attempt has ended, whatever came of it. */
  release({ pace, token }: Admission): void {
    this.#underWay--
    pace?.ended()
    if (pace?.isIdle(performance.now())) this.#paces.delete(token)
    // Whoever waits, waits in a pace.
    if (pace !== undefined || this.#paces.size > 0) this.#letGo()
  }

  /** The service has answered an attempt with something else than 429. */
  accepted({ pace }: Admission): void {
    pace?.accepted()
  }

  /**
   * The service has answered an attempt with 429. To be told before the attempt is released.
   *
   * @param backoffMs - the pause where the service asks for none, by how many before it were too short
   */
  limited(
    { token, startedAt, pace }: Admission,
    retryAfterMs: number | undefined,
    backoffMs: (nth: number) => number,
  ): void {
    const now = performance.now()
    const paused = pace ?? this.#paceOf(token) ?? this.#newPace(token, now)
    paused.limited(startedAt, now, this.#underWay, retryAfterMs, backoffMs)
    const pauseMs = paused.pauseLeft(now)
    if (pauseMs > LONGEST_RETRY_AFTER_MS) {
      for (const { refuse } of paused.dismiss()) refuse(pausedFailure(pauseMs))
    }
  }

  /** How long the calls of a token wait, in milliseconds. */
  pauseLeft(token: unknown): number {
    return this.#paces.get(token)?.pauseLeft(performance.now()) ?? 0
  }

  #start(token: unknown, pace: Pace | undefined, startedAt: number, waitedMs: number): Admission {
    this.#underWay++
    pace?.started(startedAt)
    return { token, startedAt, waitedMs, pace }
  }

  /** One for every token when there is a rate; otherwise for those that have been paused. */
  #paceOf(token: unknown): Pace | undefined {
    return this.#paces.get(token) ?? (this.#intervalMs > 0 ? this.#newPace(token, performance.now()) : undefined)
  }

  #newPace(token: unknown, now: number): Pace {
    if (this.#paces.size > MANY_PACES) {
      for (const [each, pace] of this.#paces) if (pace.isIdle(now)) this.#paces.delete(each)
    }
    const pace = new Pace(this.#intervalMs)
    this.#paces.set(token, pace)
    return pace
  }

  /** Lets everybody go whose turn it is, the tokens taking turns, and comes back when time allows the next one. */
  #letGo(): void {
    clearTimeout(this.#timer)
    let next = this.#nextTurn()
    while (next !== undefined && next.at <= performance.now() && this.#underWay < this.#maxConcurrency) {
      const { token, pace } = next
      // To the end of the line of tokens.
      this.#paces.delete(token)
      this.#paces.set(token, pace)
      pace.next()?.admit()
      next = this.#nextTurn()
    }
    if (next === undefined || this.#underWay >= this.#maxConcurrency) return
    this.#timer = setTimeout(() => this.#letGo(), Math.ceil(next.at - performance.now()))
  }

  /** The token whose turn comes first, where time alone decides. */
  #nextTurn(): { readonly token: unknown; readonly pace: Pace; readonly at: number } | undefined {
    let first: { token: unknown; pace: Pace; at: number } | undefined
    const now = performance.now()
    for (const [token, pace] of this.#paces) {
      if (!pace.isAwaited) continue
      const at = Math.max(now, pace.nextStart())
      if (at < (first?.at ?? Number.POSITIVE_INFINITY)) first = { token, pace, at }
    }
    return first
  }
}

/** Nothing was sent, and waiting would take longer than anybody should be made to wait. */
function pausedFailure(retryAfterMs: number): Failure {
  const toError = ({ operation, outcome }: ErrorContext): RateLimitError => {
    const message = `${operation}: the service has asked to wait ${Math.ceil(retryAfterMs / 1_000)} s more (HTTP 429); nothing was sent`
    return new RateLimitError(message, { operation, outcome, status: 429, headers: {}, retryAfterMs })
  }
  return new Failure('not_sent', toError, { retryAfterMs, final: true })
}
