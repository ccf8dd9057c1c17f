import type { ReferralRejection } from '../../errors/client-errors.ts'

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

export interface HttpErrorInit {
  readonly status: number
  /** The cause, for developers: shown in `service.requests` and in a header, never in the body. */
  readonly reason: string
  /** The string-form error that replaces the standard envelope. */
  readonly stringError?: ReferralRejection
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown to refuse a request with an error status. */
export class HttpError extends Error {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>

  constructor({ status, reason, stringError, headers = {} }: HttpErrorInit) {
    super(reason)
    this.status = status
    this.body = stringError === undefined ? standardError(status) : { success: false, error: stringError }
    this.headers = headers
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

export const badRequest = (reason: string): HttpError => new HttpError({ status: 400, reason })

export const accessDenied = (reason: string): HttpError => new HttpError({ status: 403, reason })
