import type { CampaignError, ErrorContext } from '../errors.ts'

/**
 * How one attempt failed, as far as a repeat is concerned.
 * - `not_sent`: the request surely never left: connection refused, no such host.
 * - `no_answer`: it may have arrived; no whole answer came back.
 * - `refused`: an error answer.
 * - `not_understood`: an answer that does not say what happened.
 * - `no_token`: there was nothing to send it with.
 */
export type FailureKind = 'not_sent' | 'no_answer' | 'refused' | 'not_understood' | 'no_token'

/** Thrown inside the pipeline only; `call.ts` turns it into a public error once the outcome is known. */
export class Failure extends Error {
  readonly kind: FailureKind
  /** Of a refusal: the HTTP status, or on a 2xx answer the `error.code` in its place. */
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  /** The call has no time left, whatever the rules of repeats say. */
  readonly final: boolean
  readonly toError: (context: ErrorContext) => CampaignError

  constructor(
    kind: FailureKind,
    toError: (context: ErrorContext) => CampaignError,
    details: { status?: number | undefined; retryAfterMs?: number | undefined; final?: boolean } = {},
  ) {
    super(kind)
    this.kind = kind
    this.toError = toError
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.final = details.final ?? false
  }
}
