import type { CampaignClient } from '../client.ts'
import type { UnsettledReason } from '../errors/bulk-errors.ts'
import {
  AccessDeniedError,
  AccessTokenError,
  ApiError,
  CampaignError,
  ConfigurationError,
  InvalidRequestError,
  NetworkError,
  RateLimitError,
  TimeoutError,
  UnauthorizedError,
} from '../errors/client-errors.ts'
import { mustBeFunction, type OptionRules, optional } from '../errors/option-checks.ts'
import type { AwardFailure, Verdict } from '../schemas/award-report.ts'
import { isFinal, USED_BEFORE } from '../shared/award.ts'
import { isError, isRecord, typeName } from '../shared/type-checks.ts'
import { type AwardResult, EVIDENCE_FAILED, type FinalResult, type RetryableVerdicts } from './ledger/award-state.ts'
import type { Attempt, AwardSession } from './ledger/ledger.ts'
import type { AwardRow } from './rows.ts'

const MAX_MESSAGE_LENGTH = 500

/** Describes an error for ledgers and reports. */
export function failureOf(error: unknown): AwardFailure {
  try {
    return readFailure(error)
  } catch {
    return { code: 'unexpected', message: 'the client threw an error that cannot be read' }
  }
}

function readFailure(error: unknown): AwardFailure {
  if (!(error instanceof CampaignError))
    return { code: 'unexpected', message: `the client threw ${safeMessage(error)}` }
  const status = error instanceof ApiError ? { status: error.status } : {}
  return { code: error.code, ...status, message: error.message.slice(0, MAX_MESSAGE_LENGTH) }
}

/** Returns the message of an error of this package, or the name of any other error, whose message may contain a secret. */
function safeMessage(error: unknown): string {
  try {
    if (error instanceof CampaignError) return error.message
    return isError(error) ? String(error.name) : typeName(error)
  } catch {
    return 'an error that cannot be read'
  }
}

/**
 * The result of `confirm`: the award was made (`true`), it was made with this amount (`{ xp }`), it was not made (`false`),
 * or nobody knows (`undefined`).
 */
export type Confirmation = true | { readonly xp: number } | false | undefined

/** Callbacks that find out why the service refused an id. The API description shows no error for a used id. */
export interface Evidence {
  /**
   * Returns whether the service refused the id because the id was used before; `undefined` if the response does not show it.
   * If it returns `true` and an attempt had an unknown outcome, that attempt made the award: the row is `alreadyAwarded`.
   * If it returns `true` and no attempt had an unknown outcome, the row is `rejected` with the code `id_used`.
   *
   * After an attempt with an unknown outcome, `false` counts only if the error has a `serviceCode` or a `reason`: a response
   * that was cut off, or that a proxy wrote, does not show the service's reason.
   */
  isUsedId?: ((error: ApiError) => boolean | undefined) | undefined
  /**
   * Looks for this award in your own records, or in the user's progress. If the award was made, and the ledger has no attempt
   * that can have made it, the row is `alreadyAwarded` with the code `used_before`. If the function returns another amount in
   * `{ xp }`, the row is `rejected` with the code `other_amount`.
   *
   * Return `false` only from a source that records every award: the row is then `rejected` with the code `not_confirmed`.
   * Return `undefined` if the user's progress does not show the award: the service may still be processing it.
   *
   * Give the function a time limit: the row is not finished until the function returns. When the run stops, a pending call
   * of `confirm` has ten seconds left. A reading of `confirmFromProgress` ends at once when you abort the run.
   *
   * `false` in place of a function turns it off.
   *
   * @defaultValue `confirmFromProgress(client)` if the client has `getUserProgress`
   */
  confirm?: ((row: AwardRow) => Confirmation | Promise<Confirmation>) | false | undefined
}

/** {@link Evidence} with its defaults. */
export interface Judge {
  readonly isUsedId: Evidence['isUsedId']
  readonly confirm: Exclude<Evidence['confirm'], false>
}

