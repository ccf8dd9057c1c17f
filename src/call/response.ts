import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Issue } from '../errors/client-errors.ts'
import { accepts, validate } from '../schemas/validate.ts'
import type { Issues } from '../shared/issue.ts'
import { tryParseJson } from '../shared/text.ts'
import { isRecord } from '../shared/type-checks.ts'
import { isRedirect, type TransportResponse } from '../transports/transport.ts'
import type { Failure } from './failure.ts'
import { decodeError, type ResponseContext, tracingHeaders, unexpectedResponse } from './response-errors.ts'

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
  if (accepts(schema, data)) return { data }
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
