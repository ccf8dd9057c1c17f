/** One HTTP request, ready to be sent. It holds the bearer token: never log it. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST'
  /** Absolute, the query included. */
  readonly url: string
  /** By their names in lower case, `authorization` included. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON. Absent on a GET. */
  readonly body?: string | undefined
  /** False for a write that would count twice if it arrived twice. */
  readonly idempotent: boolean
  /** The most bytes of body to read, counted after decompression. */
  readonly maxResponseBytes: number
}

/** One HTTP answer, read to its end. */
export interface TransportResponse {
  /** The HTTP status; 0 where the platform hides it, as browsers do with redirects. */
  readonly status: number
  /** The value of a header, whatever the case of its name; `null` where there is none. */
  readonly header: (name: string) => string | null
  /** The body, decoded as UTF-8. Not read for a redirect. */
  readonly text: string
  /** False where the body broke off, so that `text` is not all of it. */
  readonly complete: boolean
  /** Where the body broke off: why. */
  readonly cause?: unknown
}

/**
 * What sends the requests of a client, one attempt at a time. Retries, time limits, tokens and the meaning of statuses
 * are the client's; a transport follows no redirect and sends nothing twice by itself.
 */
export interface Transport {
  /**
   * Sends one request and reads its answer, whatever the status. Once `signal` aborts, it lets go of the connection.
   *
   * Rejects with a {@link TransportError}, or with the signal's reason. Whatever else it rejects with counts as a
   * connection that was lost: the request may have arrived.
   */
  readonly send: (request: TransportRequest, signal: AbortSignal) => Promise<TransportResponse>
  /**
   * What keeps it from sending anything to a base URL, or `undefined`. A client asks when it is made, and is then refused with a
   * `ConfigurationError` of these words, instead of failing at its first call. Optional: without it, every base URL will do.
   */
  readonly baseUrlProblem?: ((baseUrl: string) => string | undefined) | undefined
}

/** What a {@link TransportError} knows. */
export interface TransportErrorInit {
  /** `'network'`: there was no answer. `'too_large'`: its body was longer than `maxResponseBytes`. */
  kind: 'network' | 'too_large'
  /** False only where the request certainly never left, so that sending it again cannot count twice. */
  sent: boolean
  /** The system's own code: `ECONNRESET`, `ENOTFOUND`, … */
  systemCode?: string | undefined
  /** The status of an answer that was too large. */
  status?: number | undefined
  /** What went wrong underneath. The client hides tokens and secrets in what it shows of it. */
  cause?: unknown
}

/** Shared by every copy of the package in a process, whichever format it was loaded in. */
const BRAND = '@@campaign-client/transport-error'

/**
 * Why a transport has no answer. A `fetch` of your own may throw it, too: it is the only way to tell the client that
 * a write certainly never left (`sent: false`) and may be sent again.
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
  /** False only where the request certainly never left. */
  readonly sent: boolean
  /** The system's own code, where it gave one: `ECONNRESET`, `ENOTFOUND`, … */
  declare readonly systemCode?: string
  /** The status of an answer that was too large, where it is known. */
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

/** Whether an answer sends the client elsewhere. It is never followed, and no transport reads its body. */
export const isRedirect = (status: number): boolean => status < 200 || (status >= 300 && status < 400)

/** Whether a value is an answer as {@link Transport} describes it. A partner's transport may give anything. */
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
