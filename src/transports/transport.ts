/** An HTTP request. It contains the bearer token: never log it. */
export interface TransportRequest {
  /** The HTTP method. */
  readonly method: 'GET' | 'POST'
  /** Absolute URL, including the query. */
  readonly url: string
  /** Keyed by lower-case name, including `authorization`. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON. Absent for a GET. */
  readonly body?: string | undefined
  /** False for a write that would count twice if it was sent twice. */
  readonly idempotent: boolean
  /** Maximum size of the response in bytes, after decompression. */
  readonly maxResponseBytes: number
}

/** An HTTP response with its body. */
export interface TransportResponse {
  /** The HTTP status. 0 if the platform hides it, as browsers do for redirects. */
  readonly status: number
  /** Returns the value of a header, or `null` if it is absent. The name is case-insensitive. */
  readonly header: (name: string) => string | null
  /** The body, decoded as UTF-8. Empty for a redirect. */
  readonly text: string
  /** False if the connection failed before the end of the body. */
  readonly complete: boolean
  /** The error that interrupted the body. */
  readonly cause?: unknown
}

/** Tells a transport that an attempt has timed out, or that its call was aborted. */
export interface Cancellation {
  /** Aborts on cancellation. The reason is an `Error`. The signal is created when it is first read. */
  readonly signal: AbortSignal
  /**
   * Calls `listener` with the reason on cancellation, at once if that has already happened. Returns a function that removes
   * the listener. Takes less CPU time than `signal`.
   */
  readonly onCancel: (listener: (reason: Error) => void) => () => void
}

/**
 * Sends the HTTP requests of a client. The client handles retries, timeouts, tokens and error statuses. A transport must not
 * follow redirects or send a request twice.
 */
export interface Transport {
  /**
   * Sends one request and reads the response. Resolves for every status. Closes the connection on cancellation. A wrapper
   * passes `cancellation` on as it is.
   *
   * Rejects with a {@link TransportError}, or with the reason of the cancellation. After any other rejection, the client
   * assumes that the request may have been sent.
   */
  readonly send: (request: TransportRequest, cancellation: Cancellation) => Promise<TransportResponse>
  /**
   * Returns an error message if the transport cannot use a base URL. The constructor of a client calls it and throws a
   * `ConfigurationError` with that message. Without this method, every base URL is accepted.
   */
  readonly baseUrlProblem?: ((baseUrl: string) => string | undefined) | undefined
}

/** The fields of a {@link TransportError}. */
export interface TransportErrorInit {
  /** `'network'`: no response arrived. `'too_large'`: the response was larger than `maxResponseBytes`. */
  kind: 'network' | 'too_large'
  /** False only if the request was certainly not sent, so that a retry cannot count twice. */
  sent: boolean
  /** The error code of the operating system, such as `ECONNRESET` or `ENOTFOUND`. */
  systemCode?: string | undefined
  /** The status of a response that was too large. */
  status?: number | undefined
  /** The underlying error. The client redacts its tokens and secrets. */
  cause?: unknown
}

/** The property that marks a `TransportError`. All copies of the package in a process use the same name. */
const BRAND = '@@campaign-client/transport-error'

/**
 * The error of a transport that got no response, or a response that was too large. Your own `fetch` may throw it, too. With
 * `sent: false`, the client can safely retry a write.
 *
 * `instanceof` works across multiple loaded copies of the package.
 */
export class TransportError extends Error {
  /** @internal Recognises errors of every loaded copy of the package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== TransportError) return Function.prototype[Symbol.hasInstance].call(this, value)
    if (typeof value !== 'object' || value === null) return false
    try {
      return Reflect.get(value, BRAND) === true
    } catch {
      // A revoked Proxy, for example. A thrown value may be anything.
      return false
    }
  }

  /** `'network'`: no response arrived. `'too_large'`: the response was larger than `maxResponseBytes`. */
  readonly kind: 'network' | 'too_large'
  /** False only if the request was certainly not sent. */
  readonly sent: boolean
  /** The error code of the operating system, such as `ECONNRESET` or `ENOTFOUND`, if there was one. */
  declare readonly systemCode?: string
  /** The status of a response that was too large, if known. */
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

/** The caller's `fetch` or transport resolved to something else than a response. */
export class NotAResponseError extends Error {}

/** Whether the client treats a status as a redirect: 0, 1xx or 3xx. It does not follow redirects or read their bodies. */
export const isRedirect = (status: number): boolean => status < 200 || (status >= 300 && status < 400)

/** Whether a value is a {@link TransportResponse}. The caller's transport may return anything. */
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

const MAX_CAUSE_DEPTH = 5

/** Returns the error code of the deepest cause that has one. Runtimes nest their errors differently. */
export function systemCodeOf(thrown: unknown): string | undefined {
  let code: string | undefined
  let error = thrown as { code?: unknown; cause?: unknown } | null | undefined
  try {
    for (let depth = 0; depth <= MAX_CAUSE_DEPTH && typeof error === 'object' && error !== null; depth++) {
      if (typeof error.code === 'string') code = error.code
      error = error.cause as typeof error
    }
  } catch {
    // A getter threw, or a Proxy is revoked.
  }
  return code
}

/** The cancellation of one attempt. */
export class AttemptCancellation implements Cancellation {
  readonly #listeners = new Set<(reason: Error) => void>()
  #reason: Error | undefined
  #controller: AbortController | undefined

  /** Created when it is first read: an `AbortSignal` for each attempt would take a fifth of the CPU time of `nodeTransport`. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** A field, because a transport may call it without its object. */
  readonly onCancel: Cancellation['onCancel'] = (listener) => {
    if (this.#reason !== undefined) {
      listener(this.#reason)
      return () => undefined
    }
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  cancel(reason: Error): void {
    this.#reason = reason
    for (const listener of [...this.#listeners]) listener(reason)
    this.#controller?.abort(reason)
  }
}
