import type { OperationName } from './endpoints/index.ts'
import type { QueryNames } from './endpoints/query-names.ts'
import type { CampaignError, Issue, WriteOutcome } from './errors.ts'
import type { Transport } from './transport.ts'

/**
 * Returns a bearer token (a JWT) each time one is needed. One call is in flight at a time. After 30 s its `signal` is aborted and
 * the calls that wait for it fail with `AccessTokenError`; the next call then calls the source again, so a source that
 * ignores its signal may run twice.
 */
export type AccessTokenSource = (options: { readonly signal: AbortSignal }) => string | Promise<string>

/** The call that an event belongs to. */
export interface CallEvent {
  /**
   * Identifies the call: the same in all its events, and unique across all copies of the package and all workers of a
   * process.
   */
  readonly callId: string
  /** The method of `CampaignClient`. */
  readonly operation: OperationName
}

/** An attempt is about to be sent. */
export interface RequestEvent extends CallEvent {
  readonly method: 'GET' | 'POST'
  /** Path below the base URL, without the query. */
  readonly path: string
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** An answer has arrived, whatever its status. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number
  /** From sending to the last byte of the body, in milliseconds. */
  readonly durationMs: number
  /** Headers that help to trace the answer: an allow-list, never cookies or credentials. */
  readonly headers: Readonly<Record<string, string>>
}

/** An attempt has failed and another will follow. */
export interface RetryEvent extends RequestEvent {
  /** How long the client waits before the next attempt, in milliseconds. */
  readonly delayMs: number
  /** The error that the call would reject with if it were not retried. */
  readonly error: CampaignError
}

/** The data of an answer does not fit its schema and is returned unchanged. */
export interface InvalidResponseEvent extends CallEvent {
  readonly status: number
  /** What did not fit, with paths from the root of the body. Never values. The first 20. */
  readonly issues: readonly Issue[]
  /** How many issues there are besides those in `issues`. Absent where there are no more. */
  readonly moreIssues?: number
}

/** A call has ended, successfully or not. */
export interface EndEvent extends CallEvent {
  /** How many attempts were sent. 0 when an argument was refused, or the call never left the queue. */
  readonly attempts: number
  /** From the call of the method to its end, in milliseconds. */
  readonly durationMs: number
  /** The rejection of the call: an error, or the reason of your own signal. Absent on success. */
  readonly error?: unknown
  /** For writes that failed or were aborted: whether the service may have applied them. */
  readonly outcome?: WriteOutcome
}

/** Hooks for a logger, a tracer or a meter. Hooks get no secrets, and an error of a hook does not affect the call. */
export interface ClientHooks {
  /** Called before each attempt. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  /** Called after each answer, error answers included. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined
  /** Called before the wait that precedes a retry. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined
  /** Called with `responseValidation: 'report'` when data does not fit its schema. */
  readonly onInvalidResponse?: ((event: InvalidResponseEvent) => void) | undefined
  /** Called exactly once per call, when it has ended, refused and aborted calls included. */
  readonly onEnd?: ((event: EndEvent) => void) | undefined
}

/** Limits of the requests of a client. Calls beyond them wait in order, within `totalTimeoutMs`. */
export interface RequestLimits {
  /**
   * How many requests may be in flight at once, of all clients derived by `with` together: 1 or more.
   *
   * @defaultValue no limit
   */
  readonly maxConcurrency?: number | undefined
  /**
   * How many requests with the same token may start within a second, evenly spread: above 0, at most 1 000 000.
   *
   * @defaultValue no limit
   */
  readonly requestsPerSecond?: number | undefined
}

/** Limits what a script with a production token may write. Other writes are refused before anything is sent. */
export interface WriteGuard {
  /** The campaigns that may be written to. Writes without a campaign are then refused, too. */
  readonly campaigns?: readonly string[] | undefined
  /** The maximum XP of one award. Negative XP are then refused, too. */
  readonly maxXpPerAward?: number | undefined
}

/**
 * Returns the wait before a retry, in milliseconds, after attempt number `attempt` (1 for the first) failed with `error`. Not
 * called when the service names the wait in `Retry-After`. If it throws or returns anything but a number from 0 up, the
 * default applies. After a 429, all calls with the token wait, at most 30 s.
 */
export type RetryDelay = (attempt: number, error: CampaignError) => number

/** The second argument of a {@link FetchLike}. */
export interface FetchLikeInit {
  readonly method: 'GET' | 'POST'
  /** By their names in lower case, `authorization` included: never log them. */
  readonly headers: Record<string, string>
  /**
   * JSON. Absent on a GET. On Deno it is a `Blob` in spite of its type, because Deno's `fetch` may send a text
   * body twice. Any `fetch` accepts both.
   */
  readonly body?: string
  /** Aborts when the attempt is abandoned, with an `Error` as its reason. */
  readonly signal: AbortSignal
  readonly redirect: 'manual'
}

/** The members of a `Response` that the client uses. */
export interface FetchLikeResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  /** The body. If `body` is a readable stream, as in a `Response`, the client reads that instead. */
  text(): Promise<string>
}

