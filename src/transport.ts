/** One HTTP request, ready to be sent. It holds the bearer token: never log it. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST'
  /** Absolute, the query included. */
  readonly url: string
  /** By their names in lower case, `authorization` included. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON. Absent on a GET. */
  readonly body?: string | undefined
  /** False for a write that must not arrive twice. */
  readonly idempotent: boolean
  /** The limit for the body in bytes, after decompression. */
  readonly maxResponseBytes: number
}

/** One HTTP answer, read to its end. */
export interface TransportResponse {
  /** The HTTP status; 0 if the platform hides it, as browsers do for redirects. */
  readonly status: number
  /** Returns the value of a header, case-insensitively; `null` if it is absent. */
  readonly header: (name: string) => string | null
  /** The body, decoded as UTF-8. Not read for a redirect. */
  readonly text: string
  /** False if the connection failed inside the body, so that `text` is incomplete. */
  readonly complete: boolean
  /** The error that interrupted the body, if it is incomplete. */
  readonly cause?: unknown
}

/**
 * Sends the requests of a client, one attempt at a time. The client handles retries, time limits, tokens and statuses. A
 * transport must not follow redirects or send a request twice.
 */
export interface Transport {
  /**
   * Sends one request and reads its answer, whatever the status. Releases the connection when `signal` aborts.
   *
   * Rejects with a {@link TransportError}, or with the signal's reason. Any other rejection counts as a
   * lost connection: the request may have arrived.
   */
  readonly send: (request: TransportRequest, signal: AbortSignal) => Promise<TransportResponse>
  /**
   * Returns why the transport cannot use a base URL, or `undefined`. The constructor of a client calls it and throws a
   * `ConfigurationError` with this message. Without this method, every base URL is accepted.
   */
  readonly baseUrlProblem?: ((baseUrl: string) => string | undefined) | undefined
}

/** The fields of a {@link TransportError}. */
export interface TransportErrorInit {
  /** `'network'`: there was no answer. `'too_large'`: its body was longer than `maxResponseBytes`. */
  kind: 'network' | 'too_large'
  /** False only if the request was certainly never sent, so that a retry cannot count twice. */
  sent: boolean
  /** The error code of the operating system, such as `ECONNRESET` or `ENOTFOUND`. */
  systemCode?: string | undefined
  /** The status of an answer that was too large. */
  status?: number | undefined
  /** The underlying error. The client redacts tokens and secrets when it copies it. */
  cause?: unknown
}

/** Shared by all copies of the package in a process, ESM and CommonJS alike. */
const BRAND = '@@campaign-client/transport-error'

/**
 * Thrown when a transport gets no answer. Your own `fetch` may throw it, too: with `sent: false`, the client knows that a
 * write was certainly never sent and can retry it.
 *
 * `instanceof` also holds between two loaded copies of the package.
 */
export class TransportError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== TransportError) return Function.prototype[Symbol.hasInstance].call(this, value)
    return typeof value === 'object' && value !== null && Reflect.get(value, BRAND) === true
  }

  /** `'network'`: there was no answer. `'too_large'`: its body was longer than `maxResponseBytes`. */
  readonly kind: 'network' | 'too_large'
  /** False only if the request was certainly never sent. */
  readonly sent: boolean
  /** The error code of the operating system, such as `ECONNRESET` or `ENOTFOUND`, if there was one. */
  declare readonly systemCode?: string
  /** The status of an answer that was too large, if known. */
  declare readonly status?: number

  constructor(message: string, init: TransportErrorInit) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause })
    Object.defineProperty(this, 'name', { value: 'TransportError', configurable: true, writable: true })
    this.kind = init.kind
    this.sent = init.sent
    if (init.systemCode !== undefined) this.systemCode = init.systemCode
    if (init.status !== undefined) this.status = init.status
  }

  /** @internal */
  get [BRAND](): true {
    return true
  }
}

/** Whether a status is a redirect or provisional. Such answers are never followed, and their bodies are not read. */
export const isRedirect = (status: number): boolean => status < 200 || (status >= 300 && status < 400)

/** Whether a value is an answer as {@link Transport} describes it. A partner's transport may return anything. */
export function isTransportResponse(value: unknown): value is TransportResponse {
  if (typeof value !== 'object' || value === null) return false
  const { status, header, text, complete } = value as Partial<TransportResponse>
  return (
    Number.isInteger(status) &&
    typeof header === 'function' &&
    typeof text === 'string' &&
    typeof complete === 'boolean'
  )
}
