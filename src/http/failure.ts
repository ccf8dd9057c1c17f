import {
  type CampaignError,
  type ErrorContext,
  NetworkError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.ts'
import { TransportError } from '../transport.ts'
import { cut, excerpt, safeCause } from './redact.ts'

/**
 * How one attempt failed. It decides whether a retry is allowed.
 * - `not_sent`: the request certainly never left.
 * - `no_answer`: it may have arrived; no whole answer came back.
 * - `refused`: an error answer.
 * - `not_understood`: an answer from which the outcome is unknown.
 * - `no_token`: there was no token to send it with.
 */
export type FailureKind = 'not_sent' | 'no_answer' | 'refused' | 'not_understood' | 'no_token'

const SYSTEM_CODE = /^\w{1,64}$/
const MAX_DETAIL_LENGTH = 300

/** Thrown inside the pipeline only; `call.ts` turns it into a public error once the outcome is known. */
export class Failure extends Error {
  readonly kind: FailureKind
  /** Of a refusal: the HTTP status, or on a 2xx answer the `error.code` in its place. 0 otherwise. */
  readonly status: number
  readonly retryAfterMs: number | undefined
  /** The service refused the token: a renewed token may work. */
  readonly tokenRefused: boolean
  /** Never retried, even if the retry rules allow it. */
  readonly final: boolean
  readonly toError: (context: ErrorContext) => CampaignError

  constructor(
    kind: FailureKind,
    toError: (context: ErrorContext) => CampaignError,
    details: {
      status?: number | undefined
      retryAfterMs?: number | undefined
      tokenRefused?: boolean
      final?: boolean
    } = {},
  ) {
    super(kind)
    this.kind = kind
    this.toError = toError
    this.status = details.status ?? 0
    this.retryAfterMs = details.retryAfterMs
    this.tokenRefused = details.tokenRefused ?? false
    this.final = details.final ?? false
  }
}

/** Turns the rejection of a transport into a failure, without secrets. */
export function transportFailure(thrown: unknown, secrets: readonly RegExp[]): Failure {
  if (thrown instanceof Failure) return thrown
  if (!(thrown instanceof TransportError)) return networkFailure(thrown, true, secrets)
  return thrown.kind === 'too_large'
    ? tooLarge(thrown, secrets)
    : networkFailure(thrown, thrown.sent !== false, secrets)
}

/** The connection failed inside the body of an answer with data. */
export const brokenAnswer = (cause: unknown, secrets: readonly RegExp[]): Failure =>
  networkFailure(cause, true, secrets)

function networkFailure(thrown: unknown, sent: boolean, secrets: readonly RegExp[]): Failure {
  const known = thrown instanceof TransportError ? thrown : undefined
  const code = known?.systemCode
  const systemCode = code !== undefined && SYSTEM_CODE.test(code) ? excerpt(code, secrets, code.length) : undefined
  // A TransportError without a message only wraps its cause.
  const cause = safeCause(known?.message === '' ? known.cause : thrown, secrets)
  const what = sent ? 'the connection failed before a whole answer arrived' : 'the service could not be reached'
  const detail = cut([systemCode, ...messagesOf(cause)].filter(Boolean).join(', '), MAX_DETAIL_LENGTH)
  return new Failure(sent ? 'no_answer' : 'not_sent', ({ operation, outcome }) => {
    const message = `${operation}: ${what}${detail && ` (${detail})`}`
    return new NetworkError(message, { operation, outcome, cause, systemCode })
  })
}

/** The distinct messages of an error and its causes. The deepest cause is usually the most specific. */
function messagesOf(cause: Error | undefined): string[] {
  const messages: string[] = []
  for (let error = cause; error !== undefined; error = error.cause as Error | undefined) {
    if (!messages.includes(error.message)) messages.push(error.message)
  }
  return messages
}

function tooLarge({ message, status = 0 }: TransportError, secrets: readonly RegExp[]): Failure {
  const issue = { path: [], message: excerpt(message, secrets, MAX_DETAIL_LENGTH) || 'the answer is too large' }
  return new Failure('not_understood', ({ operation, outcome }) => {
    const text = `${operation}: ${issue.message}; maxResponseBytes allows more`
    return new UnexpectedResponseError(text, { operation, outcome, status, issues: [issue] })
  })
}

/** The request may have been sent, and a retry would not help. */
export const notAnAnswer = (who: string, got: string): Failure =>
  new Failure('not_understood', (context) => {
    return new NetworkError(`${context.operation}: ${who} returned no Response but ${got}`, context)
  })

/** One attempt took longer than `timeoutMs`. */
export const attemptTookTooLong = (timeoutMs: number): Failure =>
  new Failure('no_answer', timeout('attempt', timeoutMs, `an attempt took longer than ${timeoutMs} ms`))

/** The call took longer than `totalTimeoutMs`. */
export const callTookTooLong = (totalTimeoutMs: number): Failure =>
  new Failure(
    'no_answer',
    timeout('total', totalTimeoutMs, `the call, with its retries and waits, took longer than ${totalTimeoutMs} ms`),
    { final: true },
  )

/** Too little of `totalTimeoutMs` is left for an attempt. This attempt was not sent. */
export const noTimeToSend = (totalTimeoutMs: number): Failure =>
  new Failure(
    'not_sent',
    timeout('total', totalTimeoutMs, `too little is left of the ${totalTimeoutMs} ms of the call to send an attempt`),
    { final: true },
  )

/** The token source used up `totalTimeoutMs`. */
export const noTokenInTime = (totalTimeoutMs: number): Failure =>
  new Failure(
    'no_token',
    timeout(
      'total',
      totalTimeoutMs,
      `the access token source gave no token within the ${totalTimeoutMs} ms of the call`,
    ),
  )

/** The next attempt would begin too late; the failure of the last one is its cause. */
export const noTimeToRetry = (totalTimeoutMs: number, delayMs: number, last: Failure): Failure => {
  const wait = `${Math.ceil(delayMs)} ms`
  const why = last.retryAfterMs === undefined ? `a retry would wait ${wait}` : `the service asks to wait ${wait}`
  return new Failure(
    last.kind,
    timeout(
      'total',
      totalTimeoutMs,
      `no retry: ${why}, and too little of the call's ${totalTimeoutMs} ms would be left after that`,
    ),
  )
}

const timeout =
  (scope: 'attempt' | 'total', timeoutMs: number, what: string) =>
  (context: ErrorContext): TimeoutError =>
    new TimeoutError(`${context.operation}: ${what}`, { ...context, scope, timeoutMs })
