import { ApiError, type CampaignError } from '../../errors.ts'
import { statusOf } from '../award/ending.ts'

/** Refusals of one kind, before anything succeeded, after which the list, the campaign or the token must be wrong. */
const REFUSALS = 20
/** Pauses in a row after which nothing reached the service. In each call the client has retried as it is told to. */
const UNREACHED = 3
/** Calls in a row of which nobody knows the end. */
const UNKNOWN = 100
/** Pauses in a row after which the service still only asked to wait. */
const RATE_LIMITED = 30
/** What the service may ask for and still be waited for. */
const LONGEST_WAIT_MS = 15 * 60 * 1_000

/** Why a run must end before its rows do. */
export interface StopReason {
  readonly why: string
  readonly cause: CampaignError
}

/** Counts how calls end, and says when it makes no sense to go on. */
export class StopRules {
  readonly #refusals = new Map<string, number>()
  #succeeded = false
  #unreached = 0
  #unknown = 0
  #limited = 0

  succeeded(): void {
    this.#succeeded = true
    this.answered()
  }

  /** @param isNews - false for a row that has been refused before */
  refused(error: CampaignError, isNews: boolean): StopReason | undefined {
    this.answered()
    if (this.#succeeded || !isNews) return undefined
    const kind = kindOf(error)
    const count = (this.#refusals.get(kind) ?? 0) + 1
    this.#refusals.set(kind, count)
    if (count < REFUSALS) return undefined
    return { why: `${REFUSALS} awards were refused in the same way, and none was accepted`, cause: error }
  }

  /** The service is there, whatever it said. */
  answered(): void {
    this.#unreached = 0
    this.#unknown = 0
    this.#limited = 0
  }

  unknown(error: CampaignError): StopReason | undefined {
    this.#unknown++
    if (this.#unknown < UNKNOWN) return undefined
    return { why: `of ${UNKNOWN} awards in a row nobody knows whether they were made`, cause: error }
  }

  rateLimited(error: CampaignError, waitMs: number): StopReason | undefined {
    if (waitMs > LONGEST_WAIT_MS) {
      return { why: `the service asks to wait for ${Math.ceil(waitMs / 60_000)} minutes`, cause: error }
    }
    this.#limited++
    if (this.#limited < RATE_LIMITED) return undefined
    return { why: 'the service goes on asking to wait', cause: error }
  }

  unreached(error: CampaignError): StopReason | undefined {
    this.#unreached++
    if (this.#unreached < UNREACHED) return undefined
    return { why: "the service can't be reached", cause: error }
  }
}

const kindOf = (error: CampaignError): string =>
  error instanceof ApiError ? [error.code, statusOf(error), error.reason].join(' ') : error.code
