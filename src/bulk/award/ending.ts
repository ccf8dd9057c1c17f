import {
  AccessDeniedError,
  AccessTokenError,
  ApiError,
  CampaignError,
  ConfigurationError,
  InvalidRequestError,
  RateLimitError,
  UnauthorizedError,
} from '../../errors.ts'
import { typeName } from '../../shared/types.ts'
import type { AwardFailure } from './verdict.ts'

/**
 * How one call of `rewardWallet` ended. `doubtful`: an attempt within it may have been applied all the same.
 *
 * - `awarded`: 200.
 * - `refused`: by the service, for a reason that lies in the award.
 * - `unknown`: the client has used up its attempts, and nobody knows.
 * - `unsent`: the service has not judged it: 429, or the request certainly never left.
 * - `invalid`: refused by the client before anything was sent: the row, or the guard.
 * - `campaignRefused`: 403 or 404, which all of the campaign's rows would get.
 * - `hopeless`: no row can go on: 401, no token, a client that is set up wrongly, or one that throws what none of ours does.
 */
export type Ending =
  | { readonly kind: 'awarded' }
  | {
      readonly kind: 'refused' | 'unknown' | 'unsent' | 'campaignRefused'
      readonly error: CampaignError
      readonly doubtful: boolean
    }
  | { readonly kind: 'invalid'; readonly error: InvalidRequestError }
  | { readonly kind: 'hopeless'; readonly error: unknown; readonly doubtful: boolean }

const FIRST_REFUSAL = 400
const FIRST_FAULT = 500
const REQUEST_TIMEOUT = 408
const NOT_FOUND = 404

/** Tells what the error of a call means. */
export function endingOf(error: unknown): Ending {
  if (!(error instanceof CampaignError)) return { kind: 'hopeless', error, doubtful: true }
  if (error instanceof InvalidRequestError) return { kind: 'invalid', error }
  const doubtful = error.outcome !== 'not_applied'
  if (error instanceof UnauthorizedError || error instanceof AccessTokenError || error instanceof ConfigurationError) {
    return { kind: 'hopeless', error, doubtful: error.outcome === 'unknown' }
  }
  if (error instanceof RateLimitError) return { kind: 'unsent', error, doubtful }
  if (!(error instanceof ApiError)) return { kind: doubtful ? 'unknown' : 'unsent', error, doubtful }

  const status = statusOf(error)
  if (error instanceof AccessDeniedError || status === NOT_FOUND) return { kind: 'campaignRefused', error, doubtful }
  const isRefusal = status >= FIRST_REFUSAL && status < FIRST_FAULT && status !== REQUEST_TIMEOUT
  return { kind: isRefusal || !doubtful ? 'refused' : 'unknown', error, doubtful }
}

/** The status that counts: on a 2xx answer, the code of the error in it. */
export const statusOf = ({ status, serviceCode }: ApiError): number =>
  status < FIRST_REFUSAL && serviceCode !== undefined ? serviceCode : status

/** What a ledger keeps of an error: of one that is not ours only what it is called, since nobody knows what it says. */
export function failureOf(error: unknown): AwardFailure {
  if (!(error instanceof CampaignError)) return { code: 'unexpected', message: `the client threw ${nameOf(error)}` }
  const status = error instanceof ApiError ? { status: error.status } : {}
  return { code: error.code, ...status, message: error.message.slice(0, LONGEST_MESSAGE) }
}

/** What an error of anybody is called. */
export function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.name) : typeName(error)
  } catch {
    return 'something that throws in its turn'
  }
}

const LONGEST_MESSAGE = 500
