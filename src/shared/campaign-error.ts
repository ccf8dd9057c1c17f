/** Shared by every copy of the package in a process, whichever format it was loaded in. */
const KINDS: keyof CampaignError = '@@campaign-client/error-kinds'

/** Whether a write took effect, as far as the client can know. */
export type WriteOutcome = 'not_applied' | 'unknown'

/** The `code` of an `ApiError`, one for each of its classes: the service answered with an error. */
export type ApiErrorCode =
  | 'api_error'
  | 'bad_request'
  | 'unauthorized'
  | 'access_denied'
  | 'rate_limited'
  | 'service_error'
  | 'referral_rejected'

/**
 * What went wrong, by name: the `code` of every error of this package. What each means and what to do is on the page
 * "Error codes". A later version may add codes, so a `switch` wants a `default`.
 */
export type CampaignErrorCode =
  | ApiErrorCode
  // There is no answer that could be used.
  | 'network'
  | 'timeout'
  | 'unexpected_response'
  // Nothing was sent.
  | 'invalid_request'
  | 'access_token'
  | 'configuration'
  // Bulk awards end without a verdict.
  | 'award_run_stopped'
  | 'award_unsettled'
  // A webhook message is refused.
  | 'missing_signature'
  | 'malformed_signature'
  | 'signature_mismatch'
  | 'body_not_raw'
  | 'invalid_utf8'
  | 'invalid_json'
  | 'missing_id'
  // A webhook handler ends.
  | 'discard_event'
  | 'lease_lost'
  | 'run_time_exceeded'
  | 'receiver_closed'

const PAGE = 'docs/error-codes.md#'

/** What every error of this package is made from. */
export interface CampaignErrorInit {
  /** The stable code of the error class, or of the reason within it. An error of your own has a code of your own. */
  code: CampaignErrorCode | (string & Record<never, never>)
  /** The method of `CampaignClient` that failed. Absent on errors that belong to no call. */
  operation?: string | undefined
  /** Set on errors of writes only. */
  outcome?: WriteOutcome | undefined
  /** An error that is safe to print. Never an error of the HTTP library: those hold the request. */
  cause?: unknown
}

/**
 * The base of every error this package throws, `WebhookError` included.
 *
 * `instanceof` is answered by a brand rather than by the prototype, so it also holds between two loaded copies of
 * the package (ESM and CommonJS, or two versions).
 */
export class CampaignError extends Error {
  /** @internal The name under which copies recognise each other. Minifiers leave strings alone. */
  static readonly brand: string = 'CampaignError'

  static override [Symbol.hasInstance](value: unknown): boolean {
    // A partner's own subclass has no brand of its own: for it the prototype decides, as everywhere else.
    if (!Object.hasOwn(this, 'brand')) return Function.prototype[Symbol.hasInstance].call(this, value)
    if (typeof value !== 'object' || value === null) return false
    const kinds: unknown = Reflect.get(value, KINDS)
    return Array.isArray(kinds) && kinds.includes(this.brand)
  }

  /** A stable, machine-readable name of what went wrong. Safe to branch on and to log. */
  readonly code: CampaignErrorCode
  /** The method of `CampaignClient` that failed, for instance `'rewardWallet'`. */
  declare readonly operation?: string
  /**
   * On errors of writes: `'not_applied'` when the service did not do it, `'unknown'` when it may have.
   * After `'unknown'`, reconcile, or retry where a retry is guarded by the service.
   */
  declare readonly outcome?: WriteOutcome

  constructor(message: string, init: CampaignErrorInit) {
    // A subclass of a partner has codes that the page does not know.
    const text = Object.hasOwn(new.target, 'brand') ? `${message} (${PAGE}${init.code})` : message
    super(text, init.cause === undefined ? undefined : { cause: init.cause })
    Object.defineProperty(this, 'name', { value: new.target.brand, configurable: true, writable: true })
    this.code = init.code as CampaignErrorCode
    if (init.operation !== undefined) this.operation = init.operation
    if (init.outcome !== undefined) this.outcome = init.outcome
  }

  /**
   * Where the package says what this code means, whether a write was applied and what to do: a file of the package, and
   * the place in it. `'docs/error-codes.md#rate_limited'`, for instance. The message ends with it.
   */
  get docsPath(): string {
    return PAGE + this.code
  }

  /** @internal */
  get '@@campaign-client/error-kinds'(): string[] {
    const kinds: string[] = []
    for (let type: unknown = this.constructor; typeof type === 'function'; type = Object.getPrototypeOf(type)) {
      if (Object.hasOwn(type, 'brand')) kinds.push((type as typeof CampaignError).brand)
    }
    return kinds
  }

  /** What `JSON.stringify` prints: the name, the message and the fields of the class, without stack and cause. */
  toJSON(): Record<string, unknown> {
    const fields: Record<string, unknown> = { name: this.name, message: this.message }
    return Object.assign(fields, this)
  }
}
