/** A request to the service, over HTTP or through `service.fetch`. */
export interface ServiceRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: Uint8Array
}

/** A response of the service. */
export interface ServiceResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as text; empty when there is none. */
  readonly body: string
}

/** Whether a response of this status has neither a body nor a length. */
export const isBodyless = (status: number): boolean => status === 204 || status === 205 || status === 304

const STANDARD_MESSAGES: Readonly<Record<number, string>> = {
  400: 'bad request',
  401: 'unauthorized',
  403: 'access denied',
  404: 'not found',
  405: 'method not allowed',
  429: 'too many requests',
  500: 'internal error',
  502: 'bad gateway',
  503: 'service unavailable',
  504: 'gateway timeout',
}

/** Thrown to refuse a request with an error status. */
export class HttpError extends Error {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>

  /** @param reason - the cause, for developers: shown in `service.requests` and in a header, never in the body */
  constructor(
    status: number,
    reason: string,
    options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(reason)
    this.status = status
    this.body = options.body ?? standardError(status)
    this.headers = options.headers ?? {}
  }
}

/**
 * Returns the standard error envelope, with `success: true` as in the published examples.
 * See "Errors" in docs/the-service.md.
 */
export const standardError = (status: number): unknown => ({
  success: true,
  error: { code: status, message: STANDARD_MESSAGES[status] ?? 'error' },
})

export const badRequest = (reason: string): HttpError => new HttpError(400, reason)

export const accessDenied = (reason: string): HttpError => new HttpError(403, reason)
