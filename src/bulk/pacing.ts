import { type CampaignError, RateLimitError } from '../errors/client-errors.ts'
import { optional, wholeNumber, within } from '../errors/option-checks.ts'
import { MAX_PATIENCE_MS } from '../shared/award.ts'
import { Semaphore } from '../shared/semaphore.ts'
import type { CallOutcome } from './attempt.ts'

// When a run pauses, and when it stops because pauses do not help. `run.ts` has the other rules that stop a run: equal refusals
// (`MAX_REFUSALS`), unknown outcomes (`MAX_UNKNOWN`), the signal, the ledger and the list.

/** Calls pause after this many consecutive calls without a response. */
const MAX_UNREACHABLE = 3
/** Calls do not stop before this many consecutive pauses. */
const MIN_PAUSES = 3
const FIRST_PAUSE_MS = 250
const MAX_UNREACHABLE_PAUSE_MS = 15_000
/** The longest pause after a 429 without `Retry-After`. */
const MAX_RATE_LIMIT_PAUSE_MS = 30_000
/** Calls stop at a longer `Retry-After`. */
const MAX_RETRY_AFTER_MS = 15 * 60 * 1_000

export const DEFAULT_CONCURRENCY = 8
export const mustBeConcurrency = optional(wholeNumber(1, 1_000))
export const DEFAULT_PATIENCE_MS = 120_000
export const mustBePatience = optional(within('milliseconds', 0, MAX_PATIENCE_MS))

/** A time in which nothing is awarded or read, because the calls wait for the service. All times are in milliseconds. */
export interface Waiting {
  /** `rate_limit`: the service responds with 429. `outage`: it does not respond. */
  readonly for: 'rate_limit' | 'outage'
  /**
   * Rate limit: the time since the first consecutive 429. Outage: the time since the last response, or since the first failed
   * call started, if that was later.
   */
  readonly sinceMs: number
  /** The time until the next attempt; 0 while an attempt is in progress. */
  readonly nextAttemptMs: number
  /** The time until the calls stop if nothing changes. An attempt in progress is finished first. */
  readonly givesUpMs: number
}

interface PacerOptions {
  readonly concurrency: number
  /**
   * Calls stop after this time without a response, or with 429 as the only response. Before the first response, they stop
   * after three pauses without a response.
   */
  readonly patienceMs: number
  /** Called when the calls must stop. */
  readonly stopRun: (message: string, cause: unknown) => void
}

/**
 * Paces the calls for a list. It limits the calls in flight, and pauses them after a 429 or if the service is unreachable.
 * After a pause it sends one call as a probe, and the others when the probe has a response.
 */
export class Pacer {
  readonly #slots: Semaphore
  readonly #patienceMs: number
  readonly #stopRun: PacerOptions['stopRun']
  #state: 'open' | 'paused' | 'probe due' | 'probing' | 'stopped' = 'open'
  /** The number of pauses so far. Only a call that started after the last pause may start another pause. */
  #pauses = 0
  #pausedUntil = 0
  #timer: NodeJS.Timeout | undefined
  #waiting: (() => void)[] = []
  #unreachable = 0
  #unreachablePauses = 0
  #lastResponseAt: number | undefined
  /** When the consecutive calls without a response began. */
  #unreachableSince = 0
  #rateLimitPauses = 0
  #rateLimitedSince = 0
  /** The time that the service has asked for in `Retry-After` since `#rateLimitedSince`. It does not use up the patience. */
  #askedMs = 0
  #askedUntil = 0

  constructor({ concurrency, patienceMs, stopRun }: PacerOptions) {
    this.#slots = new Semaphore(concurrency)
    this.#patienceMs = patienceMs
    this.#stopRun = stopRun
  }

