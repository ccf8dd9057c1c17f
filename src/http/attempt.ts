import type { AnyEndpoint, OperationName } from '../endpoints/index.ts'
import type { RequestEvent } from '../options.ts'
import type { ClientSettings } from '../settings.ts'
import { typeName } from '../shared/types.ts'
import {
  isTransportResponse,
  type SupposedResponse,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '../transport.ts'
import type { AddressHint } from './address-hint.ts'
import { decode, lacksItsData, traceHeaders } from './answer.ts'
import {
  attemptTookTooLong,
  brokenAnswer,
  callTookTooLong,
  Failure,
  noTokenInTime,
  notAnAnswer,
  transportFailure,
} from './failure.ts'
import { notify } from './notify.ts'
import type { PreparedCall } from './request.ts'
import { pauseDelay, TOO_MANY_REQUESTS } from './retry.ts'
import type { Admission, Throttle } from './throttle.ts'
import { reasonOf, TIME_IS_UP, within } from './timeout.ts'
import { type AccessTokens, expiryHint } from './token.ts'

/** What every call of a client shares. */
export interface CallContext {
  readonly settings: ClientSettings
  readonly tokens: AccessTokens
  readonly transport: Transport
  readonly throttle: Throttle
  readonly addressHint: AddressHint
}

/** One call, and how far it has got. */
export interface CallState {
  readonly callId: string
  readonly operation: OperationName
  readonly endpoint: AnyEndpoint
  /** On the clock of `performance.now()`. */
  readonly startedAt: number
  /** Which attempt it has come to: 1 for the first. */
  attempt: number
  /** How many attempts were sent. */
  sent: number
  /** A request has left, or may have, whose answer is not known yet. */
  isSending: boolean
  /** An attempt may have been carried out although it failed. */
  mayBeApplied: boolean
  /** The service refused its token, and another was asked for: that is done once. */
  renewed: boolean
}

/** What an attempt is sent with, and what must not appear in its errors. */
interface Credentials {
  readonly token: string
  readonly secrets: readonly string[]
}

/** A token that was fetched so long ago may have expired in line. */
const LONG_WAIT_MS = 1_000

/**
 * Waits for its turn, sends, and decodes the answer.
 *
 * @throws Failure, or the reason of the caller's signal.
 */
export async function attemptOnce(context: CallContext, call: CallState, prepared: PreparedCall): Promise<unknown> {
  const { throttle, settings, tokens } = context
  const { secret } = prepared
  // What is at hand is not waited for. The token comes before its turn: a source that takes its time must not take up a
  // place.
  let token = tokens.kept ?? (await tokenOf(context, call, prepared))
  const admission = throttle.admitAtOnce(settings.accessToken) ?? (await admit(context, call, prepared))
  try {
    // Stryker disable next-line EqualityOperator: nobody can tell whether it was a millisecond more
    if (admission.waitedMs > LONG_WAIT_MS) token = tokens.kept ?? (await tokenOf(context, call, prepared))
    const credentials = { token, secrets: secret === undefined ? tokens.recent : [...tokens.recent, secret] }
    const sentAt = performance.now()
    const answer = whole(await send(context, call, prepared, credentials), credentials.secrets)
    notify(settings.hooks, 'onResponse', () => {
      const durationMs = performance.now() - sentAt
      const headers = traceHeaders(answer, credentials.secrets)
      return { ...requestEvent(call, prepared), status: answer.status, durationMs, headers }
    })
    const data = dataOf(context, call, credentials, answer)
    throttle.accepted(admission)
    return data
  } catch (reason) {
    if (Failure.is(reason) && reason.kind === 'refused') {
      const isLimited = reason.status === TOO_MANY_REQUESTS
      if (isLimited) throttle.limited(admission, reason.retryAfterMs, pauseAfter(settings, call, reason))
      else throttle.accepted(admission)
    }
    throw reason
  } finally {
    throttle.release(admission)
  }
}

/** The attempt as hooks are told of it. */
export const requestEvent = (
  { callId, operation, endpoint, attempt }: CallState,
  { path }: PreparedCall,
): RequestEvent => ({ callId, operation, method: endpoint.method, path, attempt })

/** How long the call may still take, in milliseconds. */
export const timeLeft = ({ startedAt }: CallState, { settings }: PreparedCall): number =>
  startedAt + settings.totalTimeoutMs - performance.now()

/** The pause of everyone after a 429 that names none: the partner's own backoff, if there is one. */
function pauseAfter({ retryDelayMs }: ClientSettings, call: CallState, failure: Failure): (nth: number) => number {
  const toError = () => failure.toError({ operation: call.operation })
  return (nth) => pauseDelay(nth, retryDelayMs && (() => retryDelayMs(call.attempt, toError())))
}

function tokenOf({ tokens }: CallContext, call: CallState, prepared: PreparedCall): Promise<string> {
  const { signal, totalTimeoutMs } = prepared.settings
  return tokens.get(timeLeft(call, prepared), signal).catch((reason: unknown) => {
    throw reason === TIME_IS_UP ? noTokenInTime(totalTimeoutMs) : reason
  })
}

function admit({ settings, throttle }: CallContext, call: CallState, prepared: PreparedCall): Promise<Admission> {
  const { signal, totalTimeoutMs } = prepared.settings
  return throttle
    .admit(settings.accessToken, call.attempt - 1, timeLeft(call, prepared), signal)
    .catch((reason: unknown) => {
      // Stryker disable next-line StringLiteral: what counts is that it is none of the kinds that were sent
      throw reason === TIME_IS_UP ? callTookTooLong(totalTimeoutMs, 'not_sent') : reason
    })
}

/**
 * Sends, and reads the answer.
 *
 * @throws Failure, also as the reason of what is returned, or the reason of the caller's signal.
 */
function send(
  { settings, transport }: CallContext,
  call: CallState,
  prepared: PreparedCall,
  { token, secrets }: Credentials,
): Promise<TransportResponse> {
  const { signal, timeoutMs, totalTimeoutMs } = prepared.settings
  const remainingMs = timeLeft(call, prepared)
  // Timers can fire late: send nothing when no time is left.
  // Stryker disable next-line StringLiteral: what counts is that it is none of the kinds that were sent
  if (remainingMs <= 0) throw callTookTooLong(totalTimeoutMs, 'not_sent')
  notify(settings.hooks, 'onRequest', () => requestEvent(call, prepared))
  if (signal?.aborted) throw reasonOf(signal)
  call.sent++
  call.isSending = true
  const request: TransportRequest = {
    method: call.endpoint.method,
    url: prepared.url,
    headers: { ...prepared.headers, authorization: `Bearer ${token}` },
    body: prepared.body,
    idempotent: call.endpoint.retry !== 'unsafe',
    maxResponseBytes: settings.maxResponseBytes,
  }
  return within(
    Math.min(timeoutMs, remainingMs),
    signal,
    // A partner's transport may return its answer without a promise.
    (attemptSignal) => Promise.resolve(transport.send(request, attemptSignal)),
    () => (timeoutMs < remainingMs ? attemptTookTooLong(timeoutMs) : callTookTooLong(totalTimeoutMs, 'no_answer')),
    (thrown) => transportFailure(thrown, secrets),
  )
}

/** Reads an answer once, whatever it is. @throws Failure when it is none, or not a whole one. */
function whole(answer: TransportResponse, secrets: readonly string[]): TransportResponse {
  const read = readOnce(answer, secrets)
  if (!isTransportResponse(read)) throw notAnAnswer('the transport', typeName(answer))
  if (lacksItsData(read)) throw brokenAnswer(read.cause, secrets)
  return read
}

function readOnce(answer: Partial<TransportResponse> | null | undefined, secrets: readonly string[]): SupposedResponse {
  try {
    const { status, header, text, complete, cause } = answer ?? {}
    return { status, header, text, complete, cause }
  } catch (thrown) {
    throw transportFailure(thrown, secrets)
  }
}

/** @throws Failure for every answer that is not a success. */
function dataOf(
  { settings, tokens, addressHint }: CallContext,
  { callId, operation, endpoint }: CallState,
  { token, secrets }: Credentials,
  answer: TransportResponse,
): unknown {
  try {
    return decode<unknown>(endpoint, answer, {
      secrets,
      tokenHint: () => expiryHint(token),
      addressHint,
      report:
        settings.responseValidation === 'throw'
          ? undefined
          : ({ issues, moreIssues }) =>
              notify(settings.hooks, 'onInvalidResponse', () => ({
                callId,
                operation,
                status: answer.status,
                issues,
                ...(moreIssues > 0 && { moreIssues }),
              })),
    })
  } catch (reason) {
    if (Failure.is(reason) && reason.tokenRefused) tokens.refuse(token)
    throw reason
  }
}
