import { type BodyRead, rawBytes, wholeBody } from '../body-collector.ts'
import { SIGNATURE_HEADER } from '../read-message.ts'
import type { ReceiverCore, RequestLimits } from '../receiver-core.ts'
import type { WebhookAnswer } from '../webhook-answer.ts'

/**
 * The part of an event that is used: of API Gateway REST (payload 1.0) and HTTP APIs (1.0 and 2.0), application load
 * balancers (with and without multi-value headers) and function URLs. The types of `@types/aws-lambda` fit.
 */
export interface LambdaHttpEvent {
  httpMethod?: string | undefined
  headers?: Readonly<Record<string, string | undefined>> | null | undefined
  multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined
  body?: string | null | undefined
  isBase64Encoded?: boolean | undefined
  /** Its `http.method` (payload 2.0) and its `elb` are used. */
  requestContext?: object | undefined
}

/** The part of the Lambda context that is used. */
export interface LambdaContext {
  getRemainingTimeInMillis?(): number
}

/** An answer for the source of the event: a load balancer with multi-value headers ignores plain headers. */
export interface LambdaHttpResult {
  statusCode: number
  /** Load balancers only. */
  statusDescription?: string
  headers?: Record<string, string>
  multiValueHeaders?: Record<string, string[]>
  body: string
  isBase64Encoded: boolean
}

/** See `WebhookReceiver.lambda`. */
export type LambdaHandler = (event: LambdaHttpEvent, context?: LambdaContext) => Promise<LambdaHttpResult>

/** How long before the end of the invocation the handler is aborted, and the answer given. */
const STOP_MS = 2000
const ANSWER_MS = 500

export function lambdaAdapter(core: ReceiverCore): LambdaHandler {
  return async (event, context) => {
    const method = requestContext(event).http?.method ?? event?.httpMethod
    if (typeof method !== 'string') {
      throw new TypeError(
        'receiver.lambda: not an HTTP event (no httpMethod, no requestContext.http.method). Connect the Lambda function to API Gateway, ' +
          'a load balancer or a function URL.',
      )
    }
    return core.accept(
      {
        method,
        signature: headerValues(event, SIGNATURE_HEADER),
        readBody: async ({ maxBytes }) => readEventBody(event, maxBytes),
      },
      (answer) => result(event, answer),
      { ...limitsOf(context, core.settings.maxRunMs), untilRecorded: true },
    )
  }
}

/** Payload 2.0 has `http`, a load balancer `elb`, payload 1.0 neither. */
function requestContext(event: LambdaHttpEvent): { http?: { method?: unknown }; elb?: unknown } {
  return event?.requestContext ?? {}
}

function limitsOf(context: LambdaContext | undefined, maxRunMs: number): RequestLimits {
  const remainingMs = context?.getRemainingTimeInMillis?.()
  if (remainingMs === undefined) return { runMs: maxRunMs, answerMs: maxRunMs + STOP_MS - ANSWER_MS }
  // Less for a function with a short time limit; Lambda's default is 3 s.
  const runMs = Math.min(maxRunMs, remainingMs - Math.min(STOP_MS, remainingMs * 0.4))
  return { runMs, answerMs: runMs + Math.min(STOP_MS - ANSWER_MS, remainingMs * 0.3) }
}

/** Returns every value of a header. REST APIs and load balancers keep the case of its name as sent. */
function headerValues({ headers, multiValueHeaders }: LambdaHttpEvent, name: string): string[] {
  const valuesIn = (source: object): string[] =>
    Object.entries(source).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []))
  const values = valuesIn(multiValueHeaders ?? {})
  return values.length > 0 ? values : valuesIn(headers ?? {})
}

function readEventBody({ body, isBase64Encoded }: LambdaHttpEvent, maxBytes: number): BodyRead {
  if (body === undefined || body === null) return wholeBody(new Uint8Array(), maxBytes)
  if (typeof body !== 'string') {
    return {
      ok: false,
      reason: 'body_not_raw',
      detail:
        'event.body is not a string: a middleware (a JSON body parser) ran before the receiver. Remove it from this function.',
    }
  }
  if (!isBase64Encoded) return wholeBody(rawBytes(body) ?? new Uint8Array(), maxBytes)
  // Four characters hold three bytes: refuse a body that is too large before decoding it.
  if ((body.length / 4) * 3 > maxBytes + 2) return { ok: false, reason: 'too_large' }
  let decoded: string
  try {
    decoded = atob(body)
  } catch {
    return { ok: false, reason: 'body_not_raw', detail: 'event.isBase64Encoded is true, but event.body is not base64.' }
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

function result(event: LambdaHttpEvent, { status, headers, body }: WebhookAnswer): LambdaHttpResult {
  const base = { statusCode: status, body, isBase64Encoded: false }
  if (!requestContext(event).elb) return { ...base, headers: { ...headers } }
  const statusDescription = `${status} ${STATUS_TEXT[status] ?? ''}`.trimEnd()
  if (!event.multiValueHeaders) return { ...base, statusDescription, headers: { ...headers } }
  const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
  return { ...base, statusDescription, multiValueHeaders }
}
