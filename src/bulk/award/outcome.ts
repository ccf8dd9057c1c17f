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
} from '../../errors.ts'
import { typeName } from '../../shared/types.ts'
import type { AwardFailure } from './verdict.ts'

/**
 * The outcome of one call of `rewardWallet`.
 *
 * - `awarded`: 200.
 * - `refused`: by the service, for a reason that lies in the award.
 * - `campaign_refused`: 403 or 404, which all rows of the campaign would get.
 * - `rate_limited`: 429.
 * - `unreachable`: there was no HTTP response.
 * - `failed`: a response that does not tell whether it was awarded, such as 500.
 * - `invalid`: refused by the client before anything was sent: the row, or the guard.
 * - `fatal`: every other row would fail as well: 401, no token, a wrongly configured client, or a foreign error.
 */
export type CallOutcome =
  | { readonly kind: 'awarded'; readonly error?: never; readonly maybeApplied: false }
  | { readonly kind: 'invalid'; readonly error: InvalidRequestError; readonly maybeApplied: false }
  | { readonly kind: 'fatal'; readonly error: unknown; readonly maybeApplied: boolean }
  | {
      readonly kind: 'refused' | 'campaign_refused' | 'rate_limited' | 'unreachable' | 'failed'
      readonly error: CampaignError
      /** Whether an attempt within the call may have been applied despite the error. */
      readonly maybeApplied: boolean
    }

const NOT_FOUND = 404
const REQUEST_TIMEOUT = 408

/** Returns the outcome of a call that failed with this error. */
export function outcomeOf(error: unknown): CallOutcome {
  if (!(error instanceof CampaignError)) return { kind: 'fatal', error, maybeApplied: true }
  if (error instanceof InvalidRequestError) return { kind: 'invalid', error, maybeApplied: false }
  const maybeApplied = error.outcome !== 'not_applied'
  if (error instanceof UnauthorizedError || error instanceof AccessTokenError || error instanceof ConfigurationError) {
    return { kind: 'fatal', error, maybeApplied: error.outcome === 'unknown' }
  }
  return { kind: kindOf(error, maybeApplied), error, maybeApplied }
}

function kindOf(error: CampaignError, maybeApplied: boolean) {
  if (error instanceof RateLimitError) return 'rate_limited'
  if (error instanceof NetworkError || error instanceof TimeoutError) return 'unreachable'
  // An unexpected response that certainly applied nothing came from another server: a redirect, for instance.
  if (!(error instanceof ApiError)) return maybeApplied ? 'failed' : 'unreachable'
  const status = statusOf(error)
  if (error instanceof AccessDeniedError || status === NOT_FOUND) return 'campaign_refused'
  const isRefusal = status >= 400 && status < 500 && status !== REQUEST_TIMEOUT
  return isRefusal || !maybeApplied ? 'refused' : 'failed'
}

/** The status of the error: on a 2xx answer, the code in its body. */
export const statusOf = ({ status, serviceCode }: ApiError): number =>
  status < 400 && serviceCode !== undefined ? serviceCode : status

const MAX_MESSAGE_LENGTH = 500

/** Describes an error for ledgers and reports. Foreign errors only by name: their messages may hold a secret. */
export function failureOf(error: unknown): AwardFailure {
  if (!(error instanceof CampaignError))
    return { code: 'unexpected', message: `the client threw ${safeMessage(error)}` }
  const status = error instanceof ApiError ? { status: error.status } : {}
  return { code: error.code, ...status, message: error.message.slice(0, MAX_MESSAGE_LENGTH) }
}

/** The message of an error of this package, which holds no secret, or the name of any other error. */
export function safeMessage(error: unknown): string {
  if (error instanceof CampaignError) return error.message
  return error instanceof Error ? String(error.name) : typeName(error)
}
