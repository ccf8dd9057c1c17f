import { ApiError, type CampaignError, RateLimitError } from '../../errors.ts'
import { type CallOutcome, statusOf } from '../award/outcome.ts'
import type { Verdict } from '../award/verdict.ts'

/** Equal refusals before any success: the list, the campaign or the token must be wrong. */
const MAX_REFUSALS = 20
/** Consecutive calls without a response before a pause. */
const MAX_UNREACHABLE = 3
/** Consecutive pauses without a response. */
const MAX_UNREACHABLE_PAUSES = 3
/** Consecutive calls with a response that leaves the award's outcome unknown. */
const MAX_UNKNOWN = 100
/** Consecutive pauses that the service asked for. */
const MAX_RATE_LIMIT_PAUSES = 30
/** The longest wait that the service may ask for. */
const MAX_RATE_LIMIT_MS = 15 * 60 * 1_000
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 30_000

/** Why a run must end before its rows do. */
export interface StopReason {
  readonly why: string
  readonly cause: unknown
}

/** What the outcome of a call means for the run. */
export interface Consequence {
  readonly stop?: StopReason
  /** How long to hold calls back, in milliseconds. */
  readonly pauseMs?: number
}

/** Counts how calls end, and tells when to pause and when to stop. */
export class StopRules {
  readonly #refusals = new Map<string, number>()
  #hasSucceeded = false
  #unreachable = 0
  #unreachablePauses = 0
  #rateLimitPauses = 0
  #unknown = 0

  /** An award was made, now or in an earlier run. */
  succeeded(): void {
    this.#hasSucceeded = true
  }

  /** @param isPaused - whether a pause began while the call was under way: it then belongs to that pause */
  ended(outcome: CallOutcome, verdict: Verdict | undefined, isPaused: boolean): Consequence {
    const { kind, error } = outcome
    if (kind === 'unreachable') return isPaused ? {} : this.#unreached(outcome.error)
    if (kind === 'invalid') return {}
    if (kind === 'fatal') return { stop: { why: 'no award can go on', cause: error } }
    this.#unreachable = 0
    this.#unreachablePauses = 0
    if (kind === 'rate_limited') return this.#rateLimited(outcome.error, isPaused)
    this.#rateLimitPauses = 0
    this.#unknown = kind === 'failed' ? this.#unknown + 1 : 0
    if (this.#unknown >= MAX_UNKNOWN) {
      return { stop: { why: `${MAX_UNKNOWN} consecutive awards ended with an unknown outcome`, cause: error } }
    }
    if (verdict === 'awarded' || verdict === 'alreadyAwarded') this.succeeded()
    return kind === 'refused' && verdict !== 'alreadyAwarded' ? this.#refused(outcome.error) : {}
  }

  #unreached(error: CampaignError): Consequence {
    if (++this.#unreachable < MAX_UNREACHABLE) return {}
    if (this.#unreachablePauses === MAX_UNREACHABLE_PAUSES) {
      return { stop: { why: "the service can't be reached", cause: error } }
    }
    return { pauseMs: backoffMs(this.#unreachablePauses++) }
  }

  #rateLimited(error: CampaignError, isPaused: boolean): Consequence {
    const waitMs = error instanceof RateLimitError ? error.retryAfterMs : undefined
    if (waitMs !== undefined && waitMs > MAX_RATE_LIMIT_MS) {
      return { stop: { why: `the service asks to wait for ${Math.ceil(waitMs / 60_000)} minutes`, cause: error } }
    }
    if (isPaused) return { pauseMs: waitMs ?? 0 }
    if (this.#rateLimitPauses === MAX_RATE_LIMIT_PAUSES) {
      return { stop: { why: 'the service goes on asking to wait', cause: error } }
    }
    const backoff = backoffMs(this.#rateLimitPauses++)
    return { pauseMs: waitMs ?? backoff }
  }

  #refused(error: CampaignError): Consequence {
    if (this.#hasSucceeded) return {}
    const kind = error instanceof ApiError ? [error.code, statusOf(error), error.reason].join(' ') : String(error.code)
    const count = (this.#refusals.get(kind) ?? 0) + 1
    this.#refusals.set(kind, count)
    if (count < MAX_REFUSALS) return {}
    return { stop: { why: `${MAX_REFUSALS} awards were refused in the same way, and none was accepted`, cause: error } }
  }
}

const backoffMs = (pauses: number): number => Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses)
