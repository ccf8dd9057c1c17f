import { CampaignError } from '../errors.ts'
import type { AwardReport } from './report/report.ts'

/** The message of an error for use inside another message: without its docs address and full stop. */
export function quotable(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const address = error instanceof CampaignError ? ` (${error.docsPath})` : ''
  return error.message.replace(address, '').replace(/\.$/, '')
}

/**
 * A run of awards ended before its last row. Awards in flight were completed and recorded. Run the same list
 * again with the same ledger to go on.
 */
export class AwardRunStoppedError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'AwardRunStoppedError'
  /** The report of the run up to that point. */
  readonly report: AwardReport
  /** The reason for the end: the error of a call, of the ledger or of the list, or the reason of the caller's signal. */
  declare readonly cause: unknown

  constructor(message: string, init: { cause: unknown; report: AwardReport }) {
    super(message, { code: 'award_run_stopped', operation: 'rewardWallets', cause: init.cause })
    this.report = init.report
  }
}

/** Why {@link AwardUnsettledError} has no verdict. */
export type UnsettledReason = 'busy' | 'indeterminate' | 'rate_limited' | 'not_sent' | 'refused_for_now'

/**
 * One award has no final verdict yet. Run the job again: a retry is safe.
 *
 * `reason`:
 * - `busy`: another process is making this award.
 * - `indeterminate`: the attempts are used up, and the outcome is unknown.
 * - `rate_limited`: the service asks to wait.
 * - `not_sent`: the service could not be reached.
 * - `refused_for_now`: 401, 403 or 404, or there was no token. The award itself is not the reason.
 */
export class AwardUnsettledError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'AwardUnsettledError'
  /** Why there is no verdict. */
  readonly reason: UnsettledReason
  /** When to retry at the earliest, in milliseconds from now, if known. */
  declare readonly retryAfterMs?: number

  constructor(message: string, init: { reason: UnsettledReason; retryAfterMs?: number | undefined; cause?: unknown }) {
    const outcome = (init.cause instanceof CampaignError ? init.cause.outcome : undefined) ?? 'unknown'
    super(message, { code: 'award_unsettled', operation: 'awardOne', cause: init.cause, outcome })
    this.reason = init.reason
    if (init.retryAfterMs !== undefined) this.retryAfterMs = init.retryAfterMs
  }
}
