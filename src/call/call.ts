import { type AnyEndpoint, type DataOf, endpoints, type OperationName, type RequestOf } from '../endpoints/index.ts'
import type { CampaignError, WriteOutcome } from '../errors/client-errors.ts'
import type { CallOptions, ClientHooks, EndEvent, RequestEvent } from '../options.ts'
import type { ClientSettings } from '../settings.ts'
import { callSafely } from '../shared/call-safely.ts'
import { type Account, accountOf, isPaced } from '../shared/client-internals.ts'
import { asError, reasonOf, sleep, TIMED_OUT, timeoutReason, withTimeout } from '../shared/timers.ts'
import { typeName } from '../shared/type-checks.ts'
import {
  AttemptCancellation,
  isTransportResponse,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '../transports/transport.ts'
import {
  attemptTimedOut,
  callTimedOut,
  Failure,
  incompleteResponse,
  mayHaveBeenApplied,
  nextSignalOf,
  noResponse,
  noTimeToRetry,
  noTimeToSend,
  pauseTooLong,
  transportFailure,
} from './failure.ts'
import type { NotReady, RateLimiter, Slot } from './rate-limiter.ts'
import { partsOf, queryOf, type Secrets, safeCause } from './redact.ts'
import { type PreparedRequest, prepareRequest } from './request.ts'
import { decodeResponse, isDataIncomplete, tracingHeaders } from './response.ts'
import { backoffMs, JITTER, mayRetry, TOO_MANY_REQUESTS } from './retry.ts'
import { type AccessTokens, accountFailure } from './tokens.ts'

/** Shared by every call of a client. */
export interface CallContext {
  readonly settings: ClientSettings
  readonly tokens: AccessTokens
  readonly transport: Transport
  readonly limiter: RateLimiter
}

let calls = 0
let idPrefix: string | undefined

/**
 * The random prefix makes IDs unique across processes and copies of the package. It is created at the first call, because
 * Cloudflare Workers forbid random values at start-up.
 */
function nextCallId(): string {
  idPrefix ??= `call-${crypto.randomUUID().slice(0, 8)}`
  calls++
  return `${idPrefix}-${calls}`
}

/** One call of a client: its attempts, the waits between them, and the outcome of a write. */
export class Call<Name extends OperationName> {
  readonly #context: CallContext
  readonly #operation: Name
  readonly #endpoint: AnyEndpoint
  readonly #callId = nextCallId()
  readonly #startedAt = performance.now()
  #prepared!: PreparedRequest
  /** The number of the current attempt: 1 for the first. */
  #attemptNumber = 1
  /** The number of attempts that were sent. */
  #sent = 0
  /** The slot of the attempt in flight. */
  #slot: Slot | undefined
  /** The account whose tokens may be sent; `undefined` for any. */
  #account: Account | undefined
  /** Whether a 429 fails the call immediately, because the caller waits itself. */
  #isPaced = false
  /** Whether a request may have been sent and has no known result yet. */
  #isSending = false
  /** Whether the service may have applied a failed attempt. */
  #mayBeApplied = false
  /** Whether the token was renewed after a 401. A call renews it at most once. */
  #isTokenRenewed = false

  constructor(context: CallContext, operation: Name) {
    this.#context = context
    this.#operation = operation
    this.#endpoint = endpoints[operation]
  }

  /**
   * Checks the arguments, then makes attempts until one succeeds or no retry is allowed.
   *
   * @throws CampaignError, the reason of the caller's signal, or a signal of Next.js
   */
  async run(argument: RequestOf<Name>, options: CallOptions | undefined): Promise<DataOf<Name>> {
    try {
      const data = await this.#result(argument, options)
      this.#notify('onEnd', () => this.#endEvent())
      return data as DataOf<Name>
    } catch (error) {
      this.#notify('onEnd', () => {
        // Do not read the outcome from the error: an abort reason may be the error of another call.
        const outcome = this.#outcome(this.#isSending || this.#mayBeApplied)
        return { ...this.#endEvent(), error, ...(outcome && { outcome }) }
      })
      throw error
    } finally {
      this.#releaseSlot()
    }
  }

  async #result(argument: unknown, options: CallOptions | undefined): Promise<unknown> {
    const { settings } = this.#context
    this.#account = accountOf(options)
    this.#isPaced = isPaced(options)
    this.#prepared = prepareRequest(this.#operation, this.#endpoint, argument, options, settings)
    const { signal } = this.#prepared.settings
    for (;;) {
      if (signal?.aborted) throw reasonOf(signal)
      const result = await this.#attempt()
      if (!(result instanceof Failure)) return result.data
      await this.#pauseOrThrow(result)
    }
  }

  /**
   * Makes one attempt: gets the token, waits for a slot, sends the request and decodes the response. The token comes first: with
   * a slow token source, an attempt would hold its slot too long, and might start in a pause or too soon after another one.
   */
  async #attempt(): Promise<{ readonly data: unknown } | Failure> {
    const { settings, tokens, limiter } = this.#context
    let since: number | undefined
    for (;;) {
      // Skip the awaits if the token is cached and no call waits.
      const token = tokens.cached ?? (await this.#token())
      if (token instanceof Failure) return token
      const slot = limiter.tryAdmit(settings.accessToken, this.#attemptMs()) ?? (await this.#waitForSlot(token, since))
      if (slot instanceof Failure) return slot
      if ('limit' in slot) return this.#exchange(slot, tokens.afterWait(token) ?? token)
      since = slot.since
    }
  }

  async #exchange(slot: Slot, token: string): Promise<{ readonly data: unknown } | Failure> {
    const { limiter } = this.#context
    this.#slot = slot
    const sentAt = performance.now()
    const response = await this.#send(token)
    if (response instanceof Failure) return response
    this.#notify('onResponse', () => ({
      ...this.#requestEvent(),
      status: response.status,
      durationMs: performance.now() - sentAt,
      headers: tracingHeaders(response, this.#secrets()),
    }))
    const result = this.#decode(response, token)
    if (!(result instanceof Failure)) limiter.recordResponse(slot)
    return result
  }

  #token(): Promise<string | Failure> {
    return this.#context.tokens.get(this.#operation, this.#prepared.settings, this.#timeLeft())
  }

  /** Waits for a slot. Returns {@link NotReady} if the attempt needs a new token: its own has expired or been refused. */
  async #waitForSlot(token: string, since: number | undefined): Promise<Slot | NotReady | Failure> {
    const { limiter, settings, tokens } = this.#context
    const { signal, timeoutMs, totalTimeoutMs } = this.#prepared.settings
    const admitted = await limiter.admit(settings.accessToken, {
      retry: this.#attemptNumber - 1,
      attemptMs: timeoutMs,
      totalMs: this.#timeLeft(),
      signal,
      since,
      isReady: () => tokens.afterWait(token) !== undefined,
    })
    if (admitted === TIMED_OUT) return noTimeToSend(this.#operation, totalTimeoutMs)
    return 'retryAfterMs' in admitted ? pauseTooLong(this.#operation, admitted.retryAfterMs) : admitted
  }

  async #send(token: string): Promise<TransportResponse | Failure> {
    const { settings } = this.#context
    const { settings: options, url, headers, body } = this.#prepared
    const { signal, timeoutMs, totalTimeoutMs } = options
    const remainingMs = this.#timeLeft()
    if (remainingMs < this.#minTimeLeft()) return noTimeToSend(this.#operation, totalTimeoutMs)
    const foreign = this.#account && accountFailure(this.#operation, this.#account, token)
    if (foreign !== undefined) return foreign
    this.#notify('onRequest', () => this.#requestEvent())
    if (signal?.aborted) throw reasonOf(signal)
    this.#sent++
    this.#isSending = true
    const request: TransportRequest = {
      method: this.#endpoint.method,
      url,
      // `authorization` comes first: adding a field after the spread is much slower. The spread never contains it.
      headers: { authorization: `Bearer ${token}`, ...headers },
      body,
      idempotent: this.#endpoint.retry !== 'unsafe',
      maxResponseBytes: settings.maxResponseBytes,
    }
    const cancellation = new AttemptCancellation()
    try {
      const sending = this.#callTransport(request, cancellation)
      const response: unknown = await withTimeout(sending, Math.min(timeoutMs, remainingMs), signal)
      if (response === TIMED_OUT) {
        const reason = timeoutReason()
        cancellation.cancel(reason)
        // The local service adds a cause if it waits for its own clock.
        const cause = safeCause(reason.cause, this.#secrets())
        return timeoutMs < remainingMs
          ? attemptTimedOut(this.#operation, timeoutMs, cause)
          : callTimedOut(this.#operation, totalTimeoutMs, cause)
      }
      if (!isTransportResponse(response)) {
        return noResponse(this.#operation, `the transport must return a TransportResponse, got ${typeName(response)}`)
      }
      if (isDataIncomplete(response)) return incompleteResponse(this.#operation, response.cause, this.#secrets())
      return response
    } catch (thrown) {
      if (!signal?.aborted) {
        const nextSignal = nextSignalOf(thrown)
        if (nextSignal !== undefined) throw nextSignal
        return transportFailure(this.#operation, thrown, this.#secrets())
      }
      const reason = reasonOf(signal)
      cancellation.cancel(asError(reason))
      throw reason
    }
  }

  /** `async` because the caller's transport may throw, or return its response without a promise. */
  async #callTransport(request: TransportRequest, cancellation: AttemptCancellation): Promise<TransportResponse> {
    return this.#context.transport.send(request, cancellation)
  }

  #decode(response: TransportResponse, token: string): { readonly data: unknown } | Failure {
    const { settings, tokens } = this.#context
    const { status } = response
    const result = decodeResponse(this.#endpoint, response, {
      operation: this.#operation,
      baseUrl: settings.baseUrl,
      token,
      secrets: () => this.#secrets(),
      report:
        settings.responseValidation === 'throw'
          ? undefined
          : ({ issues, moreIssues }) =>
              this.#notify('onInvalidResponse', () => ({
                callId: this.#callId,
                operation: this.#operation,
                status,
                issues,
                ...(moreIssues > 0 && { moreIssues }),
              })),
    })
    if (result instanceof Failure && result.isTokenRefused) tokens.refuse(token)
    return result
  }

  /**
   * Decides what follows a failed attempt: sets the outcome of a write, then waits for the retry.
   *
   * @throws CampaignError if there is no retry; the reason of the caller's signal
   */
  async #pauseOrThrow(failure: Failure): Promise<void> {
    const { settings, tokens, limiter } = this.#context
    const { maxRetries, totalTimeoutMs, signal } = this.#prepared.settings
    this.#isSending = false
    this.#mayBeApplied ||= mayHaveBeenApplied(failure)
    const error = this.#withOutcome(failure.error)
    const { retryDelayMs } = settings
    const backoff = (nth: number, jitter: number): number =>
      backoffMs(nth, jitter, () => retryDelayMs?.(this.#attemptNumber, error))

    const isLimited = failure.status === TOO_MANY_REQUESTS
    if (this.#slot !== undefined && isLimited) {
      limiter.record429(this.#slot, failure.retryAfterMs, (nth) => backoff(nth, JITTER.ofPause))
    } else if (this.#slot !== undefined && (failure.kind === 'refused' || failure.kind === 'not_understood')) {
      limiter.recordResponse(this.#slot)
    }
    this.#releaseSlot()

    const renewsToken = failure.isTokenRefused && tokens.isRenewable && !this.#isTokenRenewed
    this.#isTokenRenewed ||= renewsToken
    const isRetryable = renewsToken || (mayRetry(failure, this.#endpoint.retry) && !(isLimited && this.#isPaced))
    const isRetried = this.#attemptNumber <= maxRetries && isRetryable
    if (!isRetried) throw error
    const delayMs = renewsToken
      ? 0
      : isLimited
        ? limiter.pauseLeft(settings.accessToken)
        : (failure.retryAfterMs ?? backoff(this.#attemptNumber, JITTER.ofRetry))
    if (this.#timeLeft() - delayMs < this.#minTimeLeft()) {
      throw this.#withOutcome(noTimeToRetry(this.#operation, totalTimeoutMs, delayMs, failure))
    }
    this.#notify('onRetry', () => ({ ...this.#requestEvent(), delayMs, error }))
    this.#attemptNumber++
    // After a 429, the limiter delays the attempt.
    if (!isLimited && delayMs > 0) await sleep(delayMs, signal)
  }

  #withOutcome(error: CampaignError): CampaignError {
    const outcome = this.#outcome(this.#mayBeApplied)
    return Object.assign(error, { attempts: this.#sent, ...(outcome && { outcome }) })
  }

  #outcome(mayBeApplied: boolean): WriteOutcome | undefined {
    if (this.#endpoint.method === 'GET') return undefined
    return mayBeApplied ? 'unknown' : 'not_applied'
  }

  #releaseSlot(): void {
    if (this.#slot !== undefined) this.#context.limiter.release(this.#slot)
    this.#slot = undefined
  }

  /** Returns the texts that are redacted from errors. The query comes first, because it may contain another secret. */
  #secrets(): Secrets {
    const { secret, url } = this.#prepared
    return [...queryOf(url), ...this.#context.tokens.secrets, ...(secret === undefined ? [] : partsOf(secret))]
  }

  /** Returns the rest of `totalTimeoutMs`. */
  #timeLeft(): number {
    return this.#startedAt + this.#prepared.settings.totalTimeoutMs - performance.now()
  }

  /** Returns the time limit of an attempt that starts now. */
  #attemptMs(): number {
    return Math.min(this.#prepared.settings.timeoutMs, this.#timeLeft())
  }

  /**
   * Returns the time that must be left for an attempt, in milliseconds. With less time, the attempt is not sent: it would
   * probably time out, and the outcome of a write would be unknown.
   */
  #minTimeLeft(): number {
    const { timeoutMs, totalTimeoutMs } = this.#prepared.settings
    return Math.min(timeoutMs, totalTimeoutMs) / 10
  }

  /** Calls a hook with a new event. Errors of the hook do not affect the call. */
  #notify<Hook extends keyof ClientHooks>(
    name: Hook,
    event: () => Parameters<NonNullable<ClientHooks[Hook]>>[0],
  ): void {
    const hook = this.#context.settings.hooks?.[name]
    if (hook !== undefined) callSafely(() => hook(event() as never))
  }

  #requestEvent(): RequestEvent {
    const { method } = this.#endpoint
    const { path } = this.#prepared
    return { callId: this.#callId, operation: this.#operation, method, path, attempt: this.#attemptNumber }
  }

  #endEvent(): EndEvent {
    const durationMs = performance.now() - this.#startedAt
    return { callId: this.#callId, operation: this.#operation, attempts: this.#sent, durationMs }
  }
}
