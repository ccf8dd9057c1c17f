import { AwardRunStoppedError, AwardUnsettledError } from './bulk-errors.ts'
import { CampaignError, type CampaignErrorCode } from './campaign-error.ts'
import {
  AccessDeniedError,
  AccessTokenError,
  ApiError,
  BadRequestError,
  ConfigurationError,
  InvalidRequestError,
  NetworkError,
  RateLimitError,
  ReferralRejectedError,
  ServiceError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedResponseError,
} from './client-errors.ts'
import { DiscardEvent, LeaseError, WebhookError, WebhookShapeError } from './webhook-errors.ts'

/** The class of each code. */
const CLASSES = {
  api_error: ApiError,
  bad_request: BadRequestError,
  unauthorized: UnauthorizedError,
  access_denied: AccessDeniedError,
  rate_limited: RateLimitError,
  service_error: ServiceError,
  referral_rejected: ReferralRejectedError,
  network: NetworkError,
  timeout: TimeoutError,
  unexpected_response: UnexpectedResponseError,
  invalid_request: InvalidRequestError,
  access_token: AccessTokenError,
  configuration: ConfigurationError,
  award_run_stopped: AwardRunStoppedError,
  award_unsettled: AwardUnsettledError,
  missing_signature: WebhookError,
  malformed_signature: WebhookError,
  signature_mismatch: WebhookError,
  body_not_raw: WebhookError,
  invalid_utf8: WebhookError,
  invalid_json: WebhookError,
  missing_id: WebhookError,
  unexpected_shape: WebhookShapeError,
  discard_event: DiscardEvent,
  lease_lost: LeaseError,
  run_time_exceeded: LeaseError,
  receiver_closed: LeaseError,
} satisfies Readonly<Record<CampaignErrorCode, new (...args: never[]) => CampaignError>>

/** All codes. */
export const ERROR_CODES = /* @__PURE__ */ Object.keys(CLASSES) as CampaignErrorCode[]

/**
 * Every error of this package, with literal codes: `switch (error.code)` narrows to the class of the code. Keep a `default`,
 * because a later version may add codes.
 */
export type AnyCampaignError =
  | (ApiError & { readonly code: 'api_error' })
  | BadRequestError
  | UnauthorizedError
  | AccessDeniedError
  | RateLimitError
  | ServiceError
  | ReferralRejectedError
  | NetworkError
  | TimeoutError
  | UnexpectedResponseError
  | InvalidRequestError
  | AccessTokenError
  | ConfigurationError
  | AwardRunStoppedError
  | AwardUnsettledError
  | WebhookError
  | WebhookShapeError
  | DiscardEvent
  | LeaseError

/**
 * Returns whether a value is an error of this package with a code that this version knows. It also recognises errors of
 * another loaded copy of the package.
 *
 * @example
 * ```ts
 * const award = { address: '0x52908400098527886E0F7030069857D2E4169EE7', pid: 'demo', id: 'launch-1', xp: 250 }
 * try {
 *   await client.rewardWallet(award)
 * } catch (error) {
 *   if (!isCampaignError(error)) throw error
 *   switch (error.code) {
 *     case 'rate_limited':
 *       console.log('wait', error.retryAfterMs)
 *       break
 *     case 'invalid_request':
 *       console.log(error.issues)
 *       break
 *     default:
 *       throw error
 *   }
 * }
 * ```
 */
export function isCampaignError(value: unknown): value is AnyCampaignError {
  if (!(value instanceof CampaignError)) return false
  const { code } = value
  return Object.hasOwn(CLASSES, code) && value instanceof CLASSES[code]
}
