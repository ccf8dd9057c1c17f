import type { OperationName } from './endpoints/index.ts'
import type { QueryNames } from './endpoints/query-names.ts'
import type { CampaignError, Issue, WriteOutcome } from './errors.ts'
import type { Transport } from './transport.ts'

/** Gives a bearer token (a JWT) each time one is needed. */
export type AccessTokenSource = () => string | Promise<string>

/** The call that an event belongs to. */
export interface CallEvent {
  /** Tells concurrent calls apart: the same in all events of one call, and in no other call of this process. */
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
  /** What the failed attempt would have thrown. */
  readonly error: CampaignError
}

/** The data of an answer does not fit its schema and is handed over as it came. */
export interface InvalidResponseEvent extends CallEvent {
  readonly status: number
  /** What did not fit, with paths from the root of the body. Never values. The first 20. */
  readonly issues: readonly Issue[]
  /** How many issues there are besides those in `issues`. Absent where there are no more. */
  readonly moreIssues?: number
}

/** A call has ended, whatever ended it. */
export interface EndEvent extends CallEvent {
  /** How many attempts were sent: 0 when an argument was refused, or the call was given up before its turn. */
  readonly attempts: number
  /** From the call of the method to its end, in milliseconds. */
  readonly durationMs: number
  /** What the call rejects with; the reason of your own signal when you aborted it. Absent on success. */
  readonly error?: unknown
  /** On writes that failed or were aborted: whether the service may have done it. */
  readonly outcome?: WriteOutcome
}

/** What a logger or a tracer needs. No hook ever gets a secret, and one that throws or rejects breaks no call. */
export interface ClientHooks {
  /** Called before each attempt. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  /** Called after each answer, error answers included. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined
  /** Called before the wait that precedes a retry. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined
  /** Called with `responseValidation: 'report'` when data does not fit its schema. */
  readonly onInvalidResponse?: ((event: InvalidResponseEvent) => void) | undefined
  /** Called exactly once for each call, when it has ended, also when it was refused or aborted. */
  readonly onEnd?: ((event: EndEvent) => void) | undefined
}

/** How many requests a client makes. What goes beyond waits in order, within `totalTimeoutMs`. */
export interface RequestLimits {
  /** How many requests may be under way at once, of all clients derived by `with` together. Default: no limit. */
  readonly maxConcurrency?: number | undefined
  /** How many requests with the same token may begin within a second, evenly spread. Default: no limit. */
  readonly requestsPerSecond?: number | undefined
}

/** The seat belt of a script with a production token: a write outside of it is refused before anything is sent. */
export interface WriteGuard {
  /** The campaigns that may be written to. With it, a write that names no campaign is refused as well. */
  readonly campaigns?: readonly string[] | undefined
  /** The most XP that one award may give. Negative XP is then refused as well. */
  readonly maxXpPerAward?: number | undefined
}

/**
 * The wait before a retry, in milliseconds, after attempt number `attempt` (1 for the first) failed with `error`. Not asked
 * where the service names the wait itself. Anything but a number from 0 up counts as the default.
 */
export type RetryDelay = (attempt: number, error: CampaignError) => number

/** What a {@link FetchLike} is called with. */
export interface FetchLikeInit {
  readonly method: 'GET' | 'POST'
  /** By their names in lower case, `authorization` included: never log them. */
  readonly headers: Record<string, string>
  /**
   * JSON. Absent on a GET. On Deno it is a `Blob` in spite of its type: Deno's `fetch` sends a text that got lost a second
   * time. What takes a body takes both.
   */
  readonly body?: string
  /** Aborted with an `Error` as its reason, once nobody waits for the answer. */
  readonly signal: AbortSignal
  readonly redirect: 'manual'
}

/** What is read of the answer of a {@link FetchLike}. A `Response` of whatever package has it. */
export interface FetchLikeResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  /** The body. Where it can be read piece by piece, as `body` of a `Response` can, the client does that instead. */
  text(): Promise<string>
}

/** A `fetch` of whatever make: the global one, one of your own around it, or that of a package such as undici. */
export type FetchLike = (url: string, init: FetchLikeInit) => Promise<FetchLikeResponse>

/** How a client is set up. */
export interface CampaignClientOptions {
  /** Address of the service, `/api/v1` included; a trailing slash makes no difference. */
  readonly baseUrl: string | URL
  /** The bearer token, or a source of one. White space around it is trimmed. */
  readonly accessToken: string | AccessTokenSource
  /** Limit of one attempt in milliseconds, its body included. Default 10 000. */
  readonly timeoutMs?: number | undefined
  /** Limit of a whole call in milliseconds: attempts, waits and the token source. Default 60 000. */
  readonly totalTimeoutMs?: number | undefined
  /** How many further attempts a call may make, the replay after a 401 included. Default 2; 0 means one attempt. */
  readonly maxRetries?: number | undefined
  /** A `fetch` of your own, for a proxy or a test. Default: the global one at the time of the call. */
  readonly fetch?: FetchLike | undefined
  /**
   * What sends the requests, in place of `fetch`: `nodeTransport()` of `campaign-client/node`, or your own. You made it,
   * so you close it.
   */
  readonly transport?: Transport | undefined
  /**
   * The longest answer to be read, in bytes after decompression. Default 32 MiB. A longer one is an
   * `UnexpectedResponseError`, and a write's outcome is unknown.
   */
  readonly maxResponseBytes?: number | undefined
  /** Headers of every request. `authorization` belongs to `accessToken`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Accept plain http for hosts other than loopback. Default false: the token would travel in the clear. */
  readonly allowInsecureHttp?: boolean | undefined
  /** Other names for the query parameters that the interface leaves open. Defaults (assumed): the argument's name. */
  readonly queryNames?: QueryNames | undefined
  /** Path of the webhook registration, which the interface does not show. Without it `registerWebhook` refuses. */
  readonly webhookRegistrationPath?: string | undefined
  /**
   * What happens to data of another shape: `'throw'` (default) an `UnexpectedResponseError`, or `'report'` it to
   * `hooks.onInvalidResponse` and return it as it came.
   */
  readonly responseValidation?: 'throw' | 'report' | undefined
  /** Called around every attempt. */
  readonly hooks?: ClientHooks | undefined
  /** Your own backoff. Default: full-jitter exponential from 300 ms, at most 8 s. */
  readonly retryDelayMs?: RetryDelay | undefined
  /** How many requests may be made. Default: as many as there are calls. */
  readonly limits?: RequestLimits | undefined
  /** What may be written. Default: anything. */
  readonly guard?: WriteGuard | undefined
}

/**
 * How a derived client differs from the one it comes from. What is given replaces, but for the guard. The address changes
 * only together with the token: one token must not go to two addresses by mistake.
 */
export type DerivedClientOptions = Pick<
  CampaignClientOptions,
  'headers' | 'timeoutMs' | 'totalTimeoutMs' | 'maxRetries' | 'retryDelayMs' | 'guard' | 'hooks'
> &
  (
    | { readonly baseUrl: string | URL; readonly accessToken: string | AccessTokenSource }
    | { readonly baseUrl?: undefined; readonly accessToken?: string | AccessTokenSource | undefined }
  )

/** How one call differs from the client's setup. */
export interface CallOptions {
  /** Aborts the call at once, waits included. The call rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
  /** As on the client. */
  readonly timeoutMs?: number | undefined
  /** As on the client. */
  readonly totalTimeoutMs?: number | undefined
  /** As on the client. */
  readonly maxRetries?: number | undefined
  /** Further headers. They win over the client's. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Undocumented query parameters, for instance the environment of a campaign. They cannot replace the call's own. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
}
