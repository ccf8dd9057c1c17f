import type { AnyEndpoint, OperationName } from '../endpoints/index.ts'
import type { ClientHooks, RequestEvent } from '../options.ts'
import type { ClientSettings } from '../settings/client-settings.ts'
import { callHook } from '../shared/call-hook.ts'
import { typeName } from '../shared/type-checks.ts'
import { isTransportResponse, type Transport, type TransportRequest, type TransportResponse } from '../transport.ts'
import type { AttemptCancellation, CancellableSend } from './cancellation.ts'
import { type AddressHint, decodeAnswer, isDataIncomplete } from './decode-answer.ts'
import { traceHeaders } from './decode-error-answer.ts'
import {
  attemptTookTooLong,
  callTookTooLong,
  Failure,
  incompleteAnswer,
  invalidResponse,
  noTimeToSend,
  noTokenInTime,
  transportFailure,
} from './failure.ts'
import type { PreparedRequest } from './prepare-request.ts'
import type { Admission, RequestQueue } from './queue/request-queue.ts'
import { pauseDelay, TOO_MANY_REQUESTS } from './retry.ts'
import { reasonOf, TIMED_OUT, withTimeout } from './timeout.ts'
import { type AccessTokens, expiryHint } from './token.ts'

/** Shared by every call of a client. */
export interface CallContext {
  readonly settings: ClientSettings
  readonly tokens: AccessTokens
  readonly transport: Transport
  readonly queue: RequestQueue
  readonly addressHint: AddressHint
}

export interface CallState {
  readonly callId: string
  readonly operation: OperationName
  readonly endpoint: AnyEndpoint
  /** A time of `performance.now()`. */
  readonly startedAt: number
  /** The number of the current attempt: 1 for the first. */
  attempt: number
  /** The number of attempts that were sent. */
  sent: number
  /** Whether a request may have been sent and has no known result yet. */
  isSending: boolean
  /** Whether the service may have applied a failed attempt. */
  mayBeApplied: boolean
  /** Whether the token was renewed after a 401. A call renews it at most once. */
  renewed: boolean
}

interface Credentials {
  readonly token: string
  /** Patterns of secrets, which are redacted from errors. */
  readonly secrets: readonly RegExp[]
}

/** After a longer wait in the queue, the token is checked again, because it may have expired. */
const LONG_WAIT_MS = 1_000

/**
 * Makes one attempt: gets the token, waits in the queue, sends the request and decodes the answer.
 *
 * @throws Failure, or the reason of the caller's signal
 */
export async function attemptOnce(context: CallContext, call: CallState, prepared: PreparedRequest): Promise<unknown> {
  const { queue, settings, tokens } = context
  // Skip the awaits if the token is cached and the queue is empty. The token comes first: a slow token source must not take
  // up a slot in the queue.
  let token = tokens.cached ?? (await tokenOf(context, call, prepared))
  const admission = queue.tryAdmit(settings.accessToken) ?? (await admit(context, call, prepared))
  try {
    if (admission.waitedMs > LONG_WAIT_MS) token = tokens.cached ?? (await tokenOf(context, call, prepared))
    const credentials = { token, secrets: [...tokens.secrets, ...prepared.secrets] }
    const sentAt = performance.now()
    const answer = await send(context, call, prepared, credentials)
    notify(settings.hooks, 'onResponse', () => {
      const durationMs = performance.now() - sentAt
      const headers = traceHeaders(answer, credentials.secrets)
      return { ...requestEvent(call, prepared), status: answer.status, durationMs, headers }
    })
    const data = dataOf(context, call, credentials, answer)
    queue.recordAnswer(admission)
    return data
  } catch (reason) {
    if (reason instanceof Failure) {
      const isLimited = reason.status === TOO_MANY_REQUESTS
      if (isLimited) queue.record429(admission, reason.retryAfterMs, backoffOf(settings, call, reason))
      else if (reason.kind === 'refused' || reason.kind === 'not_understood') queue.recordAnswer(admission)
    }
    throw reason
  } finally {
    queue.release(admission)
  }
}

