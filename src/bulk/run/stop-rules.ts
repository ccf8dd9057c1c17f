import { ApiError, type CampaignError, RateLimitError } from '../../errors.ts'
import { type CallOutcome, statusOf } from '../award/call-outcome.ts'

/** The run stops after this many equal refusals before any success: the list, the campaign or the token must be wrong. */
const MAX_REFUSALS = 20
/** The run pauses after this many consecutive calls without a response. */
const MAX_UNREACHABLE = 3
/** The run stops if it gets no response after this many consecutive pauses. */
const MAX_UNREACHABLE_PAUSES = 3
/** The run stops after this many consecutive responses that leave the outcome of the award unknown. */
const MAX_UNKNOWN = 100
/** The run stops at a 429 after this many consecutive pauses for a 429. */
const MAX_RATE_LIMIT_PAUSES = 30
/** The longest `Retry-After` that a run waits for. */
const MAX_RETRY_AFTER_MS = 15 * 60 * 1_000
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 30_000

export interface StopReason {
  readonly message: string
  readonly cause: unknown
}

interface Consequence {
  readonly stop?: StopReason
  readonly pauseMs?: number
}

/** Decides after each call whether the run pauses or stops. */
export class StopRules {
  readonly #refusals = new Map<string, number>()
  #hasSucceeded = false
  #unreachable = 0
  #unreachablePauses = 0
  #rateLimitPauses = 0
  #unknown = 0

  /** Call it for each award that was made in this run or an earlier run. */
  awardSucceeded(): void {
    this.#hasSucceeded = true
  }

  /** Returns whether to stop or pause after a call. @param isPaused - whether a pause has started during the call */
  callEnded(outcome: CallOutcome, isPaused: boolean): Consequence {
    const { kind, error } = outcome
    if (kind === 'unreachable') return isPaused ? {} : this.#unreached(outcome.error)
    if (kind === 'fatal') return { stop: { message: 'other awards would fail as well', cause: error } }
    this.#unreachable = 0
    this.#unreachablePauses = 0
    if (kind === 'rate_limited') return this.#rateLimited(outcome.error, isPaused)
    this.#rateLimitPauses = 0
    this.#unknown = kind === 'failed' ? this.#unknown + 1 : 0
    if (this.#unknown >= MAX_UNKNOWN) {
      return { stop: { message: `${MAX_UNKNOWN} consecutive awards ended with an unknown outcome`, cause: error } }
    }
    return kind === 'refused' ? this.#refused(outcome.error) : {}
  }

  #unreached(cause: CampaignError): Consequence {
    if (++this.#unreachable < MAX_UNREACHABLE) return {}
    if (this.#unreachablePauses === MAX_UNREACHABLE_PAUSES) {
      return { stop: { message: "the service can't be reached", cause } }
    }
    return { pauseMs: backoffMs(this.#unreachablePauses++) }
  }

  #rateLimited(cause: CampaignError, isPaused: boolean): Consequence {
    const waitMs = cause instanceof RateLimitError ? cause.retryAfterMs : undefined
    if (waitMs !== undefined && waitMs > MAX_RETRY_AFTER_MS) {
      return { stop: { message: `the service asks to wait for ${Math.ceil(waitMs / 60_000)} minutes`, cause } }
    }
    // A 429 during a pause extends the pause. It is not counted again.
    if (isPaused) return { pauseMs: waitMs ?? 0 }
    if (this.#rateLimitPauses === MAX_RATE_LIMIT_PAUSES) {
      return {
        stop: { message: `the service still answers 429 after ${MAX_RATE_LIMIT_PAUSES} pauses in a row`, cause },
      }
    }
    const backoff = backoffMs(this.#rateLimitPauses++)
    return { pauseMs: waitMs ?? backoff }
  }

  #refused(cause: CampaignError): Consequence {
    if (this.#hasSucceeded) return {}
    const kind = cause instanceof ApiError ? [cause.code, statusOf(cause), cause.reason].join(' ') : String(cause.code)
    const count = (this.#refusals.get(kind) ?? 0) + 1
    this.#refusals.set(kind, count)
    if (count < MAX_REFUSALS) return {}
    return { stop: { message: `${MAX_REFUSALS} awards were refused in the same way, and none was accepted`, cause } }
  }
}

const backoffMs = (pauses: number): number => Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses)
