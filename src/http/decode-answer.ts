import type { Endpoint } from '../endpoints/endpoint.ts'
import { type Issue, UnexpectedResponseError } from '../errors.ts'
import { describeIssues, type Issues } from '../schemas/issue.ts'
import { validate } from '../schemas/validate.ts'
import { tryParseJson } from '../shared/text/json.ts'
import { isRecord } from '../shared/type-checks.ts'
import { isRedirect, type TransportResponse } from '../transport.ts'
import { decodeErrorAnswer, type ErrorAnswerContext } from './decode-error-answer.ts'
import { Failure } from './failure.ts'

export interface DecodeContext extends Pick<ErrorAnswerContext, 'secrets' | 'tokenHint'> {
  readonly addressHint: AddressHint
  /** Called with the issues of data that does not fit its schema. If `undefined`, that data fails the call. */
  readonly report: ((issues: Issues) => void) | undefined
}

/**
 * Adds a hint to the errors of 404 answers if `baseUrl` does not end with `/api/v1`. An answer with another status, or with
 * the envelope of the service, shows that the address is right. Later errors then have no hint.
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

const MAX_ISSUES_IN_MESSAGE = 5

type ResponseSchema<Data> = Pick<Endpoint<unknown, Data>, 'response' | 'fitsResponse'>

/**
 * Returns the data of an answer. An answer is an error if its HTTP status, `success` or `error` says so: the interface shows
 * errors with `success: true`. Interface: [Errors](/the-service#errors).
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
  // Not every transport removes the byte order mark.
  const body = tryParseJson(answer.text.replace(/^\uFEFF/, ''))
  const addressHint = context.addressHint.after(status, body)
  if (status >= 400 || reportsError(body)) throw decodeErrorAnswer(answer, body, { ...context, addressHint })
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

/** Whether the data of an answer is incomplete. An error answer needs only its status. */
export const isDataIncomplete = ({ status, complete }: TransportResponse): boolean =>
  !complete && status < 400 && !isRedirect(status)
