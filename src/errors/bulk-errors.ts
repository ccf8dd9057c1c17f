import type { AwardReport } from '../schemas/award-report.ts'
import { toVisible } from '../shared/text.ts'
import { isError } from '../shared/type-checks.ts'
import { CampaignError, type WriteOutcome } from './client-errors.ts'

/** Appends the cause's message in one line, without its full stop, if the cause is an `Error`. */
export function withCause(message: string, cause: unknown): string {
  try {
    return isError(cause) ? `${message}: ${toVisible(cause.message.replace(/\.$/, ''))}` : message
  } catch {
    return `${message}: its error cannot be read`
  }
}

/**
 * A run of awards stopped before its last row. The calls in flight were completed and recorded. The message says what to do:
 * usually, run the same list again with the same ledger.
 */
export class AwardRunStoppedError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'AwardRunStoppedError'
  declare readonly code: 'award_run_stopped'
  /** The report of the run until it stopped. */
  readonly report: AwardReport
  /** The error of a call, of the ledger or of the list, or the reason of the caller's signal. */
  declare readonly cause: unknown

  constructor(message: string, init: { cause: unknown; report: AwardReport }) {
    super(message, { code: 'award_run_stopped', operation: 'rewardWallets', cause: init.cause })
    this.report = init.report
  }
}

/** The reason of an {@link AwardUnsettledError}. */
export type UnsettledReason = 'busy' | 'indeterminate' | 'rate_limited' | 'not_sent' | 'refused_for_now'

/**
 * An award has no final verdict yet. Run the job again: a retry is safe.
 *
 * `reason`:
 * - `busy`: another process is making this award.
 * - `indeterminate`: the outcome is unknown after the last attempt.
 * - `rate_limited`: the service responded with 429.
 * - `not_sent`: the service could not be reached.
 * - `refused_for_now`: 401, 403 or 404, or there was no token. The same award may succeed later.
 */
export class AwardUnsettledError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'AwardUnsettledError'
  declare readonly code: 'award_unsettled'
  /** Why the award has no verdict. */
  readonly reason: UnsettledReason
  /** The time until the earliest retry, in milliseconds, if known. */
  declare readonly retryAfterMs?: number

  constructor(
    message: string,
    init: {
      reason: UnsettledReason
      retryAfterMs?: number | undefined
      cause?: unknown
      /** Whether an earlier attempt may have made the award. */
      isInDoubt?: boolean | undefined
    },
  ) {
    const outcome = init.isInDoubt ? 'unknown' : (writeOutcomeOf(init.cause) ?? 'unknown')
    super(message, { code: 'award_unsettled', operation: 'awardOne', cause: init.cause, outcome })
    this.reason = init.reason
    if (init.retryAfterMs !== undefined) this.retryAfterMs = init.retryAfterMs
  }
}

/** Returns the outcome of the cause; `undefined` if it has none or can't be read. */
function writeOutcomeOf(cause: unknown): WriteOutcome | undefined {
  try {
    return cause instanceof CampaignError ? cause.outcome : undefined
  } catch {
    return undefined
  }
}

/** The parts of an error's message, for the command: it names its own flags and gives its own advice. */
export interface MessageParts {
  /** What went wrong, without advice. */
  readonly text?: string
  /** On the error of a ledger of another target. */
  readonly rebind?: Readonly<{
    /** The values of `rebind.from` that move the ledger. */
    from: readonly [string, ...string[]]
    /** Whether `rebind` was given, with another value. */
    isWrong: boolean
  }>
  /** Whether the ledger is damaged or lost, and must be restored from a backup. */
  readonly isLedgerLost?: true
}

const partsByError = new WeakMap<Error, MessageParts>()

/** Adds the parts to an error. Printing the error does not show them. */
export function withParts<E extends Error>(error: E, parts: MessageParts): E {
  partsByError.set(error, parts)
  return error
}

/** Returns the parts of an error's message; `{}` if it has none. */
export const partsOf = (error: Error): MessageParts => partsByError.get(error) ?? {}