/** Calls a hook with a new event. Errors of the hook do not affect the call. */
export function notify<Name extends keyof ClientHooks>(
  hooks: ClientHooks | undefined,
  name: Name,
  event: () => Parameters<NonNullable<ClientHooks[Name]>>[0],
): void {
  const hook = hooks?.[name]
  if (hook !== undefined) callHook(() => hook(event() as never))
}

export const requestEvent = (
  { callId, operation, endpoint, attempt }: CallState,
  { path }: PreparedRequest,
): RequestEvent => ({ callId, operation, method: endpoint.method, path, attempt })

/** Returns the rest of `totalTimeoutMs`. */
export const timeLeft = ({ startedAt }: CallState, { settings }: PreparedRequest): number =>
  startedAt + settings.totalTimeoutMs - performance.now()

/**
 * Returns the time that must be left for an attempt, in milliseconds. With less time, the attempt is not sent: it would
 * probably time out, and the outcome of a write would be unknown.
 */
export const minTimeLeft = ({ settings: { timeoutMs, totalTimeoutMs } }: PreparedRequest): number =>
  Math.min(timeoutMs, totalTimeoutMs) / 10

/** Returns a function that computes the pause after a 429 without `Retry-After`. */
function backoffOf({ retryDelayMs }: ClientSettings, call: CallState, failure: Failure): (nth: number) => number {
  const toError = () => failure.toError({ operation: call.operation })
  return (nth) => pauseDelay(nth, retryDelayMs && (() => retryDelayMs(call.attempt, toError())))
}

function tokenOf({ tokens }: CallContext, call: CallState, prepared: PreparedRequest): Promise<string> {
  const { signal, totalTimeoutMs } = prepared.settings
  return tokens.get(timeLeft(call, prepared), signal).catch((reason: unknown) => {
    throw reason === TIMED_OUT ? noTokenInTime(totalTimeoutMs) : reason
  })
}

function admit({ settings, queue }: CallContext, call: CallState, prepared: PreparedRequest): Promise<Admission> {
  const { signal, totalTimeoutMs } = prepared.settings
  return queue
    .admit(settings.accessToken, call.attempt - 1, timeLeft(call, prepared), signal)
    .catch((reason: unknown) => {
      throw reason === TIMED_OUT ? noTimeToSend(totalTimeoutMs) : reason
    })
}

/** @throws Failure, or the reason of the caller's signal */
async function send(
  { settings, transport }: CallContext,
  call: CallState,
  prepared: PreparedRequest,
  { token, secrets }: Credentials,
): Promise<TransportResponse> {
  const { signal, timeoutMs, totalTimeoutMs } = prepared.settings
  const remainingMs = timeLeft(call, prepared)
  if (remainingMs < minTimeLeft(prepared)) throw noTimeToSend(totalTimeoutMs)
  notify(settings.hooks, 'onRequest', () => requestEvent(call, prepared))
  if (signal?.aborted) throw reasonOf(signal)
  call.sent++
  call.isSending = true
  const request: TransportRequest = {
    method: call.endpoint.method,
    url: prepared.url,
    // `authorization` comes first: adding a field after the spread is much slower. The spread never contains it.
    headers: { authorization: `Bearer ${token}`, ...prepared.headers },
    body: prepared.body,
    idempotent: call.endpoint.retry !== 'unsafe',
    maxResponseBytes: settings.maxResponseBytes,
  }
  try {
    const answer: unknown = await withTimeout(
      Math.min(timeoutMs, remainingMs),
      signal,
      (cancellation) => callTransport(transport, request, cancellation),
      () => (timeoutMs < remainingMs ? attemptTookTooLong(timeoutMs) : callTookTooLong(totalTimeoutMs)),
    )
    if (!isTransportResponse(answer)) {
      throw invalidResponse(`the transport must return a TransportResponse, got ${typeName(answer)}`)
    }
    if (isDataIncomplete(answer)) throw incompleteAnswer(answer.cause, secrets)
    return answer
  } catch (thrown) {
    throw signal?.aborted ? reasonOf(signal) : transportFailure(thrown, secrets)
  }
}

/** Calls the transport. `async` because a partner's transport may return its answer without a promise. */
async function callTransport(
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
    return decodeAnswer<unknown>(endpoint, answer, {
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
