import type { AnyEndpoint } from '../endpoints/index.ts'
import type { RequestEvent } from '../options.ts'
import type { ClientSettings } from '../settings.ts'
import { typeName } from '../shared/type-name.ts'
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
import { isTransportResponse, type Transport, type TransportRequest, type TransportResponse } from './transport.ts'

/** What every call of a client shares. */
export interface CallContext {
  readonly settings: ClientSettings
  readonly tokens: AccessTokens
  readonly transport: Transport
  readonly throttle: Throttle
  readonly addressHint: AddressHint
}

/** One attempt of a call. */
export interface Attempt {
  readonly prepared: PreparedCall
  readonly event: RequestEvent
  readonly endpoint: AnyEndpoint
  /** On the clock of `performance.now()`. */
  readonly deadline: number
  /** Called when the request is about to leave. */
  readonly onSending: () => void
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
export async function attemptOnce(context: CallContext, attempt: Attempt): Promise<unknown> {
  const { throttle, settings, tokens } = context
  const { secret } = attempt.prepared
  // What is at hand is not waited for. The token comes before its turn: a source that takes its time must not take up a
  // place.
  let token = tokens.kept ?? (await tokenOf(context, attempt))
  const admission = throttle.admitAtOnce(settings.accessToken) ?? (await admit(context, attempt))
  try {
    if (admission.waitedMs > LONG_WAIT_MS) token = tokens.kept ?? (await tokenOf(context, attempt))
    const credentials = { token, secrets: secret === undefined ? tokens.recent : [...tokens.recent, secret] }
    const sentAt = performance.now()
    const answer = await send(context, attempt, credentials)
    notify(settings.hooks, 'onResponse', () => {
      const durationMs = performance.now() - sentAt
      const headers = traceHeaders(answer, credentials.secrets)
      return { ...attempt.event, status: answer.status, durationMs, headers }
    })
    const data = dataOf(context, attempt, credentials, answer)
    throttle.accepted(admission)
    return data
  } catch (reason) {
    if (Failure.is(reason) && reason.kind === 'refused') {
      const isLimited = reason.status === TOO_MANY_REQUESTS
      if (isLimited) throttle.limited(admission, reason.retryAfterMs, pauseAfter(settings, attempt, reason))
      else throttle.accepted(admission)
    }
    throw reason
  } finally {
    throttle.release(admission)
  }
}

/** The pause of everyone after a 429 that names none: the partner's own backoff, if there is one. */
function pauseAfter({ retryDelayMs }: ClientSettings, { event }: Attempt, failure: Failure): (nth: number) => number {
  const toError = () => failure.toError({ operation: event.operation })
  return (nth) => pauseDelay(nth, retryDelayMs && (() => retryDelayMs(event.attempt, toError())))
}

function tokenOf({ tokens }: CallContext, { prepared, deadline }: Attempt): Promise<string> {
  const { signal, totalTimeoutMs } = prepared.settings
  return tokens.get(deadline - performance.now(), signal).catch((reason: unknown) => {
    throw reason === TIME_IS_UP ? noTokenInTime(totalTimeoutMs) : reason
  })
}

function admit({ settings, throttle }: CallContext, { prepared, event, deadline }: Attempt): Promise<Admission> {
  const { signal, totalTimeoutMs } = prepared.settings
  return throttle
    .admit(settings.accessToken, event.attempt - 1, deadline - performance.now(), signal)
    .catch((reason: unknown) => {
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
  { prepared, event, endpoint, deadline, onSending }: Attempt,
  { token, secrets }: Credentials,
): Promise<TransportResponse> {
  const { signal, timeoutMs, totalTimeoutMs } = prepared.settings
  const remainingMs = deadline - performance.now()
  // Timers can fire late: send nothing when no time is left.
  if (remainingMs <= 0) throw callTookTooLong(totalTimeoutMs, 'not_sent')
  notify(settings.hooks, 'onRequest', () => ({ ...event }))
  if (signal?.aborted) throw reasonOf(signal)
  onSending()
  const request: TransportRequest = {
    method: event.method,
    url: prepared.url,
    headers: { ...prepared.headers, authorization: `Bearer ${token}` },
    body: prepared.body,
    idempotent: endpoint.retry !== 'unsafe',
    maxResponseBytes: settings.maxResponseBytes,
  }
  return within(
    Math.min(timeoutMs, remainingMs),
    signal,
    (attemptSignal) => exchange(transport, request, attemptSignal, secrets),
    () => (timeoutMs < remainingMs ? attemptTookTooLong(timeoutMs) : callTookTooLong(totalTimeoutMs, 'no_answer')),
  )
}

/** @throws Failure for every answer that is not a success. */
function dataOf(
  { settings, tokens, addressHint }: CallContext,
  { event, endpoint }: Attempt,
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
                callId: event.callId,
                operation: event.operation,
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

/** @throws Failure when there is no whole answer. */
async function exchange(
  transport: Transport,
  request: TransportRequest,
  signal: AbortSignal,
  secrets: readonly string[],
): Promise<TransportResponse> {
  let answer: TransportResponse
  try {
    answer = await transport.send(request, signal)
  } catch (thrown) {
    throw transportFailure(thrown, secrets)
  }
  if (!isTransportResponse(answer)) throw notAnAnswer('the transport', typeName(answer))
  if (lacksItsData(answer)) throw brokenAnswer(answer.cause, secrets)
  return answer
}
