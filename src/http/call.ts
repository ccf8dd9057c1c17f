import { type AnyEndpoint, type DataOf, endpoints, type OperationName, type RequestOf } from '../endpoints/index.ts'
import { type ErrorContext, TimeoutError, type WriteOutcome } from '../errors.ts'
import type { CallOptions, ClientHooks, ClientSettings, RequestEvent } from '../options.ts'
import { callHook } from '../shared/hook.ts'
import { type AccessTokens, expiryOf } from './access-token.ts'
import { TIME_IS_UP, wait, within } from './deadline.ts'
import { decode, traceHeaders } from './envelope.ts'
import { Failure } from './failure.ts'
import { delayBefore, mayHaveBeenApplied, mayRepeat } from './repeat.ts'
import { type PreparedCall, prepare } from './request.ts'
import type { Transport } from './transport.ts'

/** What every call of a client shares. */
export interface CallContext {
  readonly settings: ClientSettings
  readonly tokens: AccessTokens
  readonly transport: Transport
}

interface Attempt {
  readonly prepared: PreparedCall
  readonly event: RequestEvent
  readonly endpoint: AnyEndpoint
  /** On the clock of `performance.now()`. */
  readonly deadline: number
}

const UNAUTHORIZED = 401

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
      if (signal?.aborted) throw signal.reason
      return (await attemptOnce(context, { prepared, event, endpoint, deadline })) as DataOf<Name>
    } catch (reason) {
      if (!(reason instanceof Failure)) throw reason
      mayBeApplied ||= mayHaveBeenApplied(reason)
      const outcome: WriteOutcome | undefined =
        endpoint.method === 'GET' ? undefined : mayBeApplied ? 'unknown' : 'not_applied'

      const renews: boolean = reason.status === UNAUTHORIZED && context.tokens.renewable && !renewed
      renewed ||= renews
      const repeats = attempt <= maxRetries && (renews || mayRepeat(reason, endpoint.retry))
      const delayMs = renews || !repeats ? 0 : delayBefore(attempt + 1, reason)
      const error = reason.toError({ operation, outcome })
      if (!repeats) throw error
      if (performance.now() + delayMs >= deadline) {
        throw timeoutFailure('total', totalTimeoutMs).toError({ operation, outcome, cause: error })
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
    throw reason === TIME_IS_UP ? timeoutFailure('total', totalTimeoutMs, 'not_sent') : reason
  })
  const secrets = [token, ...prepared.secrets]
  const headers = { ...prepared.headers, authorization: `Bearer ${token}` }

  const startedAt = performance.now()
  const remainingMs = deadline - startedAt
  // A busy process comes late. What would time out in its first millisecond is not sent at all.
  if (remainingMs <= 0) throw timeoutFailure('total', totalTimeoutMs, 'not_sent')
  notify(settings.hooks, 'onRequest', { ...event })
  const answer = await within(Math.min(timeoutMs, remainingMs), signal, (attemptSignal) =>
    transport.send({ method: event.method, url: prepared.url, headers, body: prepared.body }, attemptSignal, secrets),
  ).catch((reason: unknown) => {
    if (reason !== TIME_IS_UP) throw reason
    throw timeoutMs < remainingMs ? timeoutFailure('attempt', timeoutMs) : timeoutFailure('total', totalTimeoutMs)
  })
  if (settings.hooks.onResponse !== undefined) {
    const durationMs = performance.now() - startedAt
    const traced = traceHeaders(answer.headers, secrets)
    notify(settings.hooks, 'onResponse', { ...event, status: answer.status, durationMs, headers: traced })
  }

  try {
    return decode<unknown>(endpoint, answer, {
      secrets,
      tokenHint: () => expiredHint(token),
      report:
        settings.responseValidation === 'throw'
          ? undefined
          : (issues) =>
              notify(settings.hooks, 'onInvalidResponse', {
                operation: event.operation,
                status: answer.status,
                issues,
              }),
    })
  } catch (reason) {
    if (reason instanceof Failure && reason.status === UNAUTHORIZED) tokens.refuse(token)
    throw reason
  }
}

/** A total timeout that struck before anything was sent cannot have applied anything. */
function timeoutFailure(
  scope: 'attempt' | 'total',
  timeoutMs: number,
  kind: 'not_sent' | 'no_answer' = 'no_answer',
): Failure {
  const what = scope === 'attempt' ? 'an attempt' : 'the call, with its repeats and waits,'
  const toError = (context: ErrorContext): TimeoutError =>
    new TimeoutError(`${context.operation}: ${what} took longer than ${timeoutMs} ms`, { ...context, scope, timeoutMs })
  return new Failure(kind, toError, { final: scope === 'total' })
}

function expiredHint(token: string): string {
  const expiresAt = expiryOf(token)
  if (expiresAt === undefined || expiresAt > Date.now()) return ''
  const date = new Date(expiresAt)
  return `; the token had expired${Number.isNaN(date.getTime()) ? '' : ` at ${date.toISOString()}`}`
}

/** Calls a hook. What it does to the event, and its failure, now or later, are its own. */
function notify<Name extends keyof ClientHooks>(
  hooks: ClientHooks,
  name: Name,
  event: Parameters<NonNullable<ClientHooks[Name]>>[0],
): void {
  callHook(() => hooks[name]?.(event as never))
}
