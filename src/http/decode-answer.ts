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
} from '../errors.ts'
import { describeIssues, type Issues } from '../schemas/issue.ts'
import { validate } from '../schemas/validate.ts'
import { tryParseJson } from '../shared/text/json.ts'
import { isRecord } from '../shared/types.ts'
import { isRedirect, type TransportResponse } from '../transport.ts'
import { Failure } from './failure.ts'
import { excerpt } from './redact.ts'
import { parseRetryAfter } from './retry.ts'

export interface DecodeContext {
  /** Patterns of secrets, which are redacted from errors. The service may send them back. */
  readonly secrets: readonly RegExp[]
  /** Returns a hint for the error message when the token is refused. */
  readonly tokenHint: () => string
  readonly addressHint: AddressHint
  /** Called with the issues of data that does not fit its schema. If `undefined`, that data fails the call. */
  readonly report: ((issues: Issues) => void) | undefined
}

/**
 * Suggests that `baseUrl` lacks `/api/v1`. It does so until an answer has another status than 404, or the envelope of the
 * service.
 * Interface: [Address and version](/the-service#address-and-version).
 */
export class AddressHint {
  #suspected: boolean

  /** @param baseUrl - ends with a slash */
  constructor(baseUrl: string) {
    this.#suspected = !new URL(baseUrl).pathname.endsWith('/api/v1/')
  }

  /** Returns a hint for the error message of an answer; empty if `baseUrl` seems right. */
  after(status: number, body: unknown): string {
    const isFromService = isRecord(body) && ('success' in body || 'error' in body)
    if (status !== 404 || isFromService) this.#suspected = false
    return this.#suspected ? '; baseUrl does not end with /api/v1, where the service is' : ''
  }
}

const REFERRAL_REJECTIONS: ReadonlySet<string | undefined> = new Set<ReferralRejection>([
  'missing_user',
  'self_referral_not_allowed',
])
const MAX_MESSAGE_LENGTH = 300
const MAX_HEADER_LENGTH = 1_000
const MAX_ISSUES_IN_MESSAGE = 5

type ApiErrorClass = new (message: string, init: ApiErrorInit) => ApiError

const CLASSES: ReadonlyMap<number, ApiErrorClass> = new Map<number, ApiErrorClass>([
  [400, BadRequestError],
  [401, UnauthorizedError],
  [403, AccessDeniedError],
  [429, RateLimitError],
])

type ResponseSchema<Data> = Pick<Endpoint<unknown, Data>, 'response' | 'fitsResponse'>

/**
 * Returns the data of an answer. An answer is an error if its HTTP status or its `error` says so: the interface shows errors
 * with `success: true`. Interface: [Errors](/the-service#errors).
 *
 * @throws Failure for every answer that is not a success
 */
export function decodeAnswer<Data>(
  endpoint: ResponseSchema<Data>,
  answer: TransportResponse,
  context: DecodeContext,
): Data {
  const { status } = answer
  if (isRedirect(status)) throw unexpectedAnswer(status, oneIssue([], `expected an answer; ${explainStatus(status)}`))
  // A partner's transport may not remove the byte order mark.
  const body = tryParseJson(answer.text.replace(/^\uFEFF/, ''))
  const addressHint = context.addressHint.after(status, body)
  if (status >= 400 || reportsError(body)) throw errorAnswer(answer, body, addressHint, context)
  if (!isRecord(body)) {
    const message = body === undefined ? 'expected JSON' : 'expected an object with success and data'
    throw unexpectedAnswer(status, oneIssue([], message))
  }
  if (body.success !== true) throw unexpectedAnswer(status, oneIssue(['success'], 'expected true or false'))
  return readData(endpoint, body.data, status, context)
}

/** Explains why a status of 0, 1xx or 3xx is unexpected. */
function explainStatus(status: number): string {
  if (status === 304) return '304 (not modified) answers a conditional request, and the client sends none'
  if (status >= 300) return 'redirects are not followed, because the token is sent to baseUrl only'
  if (status === 0) return 'status 0 means a failed fetch (Response.error()) or an opaque redirect'
  return 'a 1xx status must be followed by a final status'
}

