import { type CampaignError, RateLimitError } from '../errors/client-errors.ts'
import { Semaphore } from '../shared/semaphore.ts'
import type { CallOutcome } from './call-outcome.ts'

/** Calls pause after this many consecutive calls without a response. */
const MAX_UNREACHABLE = 3
/** Calls do not stop before this many consecutive pauses without a response. */
const MIN_UNREACHABLE_PAUSES = 3
const MAX_UNREACHABLE_PAUSE_MS = 15_000
/** Calls stop at a 429 after this many consecutive pauses for a 429. */
const MAX_RATE_LIMIT_PAUSES = 30
/** Calls stop at a longer `Retry-After`. */
const MAX_RETRY_AFTER_MS = 15 * 60 * 1_000
const FIRST_PAUSE_MS = 250
const MAX_RATE_LIMIT_PAUSE_MS = 30_000

/** A time without a response, after three consecutive calls without one. All times are in milliseconds. */
export interface Outage {
  /** The time since the last response, or since the first call without a response if that call started later. */
  readonly sinceMs: number
  /** The time until the next attempt; 0 while an attempt is in progress. */
  readonly nextAttemptMs: number
  /** The time until the calls stop if there is still no response. An attempt in progress is finished first. */
  readonly givesUpMs: number
}

interface PacerOptions {
  readonly concurrency: number
  /** Calls stop after this time without a response. Before the first response, they stop after three pauses. */
  readonly patienceMs: number
  /** Called if other calls would fail as well, or if pauses did not help. */
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
  #rateLimitPauses = 0
  #lastResponseAt: number | undefined
  /** When the consecutive calls without a response began. */
  #unreachableSince = 0

  constructor({ concurrency, patienceMs, stopRun }: PacerOptions) {
    this.#slots = new Semaphore(concurrency)
    this.#patienceMs = patienceMs
    this.#stopRun = stopRun
  }

  get pauseLeftMs(): number {
    return this.#state === 'paused' ? Math.max(0, this.#pausedUntil - performance.now()) : 0
  }

  /** The current outage; null if there is none. */
  get outage(): Outage | null {
    if (this.#unreachablePauses === 0 || this.#state === 'stopped') return null
    const now = performance.now()
    const nextAttemptMs = this.pauseLeftMs
    let pausesLeftMs = nextAttemptMs
    for (let pauses = this.#unreachablePauses; pauses < MIN_UNREACHABLE_PAUSES; pauses++) {
      pausesLeftMs += unreachablePauseMs(pauses)
    }
    const givesUpMs = Math.max(pausesLeftMs, this.#givesUpAt - now)
    return { sinceMs: now - this.#unreachableSince, nextAttemptMs, givesUpMs }
  }

  /** Calls `send` as soon as a call may be sent. If `send` returns no `outcome`, it has sent nothing. */
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
      const result = await send()
      this.#ended(result?.outcome, startedAt, this.#pauses !== pausesBefore)
      return result
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

  /** When calls stop, unless fewer than three pauses have passed. */
  get #givesUpAt(): number {
    return this.#unreachableSince + (this.#lastResponseAt === undefined ? 0 : this.#patienceMs)
  }

  #unreached(cause: CampaignError, startedAt: number): void {
    if (this.#unreachable === 0) this.#unreachableSince = Math.max(startedAt, this.#lastResponseAt ?? 0)
    this.#unreachable++
    const patienceLeftMs = this.#givesUpAt - performance.now()
    if (this.#unreachable < MAX_UNREACHABLE) this.#replaceProbe()
    else if (this.#unreachablePauses < MIN_UNREACHABLE_PAUSES)
      this.#pause(unreachablePauseMs(this.#unreachablePauses++))
    else if (patienceLeftMs > 0) this.#pause(Math.min(patienceLeftMs, unreachablePauseMs(this.#unreachablePauses++)))
    else this.#stopRun("the service can't be reached", cause)
  }

  #rateLimited(cause: CampaignError, isStale: boolean): void {
    this.#responded()
    const waitMs = cause instanceof RateLimitError ? cause.retryAfterMs : undefined
    if (waitMs !== undefined && waitMs > MAX_RETRY_AFTER_MS) {
      this.#stopRun(`the service asks to wait for ${Math.ceil(waitMs / 60_000)} minutes`, cause)
    } else if (isStale) {
      // The call started before the pause: its 429 may extend the pause, but is not counted.
      if (waitMs !== undefined && this.#state === 'paused') this.#pauseUntil(performance.now() + waitMs)
    } else if (this.#rateLimitPauses < MAX_RATE_LIMIT_PAUSES) {
      const backoff = doubled(this.#rateLimitPauses++, MAX_RATE_LIMIT_PAUSE_MS)
      this.#pause(waitMs ?? backoff)
    } else {
      this.#stopRun(`the service still responds with 429 after ${MAX_RATE_LIMIT_PAUSES} pauses in a row`, cause)
    }
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
    this.#timer = setTimeout(() => this.#admitProbe(), Math.ceil(this.pauseLeftMs))
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

/** Returns a pause that doubles with each pause before it. */
const doubled = (pauses: number, maxMs: number): number => Math.min(maxMs, FIRST_PAUSE_MS * 2 ** pauses)

const unreachablePauseMs = (pauses: number): number => doubled(pauses, MAX_UNREACHABLE_PAUSE_MS)