export const EVIDENCE_RULES: OptionRules<Evidence> = {
  isUsedId: optional(mustBeFunction),
  confirm: (value) =>
    value === undefined || value === false || typeof value === 'function'
      ? undefined
      : `must be a function or false, got ${value === true ? 'true' : typeName(value)}`,
}

export const retryableVerdicts = ({ confirm, isUsedId }: Judge, retryRejected = false): RetryableVerdicts => ({
  rejected: retryRejected,
  unconfirmed: confirm !== undefined || isUsedId !== undefined,
})

/**
 * Returns the result of a row whose id the service refused.
 *
 * @param maybeApplied - whether this attempt or an earlier one may have been applied
 */
async function judgeRefusal(
  row: AwardRow,
  error: CampaignError,
  maybeApplied: boolean,
  { isUsedId, confirm }: Judge,
): Promise<AwardResult> {
  const failure = failureOf(error)
  try {
    const confirmed = await confirmedResult(row, confirm)
    if (confirmed?.verdict === 'alreadyAwarded' && !maybeApplied) {
      const message = 'the id was used before, and no attempt of this ledger can have made the award'
      return { verdict: 'alreadyAwarded', failure: { ...failure, code: USED_BEFORE, message } }
    }
    if (confirmed !== undefined) return confirmed
    // Awaited because a JavaScript caller may pass an async function.
    const isUsed = await isUsedId?.(error as ApiError)
    if (isUsed === true) {
      return maybeApplied
        ? { verdict: 'alreadyAwarded' }
        : { verdict: 'rejected', failure: { ...failure, code: 'id_used' } }
    }
    const isOtherReason = isUsed === false && hasServiceReason(error)
    return { verdict: maybeApplied && !isOtherReason ? 'unconfirmed' : 'rejected', failure }
  } catch (reason) {
    const message = `isUsedId or confirm threw: ${safeMessage(reason)}`
    return { verdict: 'indeterminate', failure: { ...failure, code: EVIDENCE_FAILED, message } }
  }
}

/** Whether the response has the form of the service's errors. A response that was cut off is not JSON, and has neither field. */
const hasServiceReason = (error: CampaignError): boolean =>
  error instanceof ApiError && (error.serviceCode !== undefined || error.reason !== undefined)

/** Returns the result of a row that is `unconfirmed` in the ledger; `undefined` if the row must be sent again. */
async function judgeUnconfirmed(row: AwardRow, { isUsedId, confirm }: Judge): Promise<AwardResult | undefined> {
  if (confirm === undefined) return undefined
  try {
    const confirmed = await confirmedResult(row, confirm)
    return confirmed ?? (isUsedId === undefined ? { verdict: 'unconfirmed' } : undefined)
  } catch (reason) {
    const message = `confirm threw: ${safeMessage(reason)}`
    return { verdict: 'unconfirmed', failure: { code: EVIDENCE_FAILED, message } }
  }
}

/** Returns the result that `confirm` shows; `undefined` if it shows none. */
async function confirmedResult(row: AwardRow, confirm: Judge['confirm']): Promise<AwardResult | undefined> {
  // Pass a copy: the function of the caller may change its argument.
  const confirmation = await confirm?.({ ...row })
  if (confirmation === undefined) return undefined
  if (confirmation === true) return { verdict: 'alreadyAwarded' }
  if (confirmation === false) {
    const message = 'the service refused the id, and confirm returned false'
    return { verdict: 'rejected', failure: { code: 'not_confirmed', message } }
  }
  if (!isRecord(confirmation) || !Number.isFinite(confirmation.xp)) {
    throw new ConfigurationError(`confirm must return true, { xp }, false or undefined, got ${typeName(confirmation)}`)
  }
  if (confirmation.xp === row.xp) return { verdict: 'alreadyAwarded' }
  const message = `the id was used for ${confirmation.xp} XP, and the row has ${row.xp} XP`
  return { verdict: 'rejected', failure: { code: 'other_amount', message } }
}

