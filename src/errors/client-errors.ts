import { capped, type Issue } from '../shared/issue.ts'
import type { OpenString } from '../shared/text.ts'
import { type ApiErrorCode, CampaignError, type WriteOutcome } from './campaign-error.ts'

export type { Issue } from '../shared/issue.ts'
export {
  type ApiErrorCode,
  CampaignError,
  type CampaignErrorCode,
  type CampaignErrorInit,
  type WriteOutcome,
} from './campaign-error.ts'

/** The call that an error belongs to. */
export interface ErrorContext {
  /** The method that failed. */
  operation?: string | undefined
  /** The number of requests that the call sent. */
  attempts?: number | undefined
  /** Set on errors of writes only. */
  outcome?: WriteOutcome | undefined
  /** An error that is safe to print. */
  cause?: unknown
}

/** The issues of an error. The error keeps the first 20 issues and the number of further issues. */
export interface IssuesInit {
  /** At least one. */
  issues: readonly Issue[]
  /** The number of issues that are not in `issues`. */
  moreIssues?: number | undefined
}

/** Details of the response for an {@link ApiError}. */
export interface ApiErrorInit extends ErrorContext {
  /** The HTTP status. */
  status: number
  /** The `error.code` of the standard envelope. */
  serviceCode?: number | undefined
  /** The `error` of the response, if it is a string. */
  reason?: string | undefined
  /** Headers that help to trace the response. */
  headers: Readonly<Record<string, string>>
  /** The ID of the request in the logs of the service. */
  requestId?: string | undefined
  /** `Retry-After` in milliseconds. */
  retryAfterMs?: number | undefined
}

/** The service responded with an error. See "Errors" in docs/the-service.md. */
export class ApiError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'ApiError'
  declare readonly code: ApiErrorCode
  /** The HTTP status of the response. The service reports some errors with a 2xx status. */
  readonly status: number
  /** The `error.code` of the standard envelope. Absent if the response had none. */
  declare readonly serviceCode?: number
  /** The `error` of the response if it is a string, such as `'missing_user'`. Absent otherwise. */
  declare readonly reason?: OpenString<ReferralRejection>
  /** Headers that help to trace the response, such as `x-request-id`. Never cookies or credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** The ID of the request in the logs of the service: `x-request-id`, `x-correlation-id` or `cf-ray`. Absent without one. */
  declare readonly requestId?: string
  /** The wait that the service asks for in `Retry-After`, in milliseconds. Absent without a valid wait above 0. */
  declare readonly retryAfterMs?: number

  constructor(message: string, init: ApiErrorInit, code: ApiErrorCode = 'api_error') {
    super(message, { ...init, code })
    this.status = init.status
    if (init.serviceCode !== undefined) this.serviceCode = init.serviceCode
    if (init.reason !== undefined) this.reason = init.reason
    this.headers = init.headers
    if (init.requestId !== undefined) this.requestId = init.requestId
    if (init.retryAfterMs !== undefined) this.retryAfterMs = init.retryAfterMs
  }
}

/** 400: the service rejected the request. Correct the arguments: a retry would fail again. */
export class BadRequestError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'BadRequestError'
  declare readonly code: 'bad_request'
  constructor(message: string, init: ApiErrorInit) {
    super(message, init, 'bad_request')
  }
}

/** 401: the token is missing, invalid or expired. If its `exp` has passed, the message says so. */
export class UnauthorizedError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'UnauthorizedError'
  declare readonly code: 'unauthorized'
  constructor(message: string, init: ApiErrorInit) {
    super(message, init, 'unauthorized')
  }
}

/** 403: the token has no permission, for example because the campaign belongs to another organization. */
export class AccessDeniedError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'AccessDeniedError'
  declare readonly code: 'access_denied'
  constructor(message: string, init: ApiErrorInit) {
    super(message, init, 'access_denied')
  }
}

/** 429: too many requests. Thrown when no retry is left, or when `Retry-After` is longer than 30 s. */
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

