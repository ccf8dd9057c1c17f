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

/** Returns the outcome of a call that failed with this error. If its outcome can't be read, that is `fatal`. */
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
