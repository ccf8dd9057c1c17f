import {
  type CampaignError,
  ConfigurationError,
  type ErrorContext,
  NetworkError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.ts'
import { TransportError } from '../transport.ts'
import { property } from './property.ts'
import { cut, redact, safeCause } from './redact.ts'

/**
 * How one attempt failed, as far as a retry is concerned.
 * - `not_sent`: the request certainly never left: connection refused, no such host.
 * - `no_answer`: it may have arrived; no whole answer came back.
 * - `refused`: an error answer.
 * - `not_understood`: an answer that does not say what happened.
 * - `no_token`: there was nothing to send it with.
 */
export type FailureKind = 'not_sent' | 'no_answer' | 'refused' | 'not_understood' | 'no_token'

const SYSTEM_CODE = /^\w{1,64}$/
const LONGEST_DETAIL = 300

/** Thrown inside the pipeline only; `call.ts` turns it into a public error once the outcome is known. */
export class Failure extends Error {
  readonly #isFailure = true

  /** In place of `instanceof`: what partners throw may be a Proxy, which throws when it is asked for its prototype. */
  static is(value: unknown): value is Failure {
    return typeof value === 'object' && value !== null && #isFailure in value && value.#isFailure
  }

  readonly kind: FailureKind
  /** Of a refusal: the HTTP status, or on a 2xx answer the `error.code` in its place. 0 of everything else. */
  readonly status: number
  readonly retryAfterMs: number | undefined
  /** The service refused the token, so that another may do. */
  readonly tokenRefused: boolean
  /** The call has no time left, whatever the rules of retries say. */
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

/** What a transport rejected with. Its words leave without the secrets. */
export function transportFailure(thrown: unknown, secrets: readonly string[]): Failure {
  if (Failure.is(thrown)) return thrown
  if (!(thrown instanceof TransportError)) return networkFailure(thrown, true, secrets)
  return property(thrown, 'kind') === 'too_large'
    ? tooLarge(thrown, secrets)
    : networkFailure(thrown, property(thrown, 'sent') !== false, secrets)
}

/** The connection broke off within the body of an answer that was to carry data. */
export const brokenAnswer = (cause: unknown, secrets: readonly string[]): Failure =>
  networkFailure(cause, true, secrets)

function networkFailure(thrown: unknown, sent: boolean, secrets: readonly string[]): Failure {
  const known = thrown instanceof TransportError ? thrown : undefined
  const code = known && property(known, 'systemCode')
  const systemCode = typeof code === 'string' && SYSTEM_CODE.test(code) ? redact(code, secrets) : undefined
  // A transport that adds no words of its own only passes on what it caught.
  const cause = safeCause(known && property(known, 'message') === '' ? property(known, 'cause') : thrown, secrets)
  const what = sent ? 'the connection failed before a whole answer arrived' : 'the service could not be reached'
  const detail = cut([systemCode, ...wordsOf(cause)].filter(Boolean).join(', '), LONGEST_DETAIL)
  return new Failure(sent ? 'no_answer' : 'not_sent', ({ operation, outcome }) => {
    const message = `${operation}: ${what}${detail && ` (${detail})`}`
    return new NetworkError(message, { operation, outcome, cause, systemCode })
  })
}

/** The messages down a chain of causes, each once: the deepest tells most. */
function wordsOf(cause: Error | undefined): string[] {
  const words: string[] = []
  for (let error = cause; error !== undefined; error = error.cause as Error | undefined) {
    if (!words.includes(error.message)) words.push(error.message)
  }
  return words
}

function tooLarge(thrown: TransportError, secrets: readonly string[]): Failure {
  const [message, found] = [property(thrown, 'message'), property(thrown, 'status')]
  const status = typeof found === 'number' ? found : 0
  const issue = {
    path: [],
    message: redact(typeof message === 'string' ? message : 'the answer is too large', secrets),
  }
  return new Failure('not_understood', ({ operation, outcome }) => {
    const text = `${operation}: ${issue.message}; maxResponseBytes allows more`
    return new UnexpectedResponseError(text, { operation, outcome, status, issues: [issue] })
  })
}

/** Who sent it may have sent it all the same, and would do no better the next time. */
export const notAnAnswer = (who: string, got: string): Failure =>
  new Failure('not_understood', (context) => {
    return new NetworkError(`${context.operation}: ${who} returned no Response but ${got}`, context)
  })

/** `Response.error()`, by which a `fetch` says that the network failed. What came before it, it does not say. */
export const networkErrorResponse = (): Failure =>
  new Failure('not_understood', (context) => {
    const message = 'expected an answer; fetch returned Response.error(), which stands for a network that failed'
    const issues = [{ path: [], message }]
    return new UnexpectedResponseError(`${context.operation}: ${message}`, { ...context, status: 0, issues })
  })

/** There is nothing to send the request with. */
export const missingGlobals = (names: readonly string[]): Failure =>
  new Failure(
    // Stryker disable next-line StringLiteral: what counts is that it is none of the kinds that were sent
    'not_sent',
    (context) => {
      const what = `this runtime has no global ${names.join(', ')}; pass a transport, or provide what is missing`
      return new ConfigurationError(`${context.operation}: ${what}. Nothing was sent.`, context)
    },
    { final: true },
  )

/** One attempt took longer than it may. */
export const attemptTookTooLong = (timeoutMs: number): Failure =>
  new Failure('no_answer', timeout('attempt', timeoutMs, `an attempt took longer than ${timeoutMs} ms`))

/** The call as a whole took longer than it may. What was not sent can't have been applied. */
export const callTookTooLong = (totalTimeoutMs: number, kind: 'not_sent' | 'no_answer'): Failure =>
  new Failure(
    kind,
    timeout('total', totalTimeoutMs, `the call, with its retries and waits, took longer than ${totalTimeoutMs} ms`),
    { final: true },
  )

/** The source of tokens took all the time there was. */
export const noTokenInTime = (totalTimeoutMs: number): Failure =>
  new Failure(
    // Stryker disable next-line StringLiteral: what counts is that it is none of the kinds that were sent
    'no_token',
    timeout(
      'total',
      totalTimeoutMs,
      `the access token source gave no token within the ${totalTimeoutMs} ms of the call`,
    ),
  )

/** The next attempt would begin after the end of the call; the failure of the last one is its cause. */
export const noTimeToRetry = (totalTimeoutMs: number, delayMs: number, last: Failure): Failure => {
  const wait = `${Math.ceil(delayMs)} ms`
  const why = last.retryAfterMs === undefined ? `a retry would wait ${wait}` : `the service asks to wait ${wait}`
  return new Failure(
    last.kind,
    timeout(
      'total',
      totalTimeoutMs,
      `given up: ${why}, and the call has less than that left of its ${totalTimeoutMs} ms`,
    ),
  )
}

const timeout =
  (scope: 'attempt' | 'total', timeoutMs: number, what: string) =>
  (context: ErrorContext): TimeoutError =>
    new TimeoutError(`${context.operation}: ${what}`, { ...context, scope, timeoutMs })