/** The documented reasons for a rejected referral. See "String errors" in docs/the-service.md. */
export type ReferralRejection = 'missing_user' | 'self_referral_not_allowed'

/** The service rejected a referral. See "String errors" in docs/the-service.md. */
export class ReferralRejectedError extends ApiError {
  /** @internal */
  static override readonly brand: string = 'ReferralRejectedError'
  declare readonly code: 'referral_rejected'
  /** `'missing_user'`: a required user does not exist. `'self_referral_not_allowed'`: a user cannot refer themselves. */
  declare readonly reason: OpenString<ReferralRejection>
  constructor(message: string, init: ApiErrorInit & { reason: string }) {
    super(message, init, 'referral_rejected')
  }
}

/** No response arrived: the connection failed, the host was not found, or `fetch` returned no `Response`. */
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

/** An attempt, or the whole call, took too long. */
export class TimeoutError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'TimeoutError'
  declare readonly code: 'timeout'
  /** `'attempt'`: the last attempt exceeded `timeoutMs`. `'total'`: the call exceeded `totalTimeoutMs`. */
  readonly scope: 'attempt' | 'total'
  /** The exceeded limit in milliseconds. */
  readonly timeoutMs: number
  constructor(message: string, init: ErrorContext & { scope: 'attempt' | 'total'; timeoutMs: number }) {
    super(message, { ...init, code: 'timeout' })
    this.scope = init.scope
    this.timeoutMs = init.timeoutMs
  }
}

/** The response cannot be used: it is not JSON, has no envelope, has data of another shape, is a redirect, or is too large. */
export class UnexpectedResponseError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'UnexpectedResponseError'
  declare readonly code: 'unexpected_response'
  /** The HTTP status of the response. 0 if the platform hides it, as browsers do for redirects. */
  readonly status: number
  /** The ID of the request in the logs of the service, as on {@link ApiError}. Absent without one. */
  declare readonly requestId?: string
  /** The first 20 issues, with paths from the root of the body. They contain no values. */
  readonly issues: readonly Issue[]
  /** The number of further issues. Absent if `issues` is complete. */
  declare readonly moreIssues?: number
  constructor(message: string, init: ErrorContext & IssuesInit & { status: number; requestId?: string | undefined }) {
    super(message, { ...init, code: 'unexpected_response' })
    this.status = init.status
    if (init.requestId !== undefined) this.requestId = init.requestId
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
  /** The first 20 issues, with paths from the root of the argument. Paths of call options start with `'options'`. */
  readonly issues: readonly Issue[]
  /** The number of further issues. Absent if `issues` is complete. */
  declare readonly moreIssues?: number
  constructor(message: string, init: ErrorContext & IssuesInit) {
    super(message, { ...init, code: 'invalid_request' })
    const { issues, moreIssues } = capped(init.issues, init.moreIssues)
    this.issues = issues
    if (moreIssues > 0) this.moreIssues = moreIssues
  }
}

/** The token source failed, took longer than 30 s, or returned a value that is not a bearer token. */
export class AccessTokenError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'AccessTokenError'
  declare readonly code: 'access_token'
  constructor(message: string, init: ErrorContext = {}) {
    super(message, { ...init, code: 'access_token' })
  }
}

/** An option is wrong or misspelt, or cannot be used, such as a ledger in use. For a write, see `outcome`. */
export class ConfigurationError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'ConfigurationError'
  declare readonly code: 'configuration'
  /** The first 20 wrong options, with their paths. They contain no values of secrets. Empty if no single option is wrong. */
  readonly issues: readonly Issue[]
  /** The number of further issues. Absent if `issues` is complete. */
  declare readonly moreIssues?: number
  constructor(message: string, init: ErrorContext & Partial<IssuesInit> = {}) {
    super(message, { ...init, code: 'configuration' })
    const { issues, moreIssues } = capped(init.issues, init.moreIssues)
    this.issues = issues
    if (moreIssues > 0) this.moreIssues = moreIssues
  }
}
