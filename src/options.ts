import type { OperationName } from './endpoints/index.ts'
import type { QueryNames } from './endpoints/undocumented-options.ts'
import type { CampaignError, Issue, WriteOutcome } from './errors/client-errors.ts'
import type { FetchLike } from './transports/fetch.ts'
import type { Transport } from './transports/transport.ts'

/**
 * Returns a bearer token (a JWT). The client calls it when it needs a new token, and shares the token between calls.
 *
 * Calls wait for a token that another call has requested. After 10 s, a waiting call requests a second token, so a slow source
 * may run twice at the same time. A request for a token ends after 30 s: `signal` aborts, and the call that made the request
 * fails with `AccessTokenError`. The other waiting calls do not fail: they request a new token.
 *
 * `forceRefresh` is true if the service refused the newest token of the source with a 401. A source with a cache must then
 * bypass the cache.
 */
export type AccessTokenSource = (options: {
  readonly signal: AbortSignal
  readonly forceRefresh: boolean
}) => string | Promise<string>

/** The call that an event belongs to. */
export interface CallEvent {
  /** The same in all events of a call. Unique across all copies of the package and all workers of a process. */
  readonly callId: string
  /** The method of `CampaignClient`. */
  readonly operation: OperationName
}

/** An attempt is about to be sent. */
export interface RequestEvent extends CallEvent {
  /** The HTTP method. */
  readonly method: 'GET' | 'POST'
  /** Path below the base URL, without the query. */
  readonly path: string
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** A response with any status has arrived. */
export interface ResponseEvent extends RequestEvent {
  /** The HTTP status. */
  readonly status: number
  /** The time from sending the request to the last byte of the body, in milliseconds. */
  readonly durationMs: number
  /** Headers that help to trace the response, such as `x-request-id`. Never cookies or credentials. */
  readonly headers: Readonly<Record<string, string>>
}

/** An attempt has failed and a retry will follow. */
export interface RetryEvent extends RequestEvent {
  /** The wait before the next attempt, in milliseconds. */
  readonly delayMs: number
  /** The error of the failed attempt. */
  readonly error: CampaignError
}

/** The data of a response does not fit its schema and is returned unchanged. */
export interface InvalidResponseEvent extends CallEvent {
  /** The HTTP status. */
  readonly status: number
  /** The first 20 issues, with paths from the root of the body. They contain no values. */
  readonly issues: readonly Issue[]
  /** The number of further issues. Absent if `issues` is complete. */
  readonly moreIssues?: number
}

/** A call has ended, successfully or not. */
export interface EndEvent extends CallEvent {
  /** The number of attempts that were sent. 0 if an argument was wrong, or the call ended in the queue. */
  readonly attempts: number
  /** The duration of the call in milliseconds, waits included. */
  readonly durationMs: number
  /** The error of the call, or the reason of your `signal`. Absent on success. */
  readonly error?: unknown
  /** Whether the service may have applied a write that failed or was aborted. Absent otherwise. */
  readonly outcome?: WriteOutcome
}

/** Hooks for logs, traces and metrics. Events contain no secrets. An error of a hook does not affect the call. */
export interface ClientHooks {
  /** Called before each attempt. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  /** Called after each response, with any status. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined
  /** Called before the wait that precedes a retry. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined
  /** Called with `responseValidation: 'report'` when data does not fit its schema. */
  readonly onInvalidResponse?: ((event: InvalidResponseEvent) => void) | undefined
  /** Called exactly once per call, at its end, even if an argument was wrong or the call was aborted. */
  readonly onEnd?: ((event: EndEvent) => void) | undefined
}

/** Limits the requests of a client. Calls above a limit wait in a queue, within their `totalTimeoutMs`. */
export interface RequestLimits {
  /**
   * Maximum number of requests in flight, shared with all clients derived by `with`. 1 or more.
   *
   * @defaultValue no limit
   */
  readonly maxConcurrency?: number | undefined
  /**
   * Maximum number of requests per second with the same token, evenly spaced. Above 0, at most 1 000 000.
   *
   * @defaultValue no limit
   */
  readonly requestsPerSecond?: number | undefined
}

/** Limits the writes of a client. A write outside the limits fails with `InvalidRequestError`; nothing is sent. */
export interface WriteGuard {
  /** IDs of the campaigns that the client may write to. If set, writes without a campaign fail, too. */
  readonly campaigns?: readonly string[] | undefined
  /** Maximum XP of one award. If set, awards with negative XP fail, too. */
  readonly maxXpPerAward?: number | undefined
}

/**
 * Returns the wait before a retry, in milliseconds. `attempt` is the number of the failed attempt, from 1; `error` is its
 * error. Not called if the response has `Retry-After`. If the function throws, or does not return a number of 0 or more, the
 * default applies. After a 429, the wait applies to all calls with the token and is at most 30 s.
 */
export type RetryDelay = (attempt: number, error: CampaignError) => number

/** The options for sending requests: `fetch` or `transport`, not both. */
export type SenderOptions =
  | {
      /**
       * Your own `fetch`, for example for a proxy or a test.
       *
       * @defaultValue the global `fetch` at the time of the call
       */
      readonly fetch?: FetchLike | undefined
      readonly transport?: undefined
    }
  | {
      readonly fetch?: undefined
      /**
       * Sends the requests instead of `fetch`: `nodeTransport()` of `campaign-client/node`, or your own transport. The client
       * does not close it.
       */
      readonly transport?: Transport | undefined
    }

/** The options of `CampaignClient`. */
export type CampaignClientOptions = CommonClientOptions & SenderOptions

/** The options of `CampaignClient` without `fetch` and `transport`. */
export interface CommonClientOptions {
  /** Base URL of the service, with `/api/v1`. A trailing slash is optional. */
  readonly baseUrl: string | URL
  /**
   * The bearer token, or a function that returns it. Surrounding white space is removed.
   *
   * A token of fewer than 8 characters is not redacted from errors. The client warns once of a short token, unless
   * `baseUrl` is a loopback address or `fetch` is given.
   */
  readonly accessToken: string | AccessTokenSource
  /**
   * Timeout of one attempt in milliseconds, including the body of the response. Above 0.
   *
   * @defaultValue 10 000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Timeout of a whole call in milliseconds, including all attempts, waits and the token source. Above 0.
   *
   * An attempt is sent only if the time left is at least a tenth of `timeoutMs`, or of `totalTimeoutMs` if that is smaller.
   *
   * @defaultValue 60 000
   */
  readonly totalTimeoutMs?: number | undefined
  /**
   * Maximum number of retries of a call, including the retry after a 401. 0 disables retries.
   *
   * @defaultValue 2
   */
  readonly maxRetries?: number | undefined
  /**
   * Maximum size of a response in bytes, after decompression. 1 or more. A larger response fails the call with
   * `UnexpectedResponseError`; the outcome of a write is then `'unknown'`.
   *
   * @defaultValue 32 MiB
   */
  readonly maxResponseBytes?: number | undefined
  /**
   * Headers of every request. These are not accepted: `authorization` (use `accessToken`), headers of the connection such
   * as `host`, and `x-http-method-override`, `x-method-override`, `x-original-url` and `x-rewrite-url`.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Accepts plain http for hosts other than loopback. The token is then sent unencrypted.
   *
   * @defaultValue false
   */
  readonly allowInsecureHttp?: boolean | undefined
  /**
   * The names of query parameters, by operation and argument. Only names that the API description does not show can be set.
   *
   * @defaultValue the names of the arguments (assumed)
   */
  readonly queryNames?: QueryNames | undefined
  /** Path of the webhook registration. The API description does not show it. Without it, `registerWebhook` fails. */
  readonly webhookRegistrationPath?: string | undefined
  /**
   * How to handle data that does not fit its schema. `'throw'` fails the call with `UnexpectedResponseError`. `'report'`
   * calls `hooks.onInvalidResponse` and returns the data unchanged.
   *
   * @defaultValue 'throw'
   */
  readonly responseValidation?: 'throw' | 'report' | undefined
  /** Functions that are called for each attempt and call. Methods of a class instance are called on the instance. */
  readonly hooks?: ClientHooks | undefined
  /**
   * Your own backoff.
   *
   * @defaultValue exponential backoff with full jitter: up to 300 ms, 600 ms, …, 8 s
   */
  readonly retryDelayMs?: RetryDelay | undefined
  /**
   * Maximum numbers of requests in flight and per second.
   *
   * @defaultValue no limits
   */
  readonly limits?: RequestLimits | undefined
  /**
   * Limits the campaigns and the XP that the client may write.
   *
   * @defaultValue no limits
   */
  readonly guard?: WriteGuard | undefined
}

/**
 * The options of `CampaignClient.with`. They replace those of the parent; a `guard` can only become stricter. `baseUrl`
 * requires an `accessToken`, so that no token is sent to two base URLs by mistake.
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
  /** Aborts the call at any point. The call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Timeout of one attempt in milliseconds. */
  readonly timeoutMs?: number | undefined
  /** Timeout of the whole call in milliseconds. */
  readonly totalTimeoutMs?: number | undefined
  /** Maximum number of retries. */
  readonly maxRetries?: number | undefined
  /** Additional headers. They override those of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Undocumented query parameters, for example the environment of a campaign. The names of the call's own arguments are not
   * accepted.
   */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
}
