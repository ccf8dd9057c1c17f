import { type AnyEndpoint, type DataOf, endpoints, type OperationName, type RequestOf } from '../endpoints/index.ts'
import type { WriteOutcome } from '../errors.ts'
import type { CallOptions, ClientHooks, RequestEvent } from '../options.ts'
import type { ClientSettings } from '../settings.ts'
import { callHook } from '../shared/hook.ts'
import { typeName } from '../shared/type-name.ts'
import type { AddressHint } from './address-hint.ts'
import { decode, lacksItsData, traceHeaders } from './answer.ts'
import {
  attemptTookTooLong,
  brokenAnswer,
  callTookTooLong,
  Failure,
  noTimeToRetry,
  noTokenInTime,
  notAnAnswer,
  transportFailure,
} from './failure.ts'
import { type PreparedCall, prepare } from './request.ts'
import { delayBefore, mayHaveBeenApplied, mayRetry } from './retry.ts'
import { reasonOf, TIME_IS_UP, wait, within } from './timeout.ts'
import { type AccessTokens, expiryHint } from './token.ts'
import { isTransportResponse, type Transport, type TransportRequest, type TransportResponse } from './transport.ts'

/** What every call of a client shares. */
export interface CallContext {
  readonly settings: ClientSettings
  readonly tokens: AccessTokens
  readonly transport: Transport
  readonly addressHint: AddressHint
}

interface Attempt {
  readonly prepared: PreparedCall
  readonly event: RequestEvent
  readonly endpoint: AnyEndpoint
  /** On the clock of `performance.now()`. */
  readonly deadline: number
}

/**
 * One call, top to bottom: check the arguments, then token → send → decode, and again where the rules allow it.
 * A caller's abort leaves with the signal's own reason; every failure leaves by the one door at the end of the loop.
 */
export async function call<Name extends OperationName>(
  context: CallContext,
  operation: Name,
  argument: RequestOf<Name>,
  options: CallOptions | undefined,
): Promise<DataOf<Name>> {
  const endpoint: AnyEndpoint = endpoints[operation]
  const prepared = prepare(operation, endpoint, argument, options, context.settings)
  const { maxRetries, signal, totalTimeoutMs } = prepared.settings
  const deadline = performance.now() + totalTimeoutMs
  let mayBeApplied = false
  let renewed = false

  for (let attempt = 1; ; attempt++) {
    const event: RequestEvent = { operation, method: endpoint.method, path: prepared.path, attempt }
    try {
      if (signal?.aborted) throw reasonOf(signal)
      return (await attemptOnce(context, { prepared, event, endpoint, deadline })) as DataOf<Name>
    } catch (reason) {
      if (!Failure.is(reason)) throw reason
      mayBeApplied ||= mayHaveBeenApplied(reason)
      const outcome: WriteOutcome | undefined =
        endpoint.method === 'GET' ? undefined : mayBeApplied ? 'unknown' : 'not_applied'

      const renews: boolean = reason.tokenRefused && context.tokens.renewable && !renewed
      renewed ||= renews
      const retries = attempt <= maxRetries && (renews || mayRetry(reason, endpoint.retry))
      const delayMs = renews || !retries ? 0 : delayBefore(attempt + 1, reason)
      const error = reason.toError({ operation, outcome })
      if (!retries) throw error
      if (performance.now() + delayMs >= deadline) {
        throw noTimeToRetry(totalTimeoutMs, delayMs, reason).toError({ operation, outcome, cause: error })
      }
      notify(context.settings.hooks, 'onRetry', { ...event, delayMs, error })
      if (delayMs > 0) await wait(delayMs, signal)
    }
  }
}

/** @throws Failure, or the reason of the caller's signal. */
async function attemptOnce(context: CallContext, attempt: Attempt): Promise<unknown> {
  const { settings, tokens, transport } = context
  const { prepared, event, endpoint, deadline } = attempt
  const { signal, timeoutMs, totalTimeoutMs } = prepared.settings

  const token = await tokens.get(deadline - performance.now(), signal).catch((reason: unknown) => {
    throw reason === TIME_IS_UP ? noTokenInTime(totalTimeoutMs) : reason
  })
  const secrets = [...tokens.recent, ...prepared.secrets]

  const startedAt = performance.now()
  const remainingMs = deadline - startedAt
  // Timers can fire late: send nothing when no time is left.
  if (remainingMs <= 0) throw callTookTooLong(totalTimeoutMs, 'not_sent')
  notify(settings.hooks, 'onRequest', { ...event })
  const request: TransportRequest = {
    method: event.method,
    url: prepared.url,
    headers: { ...prepared.headers, authorization: `Bearer ${token}` },
    body: prepared.body,
    idempotent: endpoint.retry !== 'unsafe',
    maxResponseBytes: settings.maxResponseBytes,
  }
  const answer = await within(Math.min(timeoutMs, remainingMs), signal, (attemptSignal) =>
    exchange(transport, request, attemptSignal, secrets),
  ).catch((reason: unknown) => {
    if (reason !== TIME_IS_UP) throw reason
    throw timeoutMs < remainingMs ? attemptTookTooLong(timeoutMs) : callTookTooLong(totalTimeoutMs, 'no_answer')
  })
  if (settings.hooks.onResponse !== undefined) {
    const durationMs = performance.now() - startedAt
    const traced = traceHeaders(answer, secrets)
    notify(settings.hooks, 'onResponse', { ...event, status: answer.status, durationMs, headers: traced })
  }

  try {
    return decode<unknown>(endpoint, answer, {
      secrets,
      tokenHint: () => expiryHint(token),
      addressHint: context.addressHint,
      report:
        settings.responseValidation === 'throw'
          ? undefined
          : ({ issues, moreIssues }) =>
              notify(settings.hooks, 'onInvalidResponse', {
                operation: event.operation,
                status: answer.status,
                issues,
                ...(moreIssues > 0 && { moreIssues }),
              }),
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

/** Calls a hook. What it does to the event, and its failure, now or later, are its own. */
function notify<Name extends keyof ClientHooks>(
  hooks: ClientHooks,
  name: Name,
  event: Parameters<NonNullable<ClientHooks[Name]>>[0],
): void {
  callHook(() => hooks[name]?.(event as never))
}
