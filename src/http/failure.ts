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
 * How one attempt failed. The kind decides whether a retry is allowed.
 * - `not_sent`: the request was certainly not sent.
 * - `no_answer`: the request may have been sent, and no complete answer arrived.
 * - `refused`: the service answered with an error.
 * - `not_understood`: the answer does not show whether the request was applied.
 * - `no_token`: the access token source gave no token.
 */
export type FailureKind = 'not_sent' | 'no_answer' | 'refused' | 'not_understood' | 'no_token'

const SYSTEM_CODE = /^\w{1,64}$/
const MAX_DETAIL_LENGTH = 300

/** The failure of one attempt. `call.ts` adds the outcome of the write and converts it to a public error. */
export class Failure extends Error {
  readonly kind: FailureKind
  /** The HTTP status of an error answer. For a 2xx answer, its `error.code`. Otherwise 0. */
  readonly status: number
  readonly retryAfterMs: number | undefined
  /** Whether the service refused the token. A renewed token may work. */
  readonly tokenRefused: boolean
  /** Whether a retry is ruled out, even if the retry rule allows it. */
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

/** Converts the rejection of a transport to a failure without secrets. */
export function transportFailure(thrown: unknown, secrets: readonly RegExp[]): Failure {
  if (thrown instanceof Failure) return thrown
  if (!(thrown instanceof TransportError)) return networkFailure(thrown, true, secrets)
  return thrown.kind === 'too_large'
    ? tooLarge(thrown, secrets)
    : networkFailure(thrown, thrown.sent !== false, secrets)
}

/** The connection failed before the end of a 2xx answer. */
export const incompleteAnswer = (cause: unknown, secrets: readonly RegExp[]): Failure =>
  networkFailure(cause, true, secrets)

function networkFailure(thrown: unknown, sent: boolean, secrets: readonly RegExp[]): Failure {
  const known = thrown instanceof TransportError ? thrown : undefined
  const code = known?.systemCode
  const systemCode = code !== undefined && SYSTEM_CODE.test(code) ? excerpt(code, secrets, code.length) : undefined
  // A TransportError without a message only wraps its cause.
  const cause = safeCause(known?.message === '' ? known.cause : thrown, secrets)
  const problem = sent ? 'the connection failed before a complete answer arrived' : 'the service could not be reached'
  const detail = cut([systemCode, ...messagesOf(cause)].filter(Boolean).join(', '), MAX_DETAIL_LENGTH)
  return new Failure(sent ? 'no_answer' : 'not_sent', ({ operation, outcome }) => {
    const message = `${operation}: ${problem}${detail && ` (${detail})`}`
    return new NetworkError(message, { operation, outcome, cause, systemCode })
  })
}

/** Returns the distinct messages of an error and its causes. The deepest cause is usually the most specific. */
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
    const text = `${operation}: ${issue.message}; raise maxResponseBytes to accept it`
    return new UnexpectedResponseError(text, { operation, outcome, status, issues: [issue] })
  })
}

/** The partner's code did not return a response. The request may have been sent, and a retry would not help. */
export const invalidResponse = (message: string): Failure =>
  new Failure('not_understood', (context) => {
    return new NetworkError(`${context.operation}: ${message}`, context)
  })

export const attemptTookTooLong = (timeoutMs: number): Failure =>
  new Failure('no_answer', timeout('attempt', timeoutMs, `the attempt took longer than timeoutMs (${timeoutMs} ms)`))

export const callTookTooLong = (totalTimeoutMs: number): Failure =>
  new Failure(
    'no_answer',
    timeout('total', totalTimeoutMs, `the call took longer than totalTimeoutMs (${totalTimeoutMs} ms)`),
    { final: true },
  )

/** Too little of `totalTimeoutMs` is left for an attempt, so it was not sent. */
export const noTimeToSend = (totalTimeoutMs: number): Failure =>
  new Failure(
    'not_sent',
    timeout(
      'total',
      totalTimeoutMs,
      `too little of totalTimeoutMs (${totalTimeoutMs} ms) was left to send the request`,
    ),
    { final: true },
  )

export const noTokenInTime = (totalTimeoutMs: number): Failure =>
  new Failure(
    'no_token',
    timeout('total', totalTimeoutMs, `the access token source took longer than totalTimeoutMs (${totalTimeoutMs} ms)`),
  )

/** Too little of `totalTimeoutMs` would be left after the wait for a retry. */
export const noTimeToRetry = (totalTimeoutMs: number, delayMs: number, last: Failure): Failure => {
  const wait = `${Math.ceil(delayMs)} ms`
  const reason = last.retryAfterMs === undefined ? `a retry would wait ${wait}` : `the service asks to wait ${wait}`
  return new Failure(
    last.kind,
    timeout(
      'total',
      totalTimeoutMs,
      `no retry: ${reason}, and too little of totalTimeoutMs (${totalTimeoutMs} ms) would be left`,
    ),
  )
}

const timeout =
  (scope: 'attempt' | 'total', timeoutMs: number, problem: string) =>
  (context: ErrorContext): TimeoutError =>
    new TimeoutError(`${context.operation}: ${problem}`, { ...context, scope, timeoutMs })
