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
import { typeName } from '../../shared/type-checks.ts'
import type { AwardFailure } from './verdict.ts'

/**
 * The outcome of one call of `rewardWallet`.
 *
 * - `awarded`: 200.
 * - `refused`: the service refused this award.
 * - `campaign_refused`: 403 or 404. Other rows of the campaign would get the same answer.
 * - `rate_limited`: 429.
 * - `unreachable`: no HTTP response from the service.
 * - `failed`: a response that leaves the outcome unknown, such as 500.
 * - `invalid`: the client refused the row before it sent anything.
 * - `fatal`: 401, no token, a wrong configuration, or an error of another library. Other rows would fail as well.
 */
export type CallOutcome =
  | { readonly kind: 'awarded'; readonly error?: never; readonly maybeApplied: false }
  | { readonly kind: 'invalid'; readonly error: InvalidRequestError; readonly maybeApplied: false }
  | { readonly kind: 'fatal'; readonly error: unknown; readonly maybeApplied: boolean }
  | {
      readonly kind: 'refused' | 'campaign_refused' | 'rate_limited' | 'unreachable' | 'failed'
      readonly error: CampaignError
      /** Whether an attempt of the call may have been applied despite the error. */
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
  // Another server answered, for instance with a redirect: if nothing was applied, the service was not reached.
  if (!(error instanceof ApiError)) return maybeApplied ? 'failed' : 'unreachable'
  const status = statusOf(error)
  if (error instanceof AccessDeniedError || status === NOT_FOUND) return 'campaign_refused'
  const isRefusal = status >= 400 && status < 500 && status !== REQUEST_TIMEOUT
  return isRefusal || !maybeApplied ? 'refused' : 'failed'
}

/** Returns the HTTP status of the error, or the code in its body if the HTTP status is 2xx. */
export const statusOf = ({ status, serviceCode }: ApiError): number =>
  status < 400 && serviceCode !== undefined ? serviceCode : status

const MAX_MESSAGE_LENGTH = 500

/** Describes an error for ledgers and reports. */
export function failureOf(error: unknown): AwardFailure {
  if (!(error instanceof CampaignError))
    return { code: 'unexpected', message: `the client threw ${safeMessage(error)}` }
  const status = error instanceof ApiError ? { status: error.status } : {}
  return { code: error.code, ...status, message: error.message.slice(0, MAX_MESSAGE_LENGTH) }
}

/** Returns the message of an error of this package, or the name of any other error, whose message may contain a secret. */
export function safeMessage(error: unknown): string {
  if (error instanceof CampaignError) return error.message
  return error instanceof Error ? String(error.name) : typeName(error)
}