const reportsError = (body: unknown): boolean => isRecord(body) && (body.success === false || !isNoError(body.error))

const isNoError = (error: unknown): boolean =>
  error === undefined || error === null || error === '' || error === false || error === 0 || isEmptyList(error)

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

function readData<Data>(endpoint: ResponseSchema<Data>, data: unknown, status: number, context: DecodeContext): Data {
  const { response, fitsResponse } = endpoint
  if (response === undefined) return undefined as Data
  if (response === 'any') return data as Data
  const validated = validate(response, data, ['data'], fitsResponse)
  if (validated.ok) return validated.value
  if (context.report === undefined) throw unexpectedAnswer(status, validated)
  context.report(validated)
  return data as Data
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

/** Whether an error has a code of 408 or 5xx. The code may be text, which the interface does not show. */
function mayBeApplied(error: unknown): boolean {
  const code = isRecord(error) ? error.code : undefined
  const status = typeof code === 'string' || typeof code === 'number' ? Number(code) : Number.NaN
  return status === 408 || (status >= 500 && status < 600)
}

function errorAnswer(answer: TransportResponse, body: unknown, addressHint: string, context: DecodeContext): Failure {
  const { status } = answer
  const { code, message, reason, denied } = readError(body, context.secrets)
  const isHttpError = status >= 400
  // In a 2xx answer, an `error.code` of 400 or more replaces the status. An error without a code is a refusal if `success` is
  // false or its reason is documented. Otherwise the outcome is unknown.
  const effectiveStatus = isHttpError ? status : code !== undefined && code >= 400 ? code : undefined
  const rejection = REFERRAL_REJECTIONS.has(reason) && status < 500 ? reason : undefined
  const isRefusal = effectiveStatus !== undefined || rejection !== undefined || (denied && code === undefined)
  const tokenRefused = effectiveStatus === 401
  const headers = traceHeaders(answer, context.secrets)
  const retryAfterMs = parseRetryAfter(headerOf(answer, 'retry-after'))

  return new Failure(
    isRefusal ? 'refused' : 'not_understood',
    (error) => {
      const details = [
        `HTTP ${status}`,
        code !== undefined && code !== status && `service code ${code}`,
        message ?? reason,
      ]
      const hint = tokenRefused ? context.tokenHint() : addressHint
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

const oneIssue = (path: Issue['path'], message: string): Issues => ({ issues: [{ path, message }], moreIssues: 0 })

function unexpectedAnswer(status: number, issues: Issues): Failure {
  return new Failure('not_understood', (context) => {
    const describe = ({ path, message }: Issue): string =>
      `${path.length > 0 ? path.join('.') : 'the body'}: ${message}`
    const problems = describeIssues(issues, MAX_ISSUES_IN_MESSAGE, describe)
    const text = `${context.operation}: unexpected answer with HTTP ${status} (${problems})`
    return new UnexpectedResponseError(text, { ...context, status, ...issues })
  })
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

/** Whether the data of an answer is incomplete. An error answer needs only its status. */
export const isDataIncomplete = ({ status, complete }: TransportResponse): boolean =>
  !complete && status < 400 && !isRedirect(status)

/** Returns the headers that help to trace an answer, without secrets. */
export function traceHeaders(answer: TransportResponse, secrets: readonly RegExp[]): Record<string, string> {
  const traced: Record<string, string> = {}
  for (const name of TRACE_HEADERS) {
    const value = headerOf(answer, name)
    if (value !== null) traced[name] = excerpt(value, secrets, MAX_HEADER_LENGTH)
  }
  return traced
}

/** Returns a header. A partner's transport may throw for a missing one. */
function headerOf(answer: TransportResponse, name: string): string | null {
  try {
    const value: unknown = answer.header(name)
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
