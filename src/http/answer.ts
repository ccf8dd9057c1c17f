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
import { check } from '../schemas/check.ts'
import { describeIssues, type Issues } from '../schemas/issue.ts'
import { parseJson } from '../shared/text/json.ts'
import { isRecord } from '../shared/types.ts'
import { isRedirect, type TransportResponse } from '../transport.ts'
import { Failure } from './failure.ts'
import { excerpt } from './redact.ts'
import { parseRetryAfter } from './retry.ts'

/** The parts of a call that decoding needs. */
export interface DecodeContext {
  /** Texts that must not appear in an error, even if the service sends them back. */
  readonly secrets: readonly RegExp[]
  /** Added to the message when the token is refused. */
  readonly tokenHint: () => string
  readonly addressHint: AddressHint
  /** Receives the issues of data that does not fit its schema; `undefined` if such data fails the call. */
  readonly report: ((wrong: Issues) => void) | undefined
}

/**
 * Suspects a forgotten `/api/v1` as long as every answer is a 404 that the service did not write.
 * Interface: [Address and version](/the-service#address-and-version).
 */
export class AddressHint {
  #suspected: boolean

  /** @param baseUrl - as `clientSettings` gives it */
  constructor(baseUrl: string) {
    this.#suspected = !new URL(baseUrl).pathname.endsWith('/api/v1/')
  }

