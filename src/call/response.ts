import type { Endpoint } from '../endpoints/endpoint.ts'
import {
  AccessDeniedError,
  ApiError,
  type ApiErrorInit,
  BadRequestError,
  type Issue,
  RateLimitError,
  ReferralRejectedError,
  type ReferralRejection,
  ServiceError,
  UnauthorizedError,
  UnexpectedResponseError,
} from '../errors/client-errors.ts'
import { validate } from '../schemas/validate.ts'
import { describeIssues, type Issues } from '../shared/issue.ts'
import { tryParseJson } from '../shared/text.ts'
import { isRecord } from '../shared/type-checks.ts'
import { isRedirect, type TransportResponse } from '../transports/transport.ts'
import { Failure } from './failure.ts'
import { excerpt, type Secrets } from './redact.ts'
import { parseRetryAfter } from './retry.ts'
import { expiryHint } from './tokens.ts'

type ResponseSchema = Pick<Endpoint, 'response'>

/**
 * Returns the data of a response, or a failure. A response is an error if its HTTP status, `success` or `error` says so: the
 * API description shows errors with `success: true`. See "Errors" in docs/the-service.md.
 */
export function decodeResponse(
  endpoint: ResponseSchema,
  response: TransportResponse,
  context: ResponseContext,
): { readonly data: unknown } | Failure {
  const { status } = response
  if (isRedirect(status)) {
    return unexpectedResponse(response, context, oneIssue([], `expected a response; ${explainStatus(status)}`))
  }
  // Not every transport removes the byte order mark.
  const body = tryParseJson(response.text.replace(/^\uFEFF/, ''))
  if (status >= 400 || reportsError(body)) return decodeError(response, body, context)
  if (!isRecord(body)) {
    const message =
      body === undefined
        ? `expected JSON${describeType(response, context)}`
        : 'expected an object with success and data'
    return unexpectedResponse(response, context, oneIssue([], message))
  }
  if (body.success !== true) {
    return unexpectedResponse(response, context, oneIssue(['success'], 'expected true or false'))
  }
  return readData(endpoint, body.data, response, context)
}

/** Names the content type of a body that is not JSON, such as the HTML of a sign-in page. */
function describeType(response: TransportResponse, { secrets }: ResponseContext): string {
  const { 'content-type': value = '' } = tracingHeaders(response, secrets())
  const type = /^[\w.+-]{1,60}\/[\w.+-]{1,60}/.exec(value.trim())?.[0]
  return type === undefined || type.includes('json') ? '' : `, received ${type}`
}

/** Explains why a status of 0, 1xx or 3xx is unexpected. */
function explainStatus(status: number): string {
  if (status === 304) return '304 (not modified) belongs to a conditional request, and the client sends none'
  if (status >= 300) return 'redirects are not followed, because the token is sent to baseUrl only'
  if (status === 0) return 'status 0 means a failed fetch (Response.error()) or an opaque redirect'
  return 'a 1xx status must be followed by a final status'
}

const reportsError = (body: unknown): boolean => isRecord(body) && (body.success === false || !isNoError(body.error))

const isNoError = (error: unknown): boolean =>
  error === undefined || error === null || error === '' || error === false || error === 0 || isEmptyList(error)

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

function readData(
  { response: schema }: ResponseSchema,
  data: unknown,
  response: TransportResponse,
  context: ResponseContext,
): { readonly data: unknown } | Failure {
  if (schema === undefined) return { data: undefined }
  if (schema === 'any') return { data }
  const validated = validate(schema, data, ['data'])
  if (validated.ok) return { data: validated.value }
  if (context.report === undefined) return unexpectedResponse(response, context, validated)
  context.report(validated)
  return { data }
}

const oneIssue = (path: Issue['path'], message: string): Issues => ({ issues: [{ path, message }], moreIssues: 0 })

/** Whether the data of a response is incomplete. An error response needs only its status. */
export const isDataIncomplete = ({ status, complete }: TransportResponse): boolean =>
  !complete && status < 400 && !isRedirect(status)

/** The circumstances of a response. */
export interface ResponseContext {
  readonly operation: string
  /** Ends with a slash. */
  readonly baseUrl: string
  /** The token of the request. */
  readonly token: string
  /** Returns the secrets, which are redacted. The service may send them back. */
  readonly secrets: () => Secrets
  /** Called with the issues of data that does not fit its schema. If `undefined`, that data fails the call. */
  readonly report: ((issues: Issues) => void) | undefined
}

const REFERRAL_REJECTIONS: ReadonlySet<string | undefined> = new Set<ReferralRejection>([
  'missing_user',
  'self_referral_not_allowed',
])

type ApiErrorClass = new (message: string, init: ApiErrorInit) => ApiError

const CLASSES: ReadonlyMap<number, ApiErrorClass> = new Map<number, ApiErrorClass>([
  [400, BadRequestError],
  [401, UnauthorizedError],
  [403, AccessDeniedError],
  [429, RateLimitError],
])

/**
 * Returns the failure that an error response reports.
 *
 * @param body - the parsed JSON; `undefined` if the body is not JSON
 */
