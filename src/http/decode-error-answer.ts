import {
  AccessDeniedError,
  ApiError,
  type ApiErrorInit,
  BadRequestError,
  RateLimitError,
  ReferralRejectedError,
  type ReferralRejection,
  ServiceError,
  UnauthorizedError,
} from '../errors.ts'
import { isRecord } from '../shared/type-checks.ts'
import type { TransportResponse } from '../transport.ts'
import { Failure } from './failure.ts'
import { excerpt } from './redact.ts'
import { parseRetryAfter } from './retry-after.ts'

const REFERRAL_REJECTIONS: ReadonlySet<string | undefined> = new Set<ReferralRejection>([
  'missing_user',
  'self_referral_not_allowed',
])
const MAX_MESSAGE_LENGTH = 300
const MAX_HEADER_LENGTH = 1_000

type ApiErrorClass = new (message: string, init: ApiErrorInit) => ApiError

const CLASSES: ReadonlyMap<number, ApiErrorClass> = new Map<number, ApiErrorClass>([
  [400, BadRequestError],
  [401, UnauthorizedError],
  [403, AccessDeniedError],
  [429, RateLimitError],
])

/** The circumstances of an error answer. The hints are added to the message of the error. */
export interface ErrorAnswerContext {
  /** Patterns of secrets, which are redacted. The service may send them back. */
  readonly secrets: readonly RegExp[]
  /** Returns the hint for a refused token. */
  readonly tokenHint: () => string
  readonly addressHint: string
}

/**
 * Returns the failure that an error answer reports.
 *
 * @param body - the parsed JSON; `undefined` if the answer is not JSON
 */
export function decodeErrorAnswer(
  answer: TransportResponse,
  body: unknown,
  { secrets, tokenHint, addressHint }: ErrorAnswerContext,
): Failure {
  const { status } = answer
  const { code, message, reason, denied } = readError(body, secrets)
  const isHttpError = status >= 400
  // In a 2xx answer, an `error.code` of 400 or more replaces the status. An error without a code is a refusal if `success` is
  // false or its reason is documented. Otherwise the outcome is unknown.
  const effectiveStatus = isHttpError ? status : code !== undefined && code >= 400 ? code : undefined
  const rejection = REFERRAL_REJECTIONS.has(reason) && status < 500 ? reason : undefined
  const isRefusal = effectiveStatus !== undefined || rejection !== undefined || (denied && code === undefined)
  const tokenRefused = effectiveStatus === 401
  const headers = traceHeaders(answer, secrets)
  const retryAfterMs = parseRetryAfter(headerOf(answer, 'retry-after'))

  return new Failure(
    isRefusal ? 'refused' : 'not_understood',
    (error) => {
      const details = [
        `HTTP ${status}`,
        code !== undefined && code !== status && `service code ${code}`,
        message ?? reason,
      ]
      const hint = tokenRefused ? tokenHint() : addressHint
      const text = `${error.operation}: the service answered ${details.filter(Boolean).join(', ')}${hint}`
      const init: ApiErrorInit = { ...error, status, serviceCode: code, reason, headers, retryAfterMs }
      if (rejection !== undefined) return new ReferralRejectedError(text, { ...init, reason: rejection })
      const Class = errorClass(effectiveStatus)
      return new Class(text, init)
    },
    { status: effectiveStatus, retryAfterMs, tokenRefused },
  )
}

function errorClass(status = 0): ApiErrorClass {
  return CLASSES.get(status) ?? (status >= 500 && status < 600 ? ServiceError : ApiError)
}

interface ErrorBody {
  readonly code: number | undefined
  readonly message: string | undefined
  /** An error in string form. */
  readonly reason: string | undefined
  /** Whether `success` is false, and no error has a code of 408 or 5xx. */
  readonly denied: boolean
}

function readError(body: unknown, secrets: readonly RegExp[]): ErrorBody {
  const { error, success } = isRecord(body) ? body : {}
  const textOf = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? excerpt(value, secrets, MAX_MESSAGE_LENGTH) : undefined
  const standard = isRecord(error) ? error : {}
  return {
    code: Number.isInteger(standard.code) ? (standard.code as number) : undefined,
    message:
      textOf(standard.message) ?? textOf(Array.isArray(error) && isRecord(error[0]) ? error[0].message : undefined),
    reason: textOf(error),
    denied: success === false && !(Array.isArray(error) ? error : [error]).some(mayBeApplied),
  }
}

/** Whether an error has a code of 408 or 5xx. The code may be a string, although the interface shows only numbers. */
function mayBeApplied(error: unknown): boolean {
  const code = isRecord(error) ? error.code : undefined
  const status = typeof code === 'string' || typeof code === 'number' ? Number(code) : Number.NaN
  return status === 408 || (status >= 500 && status < 600)
}

const TRACE_HEADERS = [
  'content-type',
  'date',
  'retry-after',
  'server',
  'x-request-id',
  'x-correlation-id',
  'traceparent',
  'cf-ray',
  // Sent by the local service.
  'x-refusal-reason',
]

/** Returns the headers that help to trace an answer, without secrets. */
export function traceHeaders(answer: TransportResponse, secrets: readonly RegExp[]): Record<string, string> {
  const traced: Record<string, string> = {}
  for (const name of TRACE_HEADERS) {
    const value = headerOf(answer, name)
    if (value !== null) traced[name] = excerpt(value, secrets, MAX_HEADER_LENGTH)
  }
  return traced
}

/** Returns a header; `null` if it is absent. A partner's transport may throw for an absent header. */
function headerOf(answer: TransportResponse, name: string): string | null {
  try {
    const value: unknown = answer.header(name)
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
