/** The key of an error's brands. Every copy of the package in a process uses it: ESM and CommonJS, or two versions. */
const KINDS: keyof CampaignError = '@@campaign-client/error-kinds'

/** Whether a failed write was certainly not applied. */
export type WriteOutcome = 'not_applied' | 'unknown'

/** The `code` of an `ApiError` or of one of its subclasses. */
export type ApiErrorCode =
  | 'api_error'
  | 'bad_request'
  | 'unauthorized'
  | 'access_denied'
  | 'rate_limited'
  | 'service_error'
  | 'referral_rejected'

/**
 * Why a message was refused: the `code` of `WebhookError` and the `reason` of `safeParseWebhook`.
 *
 * | code | status | meaning |
 * |---|---|---|
 * | `missing_signature` | 401 | no signature header, or an empty one |
 * | `malformed_signature` | 401 | not exactly one value of 64 lowercase hexadecimal digits |
 * | `signature_mismatch` | 401 | the body is not signed with any of the secrets |
 * | `body_not_raw` | 500 | the body is neither text nor bytes: your application parsed it first |
 * | `invalid_utf8` | 400 | signed, but not valid UTF-8 |
 * | `invalid_json` | 400 | signed, but not JSON, or more than 1 000 levels deep |
 * | `missing_id` | 400 | signed, but not an object with a non-empty string `id` |
 */
export type WebhookErrorCode =
  | 'missing_signature'
  | 'malformed_signature'
  | 'signature_mismatch'
  | 'body_not_raw'
  | 'invalid_utf8'
  | 'invalid_json'
  | 'missing_id'

/**
 * Why a handler must stop:
 *
 * - `lease_lost`: another receiver took the delivery over, or the store was unreachable until the lease expired;
 * - `run_time_exceeded`: the handler ran for `maxRunMs`, or its Lambda invocation ends soon;
 * - `receiver_closed`: `close()` was called, and its `timeoutMs` passed.
 */
export type LeaseErrorCode = 'lease_lost' | 'run_time_exceeded' | 'receiver_closed'

/**
 * The `code` of an error of this package. The page "Error codes" describes each code. A later version may add codes, so a
 * `switch` needs a `default`.
 */
export type CampaignErrorCode =
  | ApiErrorCode
  // No usable response.
  | 'network'
  | 'timeout'
  | 'unexpected_response'
  // No request, or no further request, was sent.
  | 'invalid_request'
  | 'access_token'
  | 'configuration'
  // Bulk awards without a verdict.
  | 'award_run_stopped'
  | 'award_unsettled'
  | WebhookErrorCode
  // A webhook message that differs from its documented shape.
  | 'unexpected_shape'
  // The end of a webhook handler.
  | 'discard_event'
  | LeaseErrorCode

/** `homepage` of package.json, or `undefined`. The build replaces it. */
declare const HOMEPAGE: string | undefined

/** The page of error codes: on the site, or in the package if there is no site. */
const PAGE = typeof HOMEPAGE === 'string' ? `${HOMEPAGE}/error-codes` : 'docs/error-codes.md'

/** Options of {@link CampaignError}. */
export interface CampaignErrorInit {
  /** The stable code of the error. Your own subclass may use its own code. */
  code: CampaignErrorCode | (string & Record<never, never>)
  /** The method that failed, if the error belongs to a call. */
  operation?: string | undefined
  /** The number of requests that the call sent, if the error belongs to a call. */
  attempts?: number | undefined
  /** Set on errors of writes only. */
  outcome?: WriteOutcome | undefined
  /** An error that is safe to print. Errors of HTTP libraries are not: they contain the request. */
  cause?: unknown
}

/**
 * The base of every error this package throws, `WebhookError` included.
 *
 * `instanceof` compares a brand and not the prototype, so it also works between two loaded copies of the package (ESM and
 * CommonJS, or two versions).
 */
export class CampaignError extends Error {
  /** @internal Identifies the class in every copy of the package. A minifier may change the name of the class. */
  static readonly brand: string = 'CampaignError'

  /** @internal Recognises errors of every loaded copy of the package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // A caller's subclass has no brand: compare its prototype.
    if (!Object.hasOwn(this, 'brand')) return Function.prototype[Symbol.hasInstance].call(this, value)
    if (typeof value !== 'object' || value === null) return false
    try {
      const kinds: unknown = Reflect.get(value, KINDS)
      return Array.isArray(kinds) && kinds.includes(this.brand)
    } catch {
      // A revoked Proxy, for example. A thrown value may be anything.
      return false
    }
  }

  /** A stable, machine-readable code. */
  readonly code: CampaignErrorCode
  /** The method of `CampaignClient` that failed, for instance `'rewardWallet'`. */
  declare readonly operation?: string
  /** The number of requests that the call sent; 0 if an argument was refused. Absent if the error belongs to no call. */
  declare readonly attempts?: number
  /**
   * On errors of writes: `'not_applied'` if the service certainly did not apply the write, otherwise `'unknown'`. After
   * `'unknown'`, read the state, or call again if the page of the method says that a retry is safe.
   */
  declare readonly outcome?: WriteOutcome

  constructor(message: string, init: CampaignErrorInit) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause })
    Object.defineProperty(this, 'name', { value: new.target.brand, configurable: true, writable: true })
    this.code = init.code as CampaignErrorCode
    if (init.operation !== undefined) this.operation = init.operation
    if (init.attempts !== undefined) this.attempts = init.attempts
    if (init.outcome !== undefined) this.outcome = init.outcome
  }

  /**
   * The section that describes the code and what to do: a URL, or a path in the package such as
   * `'docs/error-codes.md#rate_limited'`.
   */
  get docsPath(): string {
    return `${PAGE}#${this.code}`
  }

  /** @internal */
  get '@@campaign-client/error-kinds'(): string[] {
    const kinds: string[] = []
    for (let type: unknown = this.constructor; typeof type === 'function'; type = Object.getPrototypeOf(type)) {
      if (Object.hasOwn(type, 'brand')) kinds.push((type as typeof CampaignError).brand)
    }
    return kinds
  }

  /** Returns the name, the message and the fields of the class, without stack and cause. */
  toJSON(): Record<string, unknown> {
    const fields: Record<string, unknown> = { name: this.name, message: this.message }
    return Object.assign(fields, this)
  }
}
