import type { ReferralRejection } from '../errors.ts'

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

/** The parts of a refusal. */
export interface RefusalInit {
  readonly status: number
  /** Why, in words for developers: shown in `service.requests` and in a header, never in the body. */
  readonly reason: string
  /** The string-form error that replaces the standard envelope. */
  readonly stringError?: ReferralRejection
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown to refuse a request; `exchange` turns it into the answer. */
export class Refusal extends Error {
  readonly status: number
  readonly stringError: ReferralRejection | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(init: RefusalInit) {
    super(init.reason)
    this.status = init.status
    this.stringError = init.stringError
    this.headers = init.headers ?? {}
  }

  get body(): unknown {
    return this.stringError === undefined ? standardError(this.status) : { success: false, error: this.stringError }
  }
}

/**
 * Returns the standard error envelope, with `success: true` as in the published examples.
 * Interface: [Errors](/the-service#errors).
 */
export const standardError = (status: number): unknown => ({
  success: true,
  error: { code: status, message: STANDARD_MESSAGES[status] ?? 'error' },
})

export const badRequest = (reason: string): Refusal => new Refusal({ status: 400, reason })

export const accessDenied = (reason: string): Refusal => new Refusal({ status: 403, reason })