/**
 * Any `fetch`: the global one, a wrapper around it, or that of a package such as undici. Called with the URL as a string. If a
 * request was certainly not sent, reject with a `TransportError` with `sent: false`; after any other rejection the client
 * assumes that the request may have arrived.
 */
export type FetchLike = (url: string, init: FetchLikeInit) => Promise<FetchLikeResponse>

/** The options of `CampaignClient`. */
export interface CampaignClientOptions {
  /** Address of the service, `/api/v1` included; a trailing slash makes no difference. */
  readonly baseUrl: string | URL
  /**
   * The bearer token, or a source of one. White space around it is trimmed. A token of fewer than 8 characters is not
   * redacted from errors; the client warns once of such a token, unless `baseUrl` is a loopback address or `fetch` is
   * given.
   */
  readonly accessToken: string | AccessTokenSource
  /**
   * Limit of one attempt in milliseconds, its body included: above 0.
   *
   * @defaultValue 10 000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Limit of a whole call in milliseconds, with attempts, waits and the token source: above 0. No attempt is sent when the
   * time left is less than a tenth of `timeoutMs` or of `totalTimeoutMs`, whichever is smaller.
   *
   * @defaultValue 60 000
   */
  readonly totalTimeoutMs?: number | undefined
  /**
   * How many retries a call may make, the retry after a 401 included. 0 means none.
   *
   * @defaultValue 2
   */
  readonly maxRetries?: number | undefined
  /**
   * A `fetch` of your own, for a proxy or a test.
   *
   * @defaultValue the global one at the time of the call
   */
  readonly fetch?: FetchLike | undefined
  /**
   * Sends the requests instead of `fetch`: `nodeTransport()` of `campaign-client/node`, or your own. The client does not
   * close a transport: close it yourself.
   */
  readonly transport?: Transport | undefined
  /**
   * Limit of an answer's body, in bytes after decompression: 1 or more. A longer body fails the call with an
   * `UnexpectedResponseError`, and the outcome of a write is then unknown.
   *
   * @defaultValue 32 MiB
   */
  readonly maxResponseBytes?: number | undefined
  /**
   * Headers of every request. `authorization` belongs to `accessToken`. Refused, like those of the connection:
   * `x-http-method-override`, `x-method-override`, `x-original-url` and `x-rewrite-url`.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Whether plain http is accepted for hosts other than loopback. The token then travels in the clear.
   *
   * @defaultValue false
   */
  readonly allowInsecureHttp?: boolean | undefined
  /**
   * Other names for the query parameters that the interface leaves open.
   *
   * @defaultValue the name of the argument (assumed)
   */
  readonly queryNames?: QueryNames | undefined
  /** Path of the webhook registration, which the interface does not show. Without it, `registerWebhook` throws. */
  readonly webhookRegistrationPath?: string | undefined
  /**
   * What happens to data of another shape. `'throw'` fails the call with an `UnexpectedResponseError`. `'report'` calls
   * `hooks.onInvalidResponse` and returns the data unchanged.
   *
   * @defaultValue 'throw'
   */
  readonly responseValidation?: 'throw' | 'report' | undefined
  /** Called around every attempt. The methods of a class instance are called on it. */
  readonly hooks?: ClientHooks | undefined
  /**
   * Your own backoff.
   *
   * @defaultValue full-jitter exponential from 300 ms, at most 8 s
   */
  readonly retryDelayMs?: RetryDelay | undefined
  /**
   * Limits of requests in flight and of requests a second.
   *
   * @defaultValue no limits
   */
  readonly limits?: RequestLimits | undefined
  /**
   * Limits what may be written.
   *
   * @defaultValue no limits
   */
  readonly guard?: WriteGuard | undefined
}

/**
 * The options that a derived client may change. They replace those of the parent; a guard can only narrow. `baseUrl` changes only together with `accessToken`, so that no token goes to two addresses by mistake.
 */
export type DerivedClientOptions = Pick<
  CampaignClientOptions,
  'headers' | 'timeoutMs' | 'totalTimeoutMs' | 'maxRetries' | 'retryDelayMs' | 'guard' | 'hooks'
> &
  (
    | { readonly baseUrl: string | URL; readonly accessToken: string | AccessTokenSource }
    | { readonly baseUrl?: undefined; readonly accessToken?: string | AccessTokenSource | undefined }
  )

/** The options of one call. They override those of the client. */
export interface CallOptions {
  /** Aborts the call at once, waits included. The call rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
  /** Limit of one attempt in milliseconds; see the client's. */
  readonly timeoutMs?: number | undefined
  /** Limit of the whole call in milliseconds; see the client's. */
  readonly totalTimeoutMs?: number | undefined
  /** How many retries the call may make; see the client's. */
  readonly maxRetries?: number | undefined
  /** Further headers. They override those of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Undocumented query parameters, for instance the environment of a campaign. Names that the call itself sends, in its
   * query or its body, are refused.
   */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
}