/** An attempt before it is recorded. */
export interface Attempted {
  /** The outcome of the call; `undefined` if nothing was sent. */
  readonly outcome: CallOutcome | undefined
  /** The verdict; `undefined` if the award has none yet, for instance after a 429. */
  readonly verdict: Verdict | undefined
  readonly failure?: AwardFailure | undefined
}

/**
 * Calls the service for a claimed award. Never rejects.
 *
 * @param options - of the call; `undefined` for a client without internals
 */
export async function sendAward(
  client: Pick<CampaignClient, 'rewardWallet'>,
  row: AwardRow,
  options: object | undefined,
): Promise<CallOutcome> {
  try {
    // Pass a copy: the client may change its argument.
    const request = { ...row }
    await (options === undefined ? client.rewardWallet(request) : client.rewardWallet(request, options))
    return DONE
  } catch (error) {
    return outcomeOf(error)
  }
}

/**
 * Asks `confirm` about an award that is `unconfirmed` in the ledger. Never rejects.
 *
 * @returns `undefined` if the award must be sent
 */
export async function confirmAward({ row, previousVerdict }: Attempt, judge: Judge): Promise<Attempted | undefined> {
  const confirmed = previousVerdict === 'unconfirmed' ? await judgeUnconfirmed(row, judge) : undefined
  return confirmed && { outcome: undefined, ...confirmed }
}

/** Judges the outcome of a claimed award that was sent. Never rejects. */
export async function judgeOutcome(
  { row, isInDoubt }: Attempt,
  outcome: CallOutcome,
  judge: Judge,
): Promise<Attempted> {
  if (outcome.kind === 'done') return { outcome, verdict: 'awarded' }
  if (outcome.kind === 'refused') {
    return { outcome, ...(await judgeRefusal(row, outcome.error, isInDoubt || outcome.maybeApplied, judge)) }
  }
  const hasVerdict = outcome.kind === 'failed' || (outcome.kind === 'unreachable' && outcome.maybeApplied)
  return { outcome, verdict: hasVerdict ? 'indeterminate' : undefined, failure: failureOf(outcome.error) }
}

/** How an attempt ended. */
export type AttemptEnd =
  | ({ readonly kind: 'final' } & FinalResult)
  | {
      readonly kind: 'retry'
      readonly reason: UnsettledReason
      readonly afterMs?: number | undefined
      readonly failure?: AwardFailure | undefined
      readonly error?: unknown
    }
  | { readonly kind: 'invalid'; readonly error: InvalidRequestError }

/**
 * Writes the outcome of an attempt to the ledger.
 *
 * @throws the error of the ledger
 */
export async function recordAttempt(
  session: AwardSession,
  attempt: Attempt,
  attempted: Attempted,
): Promise<AttemptEnd> {
  const { outcome, verdict, failure } = attempted
  let recorded = verdict
  if (mustRecord(attempt, attempted)) {
    const state = await session.complete(attempt, verdict ?? 'indeterminate', failure)
    if (state === 'busy') return { kind: 'retry', reason: 'busy' }
    if (verdict !== undefined) recorded = state
  } else {
    // Records a failure of `confirm` or `isUsedId`. Otherwise, restores the state before the claim.
    await session.release(attempt, verdict === 'indeterminate' ? failure : undefined)
  }
  if (recorded !== undefined && isFinal(recorded)) return { kind: 'final', verdict: recorded, failure }
  if (outcome?.kind === 'invalid') return { kind: 'invalid', error: outcome.error }
  const error = outcome?.error
  const afterMs = error instanceof RateLimitError ? error.retryAfterMs : undefined
  return { kind: 'retry', reason: unsettledReasonOf(outcome), afterMs, failure, error }
}