  /** Why the calls wait; null if they do not wait. */
  get waiting(): Waiting | null {
    const isOutage = this.#unreachablePauses > 0
    const pauses = isOutage ? this.#unreachablePauses : this.#rateLimitPauses
    if (pauses === 0 || this.#state === 'stopped') return null
    const now = performance.now()
    const nextAttemptMs = this.#state === 'paused' ? Math.max(0, this.#pausedUntil - now) : 0
    let pausesLeftMs = nextAttemptMs
    // The first `MIN_PAUSES` pauses are shorter than both maxima, so either maximum gives the same sum.
    for (let nth = pauses; nth < MIN_PAUSES; nth++) pausesLeftMs += doubled(nth, MAX_UNREACHABLE_PAUSE_MS)
    const [since, givesUpAt] = isOutage
      ? [this.#unreachableSince, this.#outageEndsAt]
      : [this.#rateLimitedSince, this.#rateLimitEndsAt]
    return {
      for: isOutage ? 'outage' : 'rate_limit',
      sinceMs: now - since,
      nextAttemptMs,
      givesUpMs: Math.max(pausesLeftMs, givesUpAt - now),
    }
  }

  /** Calls `send` as soon as a call may be sent. Without an `outcome`, the call says nothing about the service. */
  async call<Result extends { readonly outcome?: CallOutcome | undefined } | undefined>(
    send: () => Promise<Result>,
  ): Promise<Result> {
    await this.#slots.acquire()
    try {
      while (this.#state === 'paused' || this.#state === 'probing') {
        await new Promise<void>((resolve) => this.#waiting.push(resolve))
      }
      if (this.#state === 'probe due') this.#state = 'probing'
      const startedAt = performance.now()
      const pausesBefore = this.#pauses
      let outcome: CallOutcome | undefined
      try {
        const result = await send()
        outcome = result?.outcome
        return result
      } finally {
        this.#ended(outcome, startedAt, this.#pauses !== pausesBefore)
      }
    } finally {
      this.#slots.release()
    }
  }

  /** Ends the current pause and prevents further pauses. */
  stop(): void {
    this.#open()
    this.#state = 'stopped'
  }

  /** @param isStale - whether a pause has started during the call */
  #ended(outcome: CallOutcome | undefined, startedAt: number, isStale: boolean): void {
    switch (outcome?.kind) {
      case undefined:
      case 'invalid':
        if (!isStale) this.#replaceProbe()
        return
      case 'fatal':
        this.#stopRun('other calls would fail as well', outcome.error)
        return
      case 'unreachable':
        if (!isStale) this.#unreached(outcome.error, startedAt)
        return
      case 'rate_limited':
        this.#rateLimited(outcome.error, isStale)
        return
      default:
        this.#responded()
        this.#rateLimitPauses = 0
        if (!isStale) this.#open()
    }
  }

  #responded(): void {
    this.#lastResponseAt = performance.now()
    this.#unreachable = 0
    this.#unreachablePauses = 0
  }

  /** When calls stop in an outage; not before three pauses. */
  get #outageEndsAt(): number {
    return this.#unreachableSince + (this.#lastResponseAt === undefined ? 0 : this.#patienceMs)
  }

  #unreached(cause: CampaignError, startedAt: number): void {
    if (this.#unreachable === 0) this.#unreachableSince = Math.max(startedAt, this.#lastResponseAt ?? 0)
    this.#unreachable++
    const pauseMs = pauseWithin(this.#outageEndsAt, this.#unreachablePauses, MAX_UNREACHABLE_PAUSE_MS)
    if (this.#unreachable < MAX_UNREACHABLE) this.#replaceProbe()
    else if (pauseMs === undefined) this.#stopRun("the service can't be reached", cause)
    else {
      this.#unreachablePauses++
      this.#pause(pauseMs)
    }
  }

  /** When calls stop after consecutive 429s; not before three pauses. */
  get #rateLimitEndsAt(): number {
    return this.#rateLimitedSince + this.#askedMs + this.#patienceMs
  }

  #rateLimited(cause: CampaignError, isStale: boolean): void {
    this.#responded()
    const waitMs = askedWait(cause)
    if (waitMs !== undefined && waitMs > MAX_RETRY_AFTER_MS) {
      this.#stopRun(`the service asks to wait for ${Math.ceil(waitMs / 60_000)} minutes`, cause)
    } else if (!isStale) {
      this.#pauseForRateLimit(waitMs, cause)
    } else if (waitMs !== undefined && this.#state === 'paused') {
      // The call started before the pause: its 429 may extend the pause, but is not counted.
      this.#ask(waitMs)
      this.#pauseUntil(performance.now() + waitMs)
    }
  }

  #pauseForRateLimit(waitMs: number | undefined, cause: CampaignError): void {
    const now = performance.now()
    if (this.#rateLimitPauses === 0) {
      this.#rateLimitedSince = now
      this.#askedMs = 0
      this.#askedUntil = now
    }
    const pauseMs = pauseWithin(this.#rateLimitEndsAt, this.#rateLimitPauses, MAX_RATE_LIMIT_PAUSE_MS)
    if (pauseMs === undefined) {
      const seconds = Math.round((now - this.#rateLimitedSince) / 1_000)
      this.#stopRun(`the service has responded with 429 for ${seconds} s`, cause)
      return
    }
    this.#rateLimitPauses++
    if (waitMs !== undefined) this.#ask(waitMs)
    this.#pause(waitMs ?? pauseMs)
  }

  /** Adds `waitMs` from now to the time that `Retry-After` asked for. Overlapping waits count once. */
  #ask(waitMs: number): void {
    const now = performance.now()
    const from = Math.max(now, this.#askedUntil)
    this.#askedUntil = Math.max(from, now + waitMs)
    this.#askedMs += this.#askedUntil - from
  }

  #pause(ms: number): void {
    if (this.#state === 'stopped') return
    this.#state = 'paused'
    this.#pauses++
    this.#pausedUntil = 0
    this.#pauseUntil(performance.now() + ms)
  }

  #pauseUntil(time: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, time)
    clearTimeout(this.#timer)
    const leftMs = Math.max(0, this.#pausedUntil - performance.now())
    this.#timer = setTimeout(() => this.#admitProbe(), Math.ceil(leftMs))
  }

  #admitProbe(): void {
    this.#state = 'probe due'
    this.#waiting.shift()?.()
  }

  /** Makes the next call the probe, if the call that ended was the probe. */
  #replaceProbe(): void {
    if (this.#state === 'probing') this.#admitProbe()
  }

  #open(): void {
    clearTimeout(this.#timer)
    if (this.#state !== 'stopped') this.#state = 'open'
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

/** Returns the wait that a 429 asks for; `undefined` if it asks for none or for 0 ms. */
function askedWait(error: CampaignError): number | undefined {
  const limit = error instanceof RateLimitError ? error : error.cause
  const waitMs = limit instanceof RateLimitError ? limit.retryAfterMs : undefined
  return waitMs !== undefined && waitMs > 0 ? waitMs : undefined
}

/**
 * Returns the length of the next pause, which doubles with each consecutive pause. The first three pauses have their full length.
 * A later one ends at `endsAt` at the latest.
 *
 * @param pauses - the number of consecutive pauses so far
 * @returns `undefined` if no time is left
 */
function pauseWithin(endsAt: number, pauses: number, maxMs: number): number | undefined {
  const pauseMs = doubled(pauses, maxMs)
  if (pauses < MIN_PAUSES) return pauseMs
  const leftMs = endsAt - performance.now()
  return leftMs > 0 ? Math.min(leftMs, pauseMs) : undefined
}

const doubled = (pauses: number, maxMs: number): number => Math.min(maxMs, FIRST_PAUSE_MS * 2 ** pauses)
