import {
  AccessTokenError,
  type CampaignError,
  NetworkError,
  RateLimitError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors/client-errors.ts'
import { isError } from '../shared/type-checks.ts'
import { NotAResponseError, systemCodeOf, TransportError } from '../transports/transport.ts'
import { cut, excerpt, type Secrets, safeCause } from './redact.ts'

/**
 * How one attempt failed. The kind decides whether a retry is allowed.
 * - `not_sent`: the request was certainly not sent.
 * - `no_response`: the request may have been sent, and no complete response arrived.
 * - `refused`: the service responded with an error.
 * - `not_understood`: the response does not show whether the request was applied.
 * - `no_token`: the access token source gave no token.
 */
type FailureKind = 'not_sent' | 'no_response' | 'refused' | 'not_understood' | 'no_token'

interface FailureDetails {
  /** The HTTP status of an error response. For a 2xx response, its `error.code`. */
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
  /** Whether the service refused the token. A renewed token may work. */
  readonly isTokenRefused?: boolean
  /** Whether a retry is ruled out, even if the retry rule allows it. */
  readonly isFinal?: boolean
}

/** The failure of one attempt: a value, never thrown. */
export class Failure {
  readonly kind: FailureKind
  /** The public error. The call adds what only it knows: the attempts, and the outcome of a write. */
  readonly error: CampaignError
  readonly status: number
  readonly retryAfterMs: number | undefined
  readonly isTokenRefused: boolean
  readonly isFinal: boolean

  constructor(kind: FailureKind, error: CampaignError, details: FailureDetails = {}) {
    this.kind = kind
    this.error = error
    this.status = details.status ?? 0
    this.retryAfterMs = details.retryAfterMs
    this.isTokenRefused = details.isTokenRefused ?? false
    this.isFinal = details.isFinal ?? false
  }
}

/** Whether the service may have applied the write of a failed attempt. */
export const mayHaveBeenApplied = ({ kind, status }: Failure): boolean =>
  kind === 'no_response' || kind === 'not_understood' || status >= 500 || status === 408

const SYSTEM_CODE = /^\w{1,64}$/
const MAX_DETAIL_LENGTH = 300

/** Returns the failure of an attempt whose transport rejected, without secrets. */
export function transportFailure(operation: string, thrown: unknown, secrets: Secrets): Failure {
  if (isError(thrown) && thrown instanceof NotAResponseError) return noResponse(operation, thrown.message)
  if (!(thrown instanceof TransportError)) return networkFailure(operation, thrown, true, secrets)
  return thrown.kind === 'too_large'
    ? tooLarge(operation, thrown, secrets)
    : networkFailure(operation, thrown, thrown.sent !== false, secrets)
}

/** The connection failed before the end of a 2xx response. */
export const incompleteResponse = (operation: string, cause: unknown, secrets: Secrets): Failure =>
  networkFailure(operation, cause, true, secrets)

function networkFailure(operation: string, thrown: unknown, sent: boolean, secrets: Secrets): Failure {
  const known = thrown instanceof TransportError ? thrown : undefined
  const code = known?.systemCode ?? systemCodeOf(thrown)
  const systemCode = code !== undefined && SYSTEM_CODE.test(code) ? excerpt(code, secrets, code.length) : undefined
  // A TransportError without a message only wraps its cause.
  const cause = safeCause(known?.message === '' ? known.cause : thrown, secrets)
  const problem = sent ? 'the connection failed before a complete response arrived' : 'the service could not be reached'
  const detail = cut([systemCode, ...messagesOf(cause)].filter(Boolean).join(', '), MAX_DETAIL_LENGTH)
  const message = `${operation}: ${problem}${detail && ` (${detail})`}`
  return new Failure(sent ? 'no_response' : 'not_sent', new NetworkError(message, { operation, cause, systemCode }))
}

/** Returns the distinct messages of an error, its causes, and the errors of an `AggregateError`. */
function messagesOf(cause: Error | undefined): string[] {
  const messages = new Set<string>()
  for (let error = cause; error !== undefined; error = error.cause as Error | undefined) {
    const { errors = [] } = error as Partial<AggregateError>
    for (const { message } of [error, ...errors]) messages.add(message)
  }
  return [...messages]
}

function tooLarge(operation: string, { message, status = 0 }: TransportError, secrets: Secrets): Failure {
  const issue = { path: [], message: excerpt(message, secrets, MAX_DETAIL_LENGTH) || 'the response is too large' }
  const text = `${operation}: ${issue.message}; raise maxResponseBytes to accept it`
  return new Failure('not_understood', new UnexpectedResponseError(text, { operation, status, issues: [issue] }))
}

/** The caller's `fetch` or transport did not return a response. The request may have been sent, and a retry would not help. */
export const noResponse = (operation: string, problem: string): Failure =>
  new Failure('not_understood', new NetworkError(`${operation}: ${problem}`, { operation }))

/** The access token source gave no token. */
export function tokenFailure(operation: string, problem: string, cause?: Error): Failure {
  const text = `${operation}: ${problem}${detailOf(cause)}`
  return new Failure('no_token', new AccessTokenError(text, { operation, cause }))
}

/** The pause after a 429 is too long to wait for, so the request was not sent. */
export function pauseTooLong(operation: string, retryAfterMs: number): Failure {
  const seconds = Math.ceil(retryAfterMs / 1_000)
  const message = `${operation}: the service asked to wait ${seconds} s (HTTP 429); nothing was sent`
  const error = new RateLimitError(message, { operation, status: 429, headers: {}, retryAfterMs })
  return new Failure('not_sent', error, { retryAfterMs })
}

/** @param cause - why there was no response, if the transport told it */
export function attemptTimedOut(operation: string, timeoutMs: number, cause?: Error): Failure {
  const problem = `the attempt took longer than timeoutMs (${timeoutMs} ms)${detailOf(cause)}`
  return new Failure('no_response', timeout(operation, 'attempt', timeoutMs, problem, cause))
}

/** @param cause - why there was no response, if the transport told it */
export function callTimedOut(operation: string, totalTimeoutMs: number, cause?: Error): Failure {
  const problem = `the call took longer than totalTimeoutMs (${totalTimeoutMs} ms)${detailOf(cause)}`
  return new Failure('no_response', timeout(operation, 'total', totalTimeoutMs, problem, cause), { isFinal: true })
}

const detailOf = (cause: Error | undefined): string =>
  cause === undefined || cause.message === '' ? '' : `: ${cause.message}`

/** Too little of `totalTimeoutMs` is left for an attempt, so it was not sent. */
export function noTimeToSend(operation: string, totalTimeoutMs: number): Failure {
  const problem = `too little of totalTimeoutMs (${totalTimeoutMs} ms) was left to send the request`
  return new Failure('not_sent', timeout(operation, 'total', totalTimeoutMs, problem), { isFinal: true })
}

export function noTokenInTime(operation: string, totalTimeoutMs: number): Failure {
  const problem = `the access token source took longer than totalTimeoutMs (${totalTimeoutMs} ms)`
  return new Failure('no_token', timeout(operation, 'total', totalTimeoutMs, problem))
}

/** Too little of `totalTimeoutMs` would be left after the wait for a retry. */
export function noTimeToRetry(operation: string, totalTimeoutMs: number, delayMs: number, last: Failure): TimeoutError {
  const wait = `${Math.ceil(delayMs)} ms`
  const reason = last.retryAfterMs === undefined ? `a retry would wait ${wait}` : `the service asks to wait ${wait}`
  const problem = `no retry: ${reason}, and too little of totalTimeoutMs (${totalTimeoutMs} ms) would be left`
  return timeout(operation, 'total', totalTimeoutMs, problem, last.error)
}

const timeout = (
  operation: string,
  scope: 'attempt' | 'total',
  timeoutMs: number,
  problem: string,
  cause?: Error,
): TimeoutError => new TimeoutError(`${operation}: ${problem}`, { operation, scope, timeoutMs, cause })

/** The digests of Next.js that do not begin with `NEXT_`. They make a page dynamic, or end a prerender. */
const DIGESTS: readonly unknown[] = [
  'DYNAMIC_SERVER_USAGE',
  'BAILOUT_TO_CLIENT_SIDE_RENDERING',
  'HANGING_PROMISE_REJECTION',
]

/**
 * Returns the signal of Next.js that `fetch` or the token source has thrown, such as `redirect()` or `cookies()` in a static page.
 * Returns `undefined` for any other error. Next.js needs the signal unchanged. Ordinary errors may have a `digest` too, with another
 * value.
 */
export function nextSignalOf(thrown: unknown): unknown {
  const error = thrown instanceof TransportError ? thrown.cause : thrown
  return isNextSignal(error) ? error : undefined
}

function isNextSignal(error: unknown): boolean {
  if (!isError(error)) return false
  const digest = readDigest(error)
  return typeof digest === 'string' && (digest.startsWith('NEXT_') || DIGESTS.includes(digest))
}

/** A thrown value may be anything, even an error whose getter throws. */
function readDigest(error: Error): unknown {
  try {
    return (error as { digest?: unknown }).digest
  } catch {
    return undefined
  }
}
