import type { AnyEndpoint, OperationName } from '../endpoints/index.ts'
import type { ClientHooks, RequestEvent } from '../options.ts'
import type { ClientSettings } from '../settings/client-settings.ts'
import { callHook } from '../shared/call-hook.ts'
import { typeName } from '../shared/types.ts'
import { isTransportResponse, type Transport, type TransportRequest, type TransportResponse } from '../transport.ts'
import { type AddressHint, decode, lacksItsData, traceHeaders } from './answer.ts'
import type { AttemptCancellation, CancellableSend } from './cancellation.ts'
import {
  attemptTookTooLong,
  brokenAnswer,
  callTookTooLong,
  Failure,
  noTimeToSend,
  noTokenInTime,
  notAnAnswer,
  transportFailure,
} from './failure.ts'
import type { PreparedCall } from './request.ts'
import { pauseDelay, TOO_MANY_REQUESTS } from './retry.ts'
import type { Admission, Throttle } from './throttle.ts'
import { reasonOf, TIME_IS_UP, within } from './timeout.ts'
import { type AccessTokens, expiryHint } from './token.ts'

/** Shared by every call of a client. */
export interface CallContext {
  readonly settings: ClientSettings
  readonly tokens: AccessTokens
  readonly transport: Transport
  readonly throttle: Throttle
  readonly addressHint: AddressHint
}

/** One call and its progress. */
export interface CallState {
  readonly callId: string
  readonly operation: OperationName
  readonly endpoint: AnyEndpoint
  /** On the clock of `performance.now()`. */
  readonly startedAt: number
  /** The number of the current attempt: 1 for the first. */
  attempt: number
  /** How many attempts were sent. */
  sent: number
  /** A request may have been sent, and its answer is not known yet. */
  isSending: boolean
  /** The service may have applied a failed attempt. */
  mayBeApplied: boolean
  /** The token was renewed after a 401, which happens at most once. */
  renewed: boolean
}

/** The token of an attempt, and the texts that must not appear in its errors. */
interface Credentials {
  readonly token: string
  readonly secrets: readonly RegExp[]
}

/** After a longer wait in the queue, the token may have expired. */
const LONG_WAIT_MS = 1_000

/**
 * Waits for its turn, sends, and decodes the answer.
 *
 * @throws Failure, or the reason of the caller's signal
 */
export async function attemptOnce(context: CallContext, call: CallState, prepared: PreparedCall): Promise<unknown> {
  const { throttle, settings, tokens } = context
  // Skip the awaits when the token is cached and nothing is queued. The token comes first: a slow source must not hold a
  // slot.
  let token = tokens.kept ?? (await tokenOf(context, call, prepared))
  const admission = throttle.admitAtOnce(settings.accessToken) ?? (await admit(context, call, prepared))
  try {
    if (admission.waitedMs > LONG_WAIT_MS) token = tokens.kept ?? (await tokenOf(context, call, prepared))
    const credentials = { token, secrets: [...tokens.secrets, ...prepared.secrets] }
    const sentAt = performance.now()
    const answer = await send(context, call, prepared, credentials)
    notify(settings.hooks, 'onResponse', () => {
      const durationMs = performance.now() - sentAt
      const headers = traceHeaders(answer, credentials.secrets)
      return { ...requestEvent(call, prepared), status: answer.status, durationMs, headers }
    })
    const data = dataOf(context, call, credentials, answer)
    throttle.answered(admission)
    return data
  } catch (reason) {
    if (reason instanceof Failure) {
      const isLimited = reason.status === TOO_MANY_REQUESTS
      if (isLimited) throttle.limited(admission, reason.retryAfterMs, backoffOf(settings, call, reason))
      else if (reason.kind === 'refused' || reason.kind === 'not_understood') throttle.answered(admission)
    }
    throw reason
  } finally {
    throttle.release(admission)
  }
}

/** Calls a hook with a new event. Changes to the event and errors of the hook do not affect the call. */
export function notify<Name extends keyof ClientHooks>(
  hooks: ClientHooks | undefined,
  name: Name,
  event: () => Parameters<NonNullable<ClientHooks[Name]>>[0],
): void {
  const hook = hooks?.[name]
  if (hook !== undefined) callHook(() => hook(event() as never))
}

/** The current attempt, for the hooks. */
export const requestEvent = (
  { callId, operation, endpoint, attempt }: CallState,
  { path }: PreparedCall,
): RequestEvent => ({ callId, operation, method: endpoint.method, path, attempt })

/** How long the call may still take, in milliseconds. */
export const timeLeft = ({ startedAt }: CallState, { settings }: PreparedCall): number =>
  startedAt + settings.totalTimeoutMs - performance.now()

/** With less time left, an attempt is not sent: it would probably time out, and a write would end as `unknown`. */
export const leastTime = ({ settings: { timeoutMs, totalTimeoutMs } }: PreparedCall): number =>
  Math.min(timeoutMs, totalTimeoutMs) / 10

/** Returns the pause after a 429 without `Retry-After`. */
function backoffOf({ retryDelayMs }: ClientSettings, call: CallState, failure: Failure): (nth: number) => number {
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
      throw reason === TIME_IS_UP ? noTimeToSend(totalTimeoutMs) : reason
    })
}

/**
 * Sends, and reads the answer.
 *
 * @throws Failure, or the reason of the caller's signal
 */
async function send(
  { settings, transport }: CallContext,
  call: CallState,
  prepared: PreparedCall,
  { token, secrets }: Credentials,
): Promise<TransportResponse> {
  const { signal, timeoutMs, totalTimeoutMs } = prepared.settings
  const remainingMs = timeLeft(call, prepared)
  if (remainingMs < leastTime(prepared)) throw noTimeToSend(totalTimeoutMs)
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
  try {
    const answer: unknown = await within(
      Math.min(timeoutMs, remainingMs),
      signal,
      (cancellation) => sendBy(transport, request, cancellation),
      () => (timeoutMs < remainingMs ? attemptTookTooLong(timeoutMs) : callTookTooLong(totalTimeoutMs)),
    )
    if (!isTransportResponse(answer)) throw notAnAnswer('the transport', typeName(answer))
    if (lacksItsData(answer)) throw brokenAnswer(answer.cause, secrets)
    return answer
  } catch (thrown) {
    throw signal?.aborted ? reasonOf(signal) : transportFailure(thrown, secrets)
  }
}

/** Calls the transport. A partner's transport may return its answer without a promise. */
async function sendBy(
  transport: Transport,
  request: TransportRequest,
  cancellation: AttemptCancellation,
): Promise<TransportResponse> {
  const { cancellable } = transport.send as CancellableSend
  return cancellable?.(request, cancellation) ?? transport.send(request, cancellation.signal)
}

/** @throws Failure for every answer that is not a success */
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
    if (reason instanceof Failure && reason.tokenRefused) tokens.refuse(token)
    throw reason
  }
}