export function decodeError(response: TransportResponse, body: unknown, context: ResponseContext): Failure {
  const { status } = response
  const { operation } = context
  const secrets = context.secrets()
  const { code, message, reason, isDenied } = readError(body, secrets)
  // In a 2xx response, an `error.code` of 400 or more replaces the status. An error without a code is a refusal if `success`
  // is false or its reason is documented. Otherwise the outcome is unknown.
  const effectiveStatus = status >= 400 ? status : code !== undefined && code >= 400 ? code : undefined
  const rejection = REFERRAL_REJECTIONS.has(reason) && status < 500 ? reason : undefined
  const isRefusal = effectiveStatus !== undefined || rejection !== undefined || (isDenied && code === undefined)
  const isTokenRefused = effectiveStatus === 401
  const headers = tracingHeaders(response, secrets)
  const retryAfterMs = parseRetryAfter(headerOf(response, 'retry-after'), headerOf(response, 'date'))

  const refusalReason = headers['x-refusal-reason']
  const details = [
    `HTTP ${status}`,
    code !== undefined && code !== status && `service code ${code}`,
    message ?? reason,
    // Only the local service gives its reason.
    refusalReason !== undefined && `reason: ${refusalReason}`,
  ]
  const hint = isTokenRefused
    ? expiryHint(context.token)
    : status === 404
      ? baseUrlHint(context.baseUrl)
      : status === 403 && isHtml(response.text, headers)
        ? '; the body is HTML, so probably a gateway in front of the service refused the request'
        : ''
  const text = `${operation}: the service responded with ${details.filter(Boolean).join(', ')}${hint}`
  const requestId = requestIdOf(headers)
  const init: ApiErrorInit = { operation, status, serviceCode: code, reason, headers, requestId, retryAfterMs }
  const Class = errorClass(effectiveStatus)
  return new Failure(
    isRefusal ? 'refused' : 'not_understood',
    rejection === undefined ? new Class(text, init) : new ReferralRejectedError(text, { ...init, reason: rejection }),
    { status: effectiveStatus, retryAfterMs, isTokenRefused },
  )
}

function errorClass(status = 0): ApiErrorClass {
  return CLASSES.get(status) ?? (status >= 500 && status < 600 ? ServiceError : ApiError)
}

/** The API description shows the service below `/api/v1`. See "Base URL and version" in docs/the-service.md. */
const baseUrlHint = (baseUrl: string): string =>
  new URL(baseUrl).pathname.endsWith('/api/v1/') ? '' : '; baseUrl does not end with /api/v1, where the service is'

const isHtml = (text: string, { 'content-type': type = '' }: Readonly<Record<string, string>>): boolean =>
  /^(?:text\/html|application\/xhtml)/i.test(type) || /^\s*<(?:!doctype html|html)\b/i.test(text)

const MAX_MESSAGE_LENGTH = 300

interface ErrorBody {
  readonly code: number | undefined
  readonly message: string | undefined
  /** An error in string form. */
  readonly reason: string | undefined
  /** Whether `success` is false, and no error has a code of 408 or 5xx. */
  readonly isDenied: boolean
}

function readError(body: unknown, secrets: Secrets): ErrorBody {
  const { error, success } = isRecord(body) ? body : {}
  const textOf = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? excerpt(value, secrets, MAX_MESSAGE_LENGTH) : undefined
  const standard = isRecord(error) ? error : {}
  return {
    code: Number.isInteger(standard.code) ? (standard.code as number) : undefined,
    message:
      textOf(standard.message) ?? textOf(Array.isArray(error) && isRecord(error[0]) ? error[0].message : undefined),
    reason: textOf(error),
    isDenied: success === false && !(Array.isArray(error) ? error : [error]).some(mayBeApplied),
  }
}

/** Whether an error has a code of 408 or 5xx. The code may be a string, although the API description shows only numbers. */
function mayBeApplied(error: unknown): boolean {
  const code = isRecord(error) ? error.code : undefined
  const status = typeof code === 'string' || typeof code === 'number' ? Number(code) : Number.NaN
  return status === 408 || (status >= 500 && status < 600)
}

/** The headers that identify a request, in order of preference. */
const REQUEST_ID_HEADERS = ['x-request-id', 'x-correlation-id', 'cf-ray'] as const

const TRACING_HEADERS = [
  'content-type',
  'date',
  'retry-after',
  'server',
  'traceparent',
  ...REQUEST_ID_HEADERS,
  // Sent by the local service.
  'x-refusal-reason',
]
const MAX_HEADER_LENGTH = 1_000

/** Returns the headers that help to trace a response, without secrets. */
export function tracingHeaders(response: TransportResponse, secrets: Secrets): Record<string, string> {
  const traced: Record<string, string> = {}
  for (const name of TRACING_HEADERS) {
    const value = headerOf(response, name)
    if (value !== null) traced[name] = excerpt(value, secrets, MAX_HEADER_LENGTH)
  }
  return traced
}

const requestIdOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  REQUEST_ID_HEADERS.map((name) => headers[name]).find((id) => id !== undefined && id !== '')

/** Returns a header; `null` if it is absent. The caller's transport may throw for an absent header. */
function headerOf(response: TransportResponse, name: string): string | null {
  try {
    const value: unknown = response.header(name)
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}

const MAX_ISSUES_IN_MESSAGE = 5

/** The response has an unexpected form. */
export function unexpectedResponse(
  response: TransportResponse,
  { operation, secrets }: ResponseContext,
  issues: Issues,
): Failure {
  const { status } = response
  const sentence = ({ path, message }: Issue): string => `${path.length > 0 ? path.join('.') : 'the body'}: ${message}`
  const problems = describeIssues(issues, MAX_ISSUES_IN_MESSAGE, sentence)
  const text = `${operation}: unexpected response with HTTP ${status} (${problems})`
  const requestId = requestIdOf(tracingHeaders(response, secrets()))
  return new Failure('not_understood', new UnexpectedResponseError(text, { operation, status, requestId, ...issues }))
}