  /** Returns the hint to append to the error message of this answer. */
  after(status: number, body: unknown): string {
    const isOfService = isRecord(body) && ('success' in body || 'error' in body)
    if (status !== 404 || isOfService) this.#suspected = false
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

/** Error class by status. */
const CLASSES: ReadonlyMap<number, ApiErrorClass> = new Map<number, ApiErrorClass>([
  [400, BadRequestError],
  [401, UnauthorizedError],
  [403, AccessDeniedError],
  [429, RateLimitError],
])

/** The parts of an endpoint that decoding needs. */
type Answering<Data> = Pick<Endpoint<unknown, Data>, 'response' | 'fitsResponse'>

/**
 * Turns an answer into its data. The HTTP status and `error.code` decide, never `success` alone: the published
 * error examples say `success: true`. Interface: [Errors](/the-service#errors).
 *
 * @throws Failure for every answer that is not a success.
 */
export function decode<Data>(endpoint: Answering<Data>, answer: TransportResponse, context: DecodeContext): Data {
  const { status } = answer
  if (isRedirect(status)) throw misshapen(status, wrong([], `expected an answer; ${whyNone(status)}`))
  const body = parse(answer.text)
  const addressHint = context.addressHint.after(status, body)
  if (status >= 400 || tellsOfError(body)) throw errorAnswer(answer, body, addressHint, context)
  if (!isRecord(body)) {
    throw misshapen(
      status,
      wrong([], body === undefined ? 'expected JSON' : 'expected an object with success and data'),
    )
  }
  if (body.success !== true) throw misshapen(status, wrong(['success'], 'expected true or false'))
  return readData(endpoint, body.data, status, context)
}

/** Explains why a status of 0, 1xx or 3xx is unexpected. */
function whyNone(status: number): string {
  if (status === 304) return '304 (not modified) answers a conditional request, and none was made'
  if (status >= 300) return 'redirects are never followed, since the token goes to baseUrl and nowhere else'
  if (status === 0) return 'status 0 stands for a failed fetch (Response.error()) or a hidden redirect'
  return 'a provisional answer must be followed by another'
}

/** Whether a body reports an error in any form, or denies success. */
const tellsOfError = (body: unknown): boolean => isRecord(body) && (body.success === false || !isNoError(body.error))

const isNoError = (error: unknown): boolean =>
  error === undefined || error === null || error === '' || error === false || error === 0 || isEmptyList(error)

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

function readData<Data>(endpoint: Answering<Data>, data: unknown, status: number, context: DecodeContext): Data {
  const { response, fitsResponse } = endpoint
  if (response === undefined) return undefined as Data
  if (response === 'any') return data as Data
  const checked = check(response, data, ['data'], fitsResponse)
  if (checked.ok) return checked.value
  if (context.report === undefined) throw misshapen(status, checked)
  context.report(checked)
  return data as Data
}

function parse(text: string): unknown {
  try {
    // A partner's transport may leave the byte order mark.
    return parseJson(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch {
    // Not JSON.
  }
}

interface ErrorBody {
  readonly code: number | undefined
  /** The message of the service. */
  readonly message: string | undefined
  /** The error in string form. */
  readonly reason: string | undefined
  /** `success` is false, and the error does not suggest otherwise. */
  readonly denied: boolean
}

function readError(body: unknown, secrets: readonly RegExp[]): ErrorBody {
  const { error, success } = isRecord(body) ? body : {}
  const words = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? excerpt(value, secrets, MAX_MESSAGE_LENGTH) : undefined
  const standard = isRecord(error) ? error : {}
  return {
    code: Number.isInteger(standard.code) ? (standard.code as number) : undefined,
    message:
      words(standard.message) ?? words(Array.isArray(error) && isRecord(error[0]) ? error[0].message : undefined),
    reason: words(error),
    denied: success === false && !(Array.isArray(error) ? error : [error]).some(leavesDoubt),
  }
}

/** Whether an error has a code of 408 or 5xx in a form that the interface does not show. */
function leavesDoubt(error: unknown): boolean {
  const code = isRecord(error) ? error.code : undefined
  const status = typeof code === 'string' || typeof code === 'number' ? Number(code) : Number.NaN
  return status === 408 || (status >= 500 && status < 600)
}

function errorAnswer(answer: TransportResponse, body: unknown, addressHint: string, context: DecodeContext): Failure {
  const { status } = answer
  const { code, message, reason, denied } = readError(body, context.secrets)
  const isHttpError = status >= 400
  // On a 2xx answer, a code of 400 or more replaces the status. Without a code, `success: false` and the documented
  // reasons are refusals. After any other answer the outcome is unknown.
  const stated = code ?? 0
  const effective = isHttpError ? status : stated >= 400 ? stated : undefined
  const rejection = REFERRAL_REJECTIONS.has(reason) && status < 500 ? reason : undefined
  const isRefusal = effective !== undefined || rejection !== undefined || (denied && code === undefined)
  const tokenRefused = effective === 401
  const headers = traceHeaders(answer, context.secrets)
  const retryAfterMs = parseRetryAfter(headerOf(answer, 'retry-after'))

  return new Failure(
    isRefusal ? 'refused' : 'not_understood',
    (error) => {
      const words = [
        `HTTP ${status}`,
        code !== undefined && code !== status && `service code ${code}`,
        message ?? reason,
      ]
      const hint = tokenRefused ? context.tokenHint() : addressHint
      const text = `${error.operation}: the service answered ${words.filter(Boolean).join(', ')}${hint}`
      const init: ApiErrorInit = { ...error, status, serviceCode: code, reason, headers, retryAfterMs }
      if (rejection !== undefined) return new ReferralRejectedError(text, { ...init, reason: rejection })
      const Class = errorClass(effective)
      return new Class(text, init)
    },
    { status: effective, retryAfterMs, tokenRefused },
  )
}

function errorClass(status = 0): ApiErrorClass {
  return CLASSES.get(status) ?? (status >= 500 && status < 600 ? ServiceError : ApiError)
}

const wrong = (path: Issue['path'], message: string): Issues => ({ issues: [{ path, message }], moreIssues: 0 })

function misshapen(status: number, found: Issues): Failure {
  return new Failure('not_understood', (context) => {
    const say = ({ path, message }: Issue): string => `${path.length > 0 ? path.join('.') : 'the body'}: ${message}`
    const what = describeIssues(found, MAX_ISSUES_IN_MESSAGE, say)
    const text = `${context.operation}: the service answered HTTP ${status} with something unexpected (${what})`
    return new UnexpectedResponseError(text, { ...context, status, ...found })
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
  // Of the local service.
  'x-refusal-reason',
]

/** Whether an incomplete answer lacks the requested data. For an error answer the status is enough. */
export const lacksItsData = ({ status, complete }: TransportResponse): boolean =>
  !complete && status < 400 && !isRedirect(status)

/** Returns the headers of an allow-list that help to trace an answer. */
export function traceHeaders(answer: TransportResponse, secrets: readonly RegExp[]): Record<string, string> {
  const traced: Record<string, string> = {}
  for (const name of TRACE_HEADERS) {
    const value = headerOf(answer, name)
    if (value !== null) traced[name] = excerpt(value, secrets, MAX_HEADER_LENGTH)
  }
  return traced
}

/** A partner's transport may throw for a missing header. */
function headerOf(answer: TransportResponse, name: string): string | null {
  try {
    const value: unknown = answer.header(name)
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
