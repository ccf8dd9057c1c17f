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
import { parseJson } from '../shared/json.ts'
import { Failure } from './failure.ts'
import { redact } from './redact.ts'
import { parseRetryAfter } from './retry-after.ts'
import { isRedirect, type TransportResponse } from './transport.ts'

/** What decoding needs to know of the call. */
export interface DecodeContext {
  /** Texts that must not appear in an error, though the service may echo them. */
  readonly secrets: readonly string[]
  /** Added to the message when the token is refused. */
  readonly tokenHint: () => string
  /** Takes data that does not fit; `undefined` where it is to be refused. */
  readonly report: ((issues: readonly Issue[]) => void) | undefined
}

const REFERRAL_REJECTIONS: ReadonlySet<string> = new Set<ReferralRejection>([
  'missing_user',
  'self_referral_not_allowed',
])
const LONGEST_MESSAGE = 300

/** Error class by status. */
const CLASSES = new Map([
  [400, BadRequestError],
  [401, UnauthorizedError],
  [403, AccessDeniedError],
  [429, RateLimitError],
])

/** What decoding needs to know of the endpoint. */
type Answering<Data> = Pick<Endpoint<unknown, Data>, 'response' | 'fitsResponse'>

/**
 * Turns an answer into its data. The HTTP status and `error.code` decide, never `success` alone: the published
 * error examples say `success: true`. Interface: Errors.
 *
 * @throws Failure for every answer that is not a success.
 */
export function decode<Data>(endpoint: Answering<Data>, answer: TransportResponse, context: DecodeContext): Data {
  const { status } = answer
  if (isRedirect(status)) throw unexpectedStatus(status)
  const body = parse(answer.text)
  if (status >= 400) throw errorAnswer(answer, body, context)
  if (!isObject(body)) {
    throw misshapen(status, [
      { path: [], message: body === undefined ? 'expected JSON' : 'expected an object with success and data' },
    ])
  }
  if (isObject(body.error) || (typeof body.error === 'string' && body.error !== '') || body.success === false) {
    throw errorAnswer(answer, body, context)
  }
  if (body.success !== true) throw misshapen(status, [{ path: ['success'], message: 'expected true or false' }])
  return readData(endpoint, body.data, status, context)
}

function readData<Data>(endpoint: Answering<Data>, data: unknown, status: number, context: DecodeContext): Data {
  const { response, fitsResponse } = endpoint
  if (response === undefined) return undefined as Data
  if (response === 'any') return data as Data
  const checked = check(response, data, ['data'], fitsResponse)
  if (checked.ok) return checked.value
  if (context.report === undefined) throw misshapen(status, checked.issues)
  context.report(checked.issues)
  return data as Data
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface ServiceComplaint {
  readonly code: number | undefined
  readonly message: string | undefined
  /** The error in string form. */
  readonly reason: string | undefined
  /** The service itself says that it did not succeed. */
  readonly denied: boolean
}

function readComplaint(body: unknown, secrets: readonly string[]): ServiceComplaint {
  const { error, success } = isObject(body) ? body : {}
  const shorten = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? redact(value, secrets).slice(0, LONGEST_MESSAGE) : undefined
  const standard = isObject(error) ? error : {}
  return {
    code: Number.isInteger(standard.code) ? (standard.code as number) : undefined,
    message: shorten(standard.message),
    reason: shorten(error),
    denied: success === false,
  }
}

function errorAnswer(answer: TransportResponse, body: unknown, context: DecodeContext): Failure {
  const { status } = answer
  const { code, message, reason, denied } = readComplaint(body, context.secrets)
  const isHttpError = status >= 400
  // On a 2xx answer a code that is a status stands in for it. Without one, a plain "no" is a refusal, and
  // `success: true` beside an error says nothing that can be relied on.
  const effective = isHttpError ? status : code !== undefined && code >= 400 && code < 600 ? code : undefined
  const tokenRefused = effective === 401
  const isRefusal = effective !== undefined || denied || reason !== undefined
  const headers = traceHeaders(answer, context.secrets)
  const retryAfterMs = parseRetryAfter(answer.header('retry-after'))

  return new Failure(
    isRefusal ? 'refused' : 'not_understood',
    (error) => {
      const words = [
        `HTTP ${status}`,
        code !== undefined && code !== status && `service code ${code}`,
        message ?? reason,
      ]
      const hint = tokenRefused ? context.tokenHint() : ''
      const text = `${error.operation}: the service answered ${words.filter(Boolean).join(', ')}${hint}`
      const init: ApiErrorInit = { ...error, status, serviceCode: code, reason, headers, retryAfterMs }
      if (reason !== undefined && REFERRAL_REJECTIONS.has(reason) && status < 500) {
        return new ReferralRejectedError(text, { ...init, reason })
      }
      const Class = errorClass(effective)
      return new Class(text, init)
    },
    { status: effective, retryAfterMs, tokenRefused },
  )
}

function errorClass(status: number | undefined): new (message: string, init: ApiErrorInit) => ApiError {
  if (status === undefined) return ApiError
  return CLASSES.get(status) ?? (status >= 500 && status < 600 ? ServiceError : ApiError)
}

function unexpectedStatus(status: number): Failure {
  const message = 'expected an answer; redirects are never followed, since the token goes to baseUrl and nowhere else'
  return misshapen(status, [{ path: [], message }])
}

function misshapen(status: number, issues: readonly Issue[]): Failure {
  return new Failure('not_understood', (context) => {
    const what = issues.map(({ path, message }) => `${path.length > 0 ? path.join('.') : 'the body'}: ${message}`)
    const shown = what.slice(0, 5).join('; ') + (what.length > 5 ? `; and ${what.length - 5} more` : '')
    const text = `${context.operation}: the service answered HTTP ${status} with something unexpected (${shown})`
    return new UnexpectedResponseError(text, { ...context, status, issues })
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
]

/** Whether the part of an answer that broke off was what had been asked for. The status of an error says enough. */
export const lacksItsData = ({ status, complete }: TransportResponse): boolean =>
  !complete && status < 400 && !isRedirect(status)

/** The headers that help to trace an answer, out of an allow-list. */
export function traceHeaders({ header }: TransportResponse, secrets: readonly string[]): Record<string, string> {
  const traced: Record<string, string> = {}
  for (const name of TRACE_HEADERS) {
    const value = header(name)
    if (value !== null) traced[name] = redact(value, secrets)
  }
  return traced
}