/** Returns whether the ledger must record the verdict, because the attempt may have changed the state of the award. */
function mustRecord({ isInDoubt, previousVerdict }: Attempt, { outcome, verdict }: Attempted): boolean {
  // Nothing was sent: only `confirm` was asked.
  if (outcome === undefined) return verdict !== previousVerdict
  if (verdict !== undefined && isFinal(verdict)) return true
  if (outcome.maybeApplied) return true
  // The service refused the id, perhaps because an earlier attempt made the award: the award stays in doubt.
  return isInDoubt && verdict === 'indeterminate'
}

function unsettledReasonOf(outcome: CallOutcome | undefined): UnsettledReason {
  switch (outcome?.kind) {
    case 'rate_limited':
      return 'rate_limited'
    case 'unreachable':
      return outcome.maybeApplied ? 'indeterminate' : 'not_sent'
    case 'campaign_refused':
      return 'refused_for_now'
    case 'fatal':
      // An error of another library leaves the outcome unknown.
      return outcome.error instanceof CampaignError ? 'refused_for_now' : 'indeterminate'
    default:
      return 'indeterminate'
  }
}

/**
 * The outcome of one call.
 *
 * - `done`: the call succeeded.
 * - `refused`: the service refused this request.
 * - `campaign_refused`: 403 or 404.
 * - `rate_limited`: 429.
 * - `unreachable`: no HTTP response from the service.
 * - `failed`: a response that leaves the outcome unknown, such as 500.
 * - `invalid`: the client refused the arguments before it sent anything.
 * - `fatal`: 401, no token, a wrong configuration, or an error of another library. Other calls would fail as well.
 */
export type CallOutcome =
  | { readonly kind: 'done'; readonly error?: never; readonly maybeApplied: false }
  | { readonly kind: 'invalid'; readonly error: InvalidRequestError; readonly maybeApplied: false }
  | { readonly kind: 'fatal'; readonly error: unknown; readonly maybeApplied: boolean }
  | {
      readonly kind: 'refused' | 'campaign_refused' | 'rate_limited' | 'unreachable' | 'failed'
      readonly error: CampaignError
      /** Whether a write may have been applied despite the error. */
      readonly maybeApplied: boolean
    }

export const DONE: CallOutcome = { kind: 'done', maybeApplied: false }

const NOT_FOUND = 404
const REQUEST_TIMEOUT = 408

/** Returns the outcome of a call that failed with this error. If the error can't be read, the outcome is `fatal`. */
export function outcomeOf(error: unknown): CallOutcome {
  try {
    return readOutcome(error)
  } catch {
    return { kind: 'fatal', error, maybeApplied: true }
  }
}

function readOutcome(error: unknown): CallOutcome {
  if (!(error instanceof CampaignError)) return { kind: 'fatal', error, maybeApplied: true }
  if (error instanceof InvalidRequestError) return { kind: 'invalid', error, maybeApplied: false }
  if (error instanceof UnauthorizedError || error instanceof AccessTokenError || error instanceof ConfigurationError) {
    return { kind: 'fatal', error, maybeApplied: error.outcome === 'unknown' }
  }
  const maybeApplied = error.outcome !== 'not_applied'
  return { kind: kindOf(error, maybeApplied), error, maybeApplied }
}

function kindOf(error: CampaignError, maybeApplied: boolean) {
  if (error instanceof RateLimitError) return 'rate_limited'
  // After a 429, too little time was left to wait for a retry.
  if (error instanceof TimeoutError && error.cause instanceof RateLimitError) return 'rate_limited'
  if (error instanceof NetworkError || error instanceof TimeoutError) return 'unreachable'
  if (!(error instanceof ApiError)) return 'failed'
  const status = statusOf(error)
  if (error instanceof AccessDeniedError || status === NOT_FOUND) return 'campaign_refused'
  const isRefusal = status >= 400 && status < 500 && status !== REQUEST_TIMEOUT
  return isRefusal || !maybeApplied ? 'refused' : 'failed'
}

/** Returns the HTTP status of the error, or the code in its body if the HTTP status is 2xx. */
export const statusOf = ({ status, serviceCode }: ApiError): number =>
  status < 400 && serviceCode !== undefined ? serviceCode : status
