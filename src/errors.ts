import type { OpenString } from './schemas/fields.ts'
import { capped, type Issue } from './schemas/issue.ts'
import { type ApiErrorCode, CampaignError, type WriteOutcome } from './shared/campaign-error.ts'

export type { Issue } from './schemas/issue.ts'
export {
  type ApiErrorCode,
  CampaignError,
  type CampaignErrorCode,
  type CampaignErrorInit,
  type WriteOutcome,
} from './shared/campaign-error.ts'

/** The call an error belongs to. */
export interface ErrorContext {
  operation?: string | undefined
  outcome?: WriteOutcome | undefined
  cause?: unknown
}

/** The issues of an error. It keeps the first 20 and counts the others. */
export interface IssuesInit {
  issues: readonly Issue[]
  moreIssues?: number | undefined
}

/** Details of the answer for an {@link ApiError}. */
export interface ApiErrorInit extends ErrorContext {
  status: number
  serviceCode?: number | undefined
  reason?: string | undefined
  headers: Readonly<Record<string, string>>
  retryAfterMs?: number | undefined
}

/** The service answered, and the answer is an error. Interface: [Errors](/the-service#errors). */
export class ApiError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'ApiError'
  declare readonly code: ApiErrorCode
  /** The HTTP status of the answer. It may be 2xx: the service reports some errors that way. */
  readonly status: number
  /** The `error.code` of the standard envelope. Absent if the answer had none. */
  declare readonly serviceCode?: number
  /** The string-form error. Absent if the service sent another form. */
  declare readonly reason?: OpenString<ReferralRejection>
  /** The headers of the answer that help to trace it: an allow-list, never cookies or credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** How long the service asks to wait, in milliseconds, from a well-formed `Retry-After`. */
  declare readonly retryAfterMs?: number

  constructor(message: string, init: ApiErrorInit, code: ApiErrorCode = 'api_error') {
    super(message, { ...init, code })
    this.status = init.status
    if (init.serviceCode !== undefined) this.serviceCode = init.serviceCode
    if (init.reason !== undefined) this.reason = init.reason
    this.headers = init.headers
    if (init.retryAfterMs !== undefined) this.retryAfterMs = init.retryAfterMs
  }
}

/** 400: the service could not use the request. Correct the arguments; a retry will fail the same way. */
export class BadRequestError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'BadRequestError'
  declare readonly code: 'bad_request'
  constructor(message: string, init: ApiErrorInit) {
    super(message, init, 'bad_request')
  }
}

/** 401: the token is missing, invalid or expired. The message says so when its `exp` had passed. */
export class UnauthorizedError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'UnauthorizedError'
  declare readonly code: 'unauthorized'
  constructor(message: string, init: ApiErrorInit) {
    super(message, init, 'unauthorized')
  }
}

/** 403: a valid token without permission, for instance for another organization's campaign. */
export class AccessDeniedError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'AccessDeniedError'
  declare readonly code: 'access_denied'
  constructor(message: string, init: ApiErrorInit) {
    super(message, init, 'access_denied')
  }
}

/** 429: too many requests. Thrown when no retries are left, or `Retry-After` is longer than 30 s. */
export class RateLimitError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'RateLimitError'
  declare readonly code: 'rate_limited'
  constructor(message: string, init: ApiErrorInit) {
    super(message, init, 'rate_limited')
  }
}

/** 5xx: the service failed. A write may have been applied: see `outcome`. */
export class ServiceError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'ServiceError'
  declare readonly code: 'service_error'
  constructor(message: string, init: ApiErrorInit) {
    super(message, init, 'service_error')
  }
}

/**
 * The string-form errors that the interface shows.
 * Interface: [String errors](/the-service#string-errors).
 */
export type ReferralRejection = 'missing_user' | 'self_referral_not_allowed'

/**
 * The service refused a referral and said why in string form.
 * Interface: [String errors](/the-service#string-errors).
 */
export class ReferralRejectedError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'ReferralRejectedError'
  declare readonly code: 'referral_rejected'
  /** Why: a required user does not exist, or the user would refer themselves. */
  declare readonly reason: OpenString<ReferralRejection>
  constructor(message: string, init: ApiErrorInit & { reason: string }) {
    super(message, init, 'referral_rejected')
  }
}

/** No answer: the connection was refused, reset or lost, the name not found, or `fetch` returned no `Response`. */
export class NetworkError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'NetworkError'
  declare readonly code: 'network'
  /** The error code of the operating system, such as `ECONNRESET` or `ENOTFOUND`, if there was one. */
  declare readonly systemCode?: string
  constructor(message: string, init: ErrorContext & { systemCode?: string | undefined }) {
    super(message, { ...init, code: 'network' })
    if (init.systemCode !== undefined) this.systemCode = init.systemCode
  }
}

/** One attempt, or the call as a whole, took too long. */
export class TimeoutError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'TimeoutError'
  declare readonly code: 'timeout'
  /** `'attempt'`: the last attempt ran into `timeoutMs`. `'total'`: the call ran into `totalTimeoutMs`. */
  readonly scope: 'attempt' | 'total'
  /** The limit that was reached, in milliseconds. */
  readonly timeoutMs: number
  constructor(message: string, init: ErrorContext & { scope: 'attempt' | 'total'; timeoutMs: number }) {
    super(message, { ...init, code: 'timeout' })
    this.scope = init.scope
    this.timeoutMs = init.timeoutMs
  }
}

/** The interface does not describe such an answer: not JSON, no envelope, data of another shape, or a redirect. */
export class UnexpectedResponseError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'UnexpectedResponseError'
  declare readonly code: 'unexpected_response'
  /** The HTTP status of the answer. 0 for a redirect in a browser, which hides its status. */
  readonly status: number
  /** What did not fit, with paths from the root of the body. Never values. The first 20. */
  readonly issues: readonly Issue[]
  /** How many issues there are besides those in `issues`. Absent where there are no more. */
  declare readonly moreIssues?: number
  constructor(message: string, init: ErrorContext & IssuesInit & { status: number }) {
    super(message, { ...init, code: 'unexpected_response' })
    this.status = init.status
    const { issues, moreIssues } = capped(init.issues, init.moreIssues)
    this.issues = issues
    if (moreIssues > 0) this.moreIssues = moreIssues
  }
}

/** An argument is wrong. Nothing was sent. */
export class InvalidRequestError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'InvalidRequestError'
  declare readonly code: 'invalid_request'
  /** What is wrong, with paths from the root of the argument; call options start with `'options'`. The first 20. */
  readonly issues: readonly Issue[]
  /** How many issues there are besides those in `issues`. Absent where there are no more. */
  declare readonly moreIssues?: number
  constructor(message: string, init: ErrorContext & IssuesInit) {
    super(message, { ...init, code: 'invalid_request' })
    const { issues, moreIssues } = capped(init.issues, init.moreIssues)
    this.issues = issues
    if (moreIssues > 0) this.moreIssues = moreIssues
  }
}

/** The token source threw, or returned a value that cannot be sent as a bearer token. */
export class AccessTokenError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'AccessTokenError'
  declare readonly code: 'access_token'
  constructor(message: string, init: ErrorContext = {}) {
    super(message, { ...init, code: 'access_token' })
  }
}

/** The client is set up wrongly. Nothing was sent. */
export class ConfigurationError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'ConfigurationError'
  declare readonly code: 'configuration'
  constructor(message: string, init: ErrorContext = {}) {
    super(message, { ...init, code: 'configuration' })
  }
}
