import type { ReceiverSettings } from '../options.ts'
import type { InvocationLimits, Receiver } from '../receiver.ts'
import { type BodyRead, SIGNATURE_HEADER, wholeBody } from '../request.ts'
import type { WebhookResponse } from '../responses.ts'

/**
 * The members of an event that the receiver uses. Events of API Gateway REST (payload 1.0) and HTTP APIs (1.0 and 2.0),
 * application load balancers (with and without multi-value headers) and function URLs have them. The types of
 * `@types/aws-lambda` are compatible.
 */
export interface LambdaHttpEvent {
  /** The HTTP method (payload 1.0 and load balancers). */
  httpMethod?: string | undefined
  /** The headers. */
  headers?: Readonly<Record<string, string | undefined>> | null | undefined
  /** The headers, with all values of each. */
  multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined
  /** The body: text or base64. */
  body?: string | null | undefined
  /** Whether the body is base64. */
  isBase64Encoded?: boolean | undefined
  /** The receiver uses `http.method` (payload 2.0) and `elb`. */
  requestContext?: object | undefined
}

/** The members of the Lambda context that the receiver uses. */
export interface LambdaContext {
  /** Returns the time left for the invocation, in milliseconds. */
  getRemainingTimeInMillis?(): number
}

/** The response. A load balancer with multi-value headers gets `multiValueHeaders`, because it ignores `headers`. */
export interface LambdaHttpResult {
  /** The HTTP status. */
  statusCode: number
  /** Load balancers only. */
  statusDescription?: string
  /** The headers. */
  headers?: Record<string, string>
  /** The headers, for a load balancer with multi-value headers. */
  multiValueHeaders?: Record<string, string[]>
  /** The body. */
  body: string
  /** Always false: the body is text. */
  isBase64Encoded: boolean
}

/** See `WebhookReceiver.lambda`. */
export type LambdaHandler = (event: LambdaHttpEvent, context?: LambdaContext) => Promise<LambdaHttpResult>

/** The response is due this long before the end of the invocation, or a tenth of the time left if that is less. */
const MARGIN_MS = 500
/** The signal of the handler fires this long before the response is due. */
const STOP_MS = 500

export function lambdaAdapter(receiver: Receiver): LambdaHandler {
  return async (event, context) => {
    const method = requestContext(event).http?.method ?? event?.httpMethod
    if (typeof method !== 'string') {
      throw new TypeError(
        'receiver.lambda: not an HTTP event (no httpMethod, no requestContext.http.method). Connect the Lambda function to API Gateway, ' +
          'a load balancer or a function URL.',
      )
    }
    return receiver.accept(
      {
        method,
        signature: headerValues(event, SIGNATURE_HEADER),
        readBody: async ({ maxBytes }) => readEventBody(event, maxBytes),
      },
      (response) => result(event, response),
      { ...limitsOf(context, receiver.settings), respondAfterRecording: true },
    )
  }
}

/** Payload 2.0 has `http`, a load balancer has `elb`, payload 1.0 has neither. */
function requestContext(event: LambdaHttpEvent): { http?: { method?: unknown }; elb?: unknown } {
  return event?.requestContext ?? {}
}

function limitsOf(context: LambdaContext | undefined, { deadlineMs, maxRunMs }: ReceiverSettings): InvocationLimits {
  const leftMs = timeLeft(context)
  const dueMs = leftMs === undefined ? deadlineMs : leftMs - Math.min(MARGIN_MS, leftMs / 10)
  const respondMs = Math.min(dueMs, maxRunMs + STOP_MS)
  return { respondMs, runMs: respondMs - STOP_MS }
}

/**
 * Returns the time left for the invocation in milliseconds: `Infinity` without a function that tells it, `undefined` if that
 * function throws or returns no number.
 */
function timeLeft(context: LambdaContext | undefined): number | undefined {
  try {
    const leftMs: unknown = context?.getRemainingTimeInMillis?.() ?? Infinity
    return typeof leftMs === 'number' && !Number.isNaN(leftMs) ? leftMs : undefined
  } catch {
    return undefined
  }
}

/** Returns all values of a header. REST APIs and load balancers do not convert its name to lower case. */
function headerValues({ headers, multiValueHeaders }: LambdaHttpEvent, name: string): string[] {
  const valuesIn = (source: object): string[] =>
    Object.entries(source).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []))
  const values = valuesIn(multiValueHeaders ?? {})
  return values.length > 0 ? values : valuesIn(headers ?? {})
}

function readEventBody({ body, isBase64Encoded }: LambdaHttpEvent, maxBytes: number): BodyRead {
  if (body === undefined || body === null) return { ok: true, bytes: new Uint8Array() }
  if (typeof body !== 'string') {
    return {
      ok: false,
      reason: 'body_not_raw',
      detail:
        'event.body is not a string: a middleware (a JSON body parser) ran before the receiver; remove the middleware',
    }
  }
  if (!isBase64Encoded) return wholeBody(new TextEncoder().encode(body), maxBytes)
  let decoded: string
  try {
    decoded = atob(body)
  } catch {
    return { ok: false, reason: 'body_not_raw', detail: 'event.isBase64Encoded is true, but event.body is not base64' }
  }
  return wholeBody(
    Uint8Array.from(decoded, (character) => character.charCodeAt(0)),
    maxBytes,
  )
}

const STATUS_TEXT: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

function result(event: LambdaHttpEvent, { status, headers, body }: WebhookResponse): LambdaHttpResult {
  const base = { statusCode: status, body, isBase64Encoded: false }
  if (!requestContext(event).elb) return { ...base, headers: { ...headers } }
  const statusDescription = `${status} ${STATUS_TEXT[status]}`
  if (!event.multiValueHeaders) return { ...base, statusDescription, headers: { ...headers } }
  const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
  return { ...base, statusDescription, multiValueHeaders }
}
