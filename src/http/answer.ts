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
import type { AddressHint } from './address-hint.ts'
import { Failure } from './failure.ts'
import { property } from './property.ts'
import { excerpt } from './redact.ts'
import { parseRetryAfter } from './retry-after.ts'

/** What decoding needs to know of the call. */
export interface DecodeContext {
  /** Texts that must not appear in an error, though the service may echo them. */
  readonly secrets: readonly string[]
  /** Added to the message when the token is refused. */
  readonly tokenHint: () => string
  /** Added to the message of an answer that may come from another address than the service's. */
  readonly addressHint: AddressHint
  /** Takes data that does not fit; `undefined` where it is to be refused. */
  readonly report: ((wrong: Issues) => void) | undefined
}

const REFERRAL_REJECTIONS: ReadonlySet<string | undefined> = new Set<ReferralRejection>([
  'missing_user',
  'self_referral_not_allowed',
])
const LONGEST_MESSAGE = 300
const LONGEST_HEADER = 1_000
const ISSUES_IN_MESSAGE = 5

type ApiErrorClass = new (message: string, init: ApiErrorInit) => ApiError

/** Error class by status. */
const CLASSES: ReadonlyMap<number, ApiErrorClass> = new Map<number, ApiErrorClass>([
  [400, BadRequestError],
  [401, UnauthorizedError],
  [403, AccessDeniedError],
  [429, RateLimitError],
])

/** What decoding needs to know of the endpoint. */
type Answering<Data> = Pick<Endpoint<unknown, Data>, 'response' | 'fitsResponse'>

/**
 * Turns an answer into its data. The HTTP status and `error.code` decide, never `success` alone: the published
 * error examples say `success: true`. Interface: [Errors](../../docs/the-service.md#errors).
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

/** Why an answer without data came where nothing was to be redirected, or asked for only if modified. */
function whyNone(status: number): string {
  if (status === 304) return '304 (not modified) answers a conditional request, and none was made'
  if (status >= 300) return 'redirects are never followed, since the token goes to baseUrl and nowhere else'
  if (status === 0) return 'this one hides its status, as a browser does with a redirect; redirects are never followed'
  return 'this one is provisional, and another would have to follow'
}

/** Whether a body speaks of an error, in whatever form, or of no success. */
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
    // Transports take the byte order mark off; a partner's own may not.
    return parseJson(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch {
    // It is no JSON.
  }
}

interface ServiceComplaint {
  readonly code: number | undefined
  /** In the words of the service. */
  readonly message: string | undefined
  /** The error in string form. */
  readonly reason: string | undefined
  /** The service itself says that it did not succeed, and nothing that it says of the error leaves that in doubt. */
  readonly denied: boolean
}

function readComplaint(body: unknown, secrets: readonly string[]): ServiceComplaint {
  const { error, success } = isRecord(body) ? body : {}
  const words = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? excerpt(value, secrets, LONGEST_MESSAGE) : undefined
  const standard = isRecord(error) ? error : {}
  return {
    code: Number.isInteger(standard.code) ? (standard.code as number) : undefined,
    message: words(standard.message) ?? words(Array.isArray(error) ? property(Object(error[0]), 'message') : undefined),
    reason: words(error),
    denied: success === false && !(Array.isArray(error) ? error : [error]).some(leavesDoubt),
  }
}

/** Whether an error has a code, though not as the interface shows it, of a service that failed on the way. */
function leavesDoubt(error: unknown): boolean {
  const code = isRecord(error) ? error.code : undefined
  const status = typeof code === 'string' || typeof code === 'number' ? Number(code) : Number.NaN
  return status === 408 || (status >= 500 && status < 600)
}

function errorAnswer(answer: TransportResponse, body: unknown, addressHint: string, context: DecodeContext): Failure {
  const { status } = answer
  const { code, message, reason, denied } = readComplaint(body, context.secrets)
  const isHttpError = status >= 400
  // On a 2xx answer a code from 400 on stands in for the status. Without any code, a plain "no" is a refusal, and so
  // are the reasons that the interface knows; anything else does not say what happened.
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
    const what = describeIssues(found, ISSUES_IN_MESSAGE, say)
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
  // Of the service in a box.
  'x-refusal-reason',
]

/** Whether the part of an answer that broke off was what had been asked for. The status of an error says enough. */
export const lacksItsData = ({ status, complete }: TransportResponse): boolean =>
  !complete && status < 400 && !isRedirect(status)

/** The headers that help to trace an answer, out of an allow-list. */
export function traceHeaders(answer: TransportResponse, secrets: readonly string[]): Record<string, string> {
  const traced: Record<string, string> = {}
  for (const name of TRACE_HEADERS) {
    const value = headerOf(answer, name)
    if (value !== null) traced[name] = excerpt(value, secrets, LONGEST_HEADER)
  }
  return traced
}

/** A partner's own transport may give anything, or throw. */
function headerOf({ header }: TransportResponse, name: string): string | null {
  try {
    const value: unknown = header(name)
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
