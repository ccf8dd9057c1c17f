import { describeIssues, type Issue } from '../shared/issue.ts'
import { CampaignError, type LeaseErrorCode, type WebhookErrorCode } from './campaign-error.ts'

/** The HTTP status of the response to a refused message. */
export type WebhookErrorStatus = 400 | 401 | 500

const REFUSALS: Readonly<Record<WebhookErrorCode, readonly [WebhookErrorStatus, string]>> = {
  missing_signature: [
    401,
    'the message has no signature; pass the value of the x-service-signature header, and check that the webhook is ' +
      'registered with a secret: without a secret the service does not sign',
  ],
  malformed_signature: [
    401,
    'the signature is not exactly one value of 64 lowercase hexadecimal digits; pass the x-service-signature header ' +
      'as it arrived',
  ],
  signature_mismatch: [
    401,
    'the body is not signed with any of the secrets; check the secret, and pass the bytes of the body as they arrived; ' +
      'diagnoseWebhook() finds the usual causes',
  ],
  body_not_raw: [
    500,
    'the body is not raw; pass it as it arrived: a string, Uint8Array or ArrayBuffer; read it before any JSON ' +
      'middleware (Express: express.raw({ type: () => true }) on this route; fetch handlers: await request.arrayBuffer())',
  ],
  invalid_utf8: [400, 'the message is signed, but its body is not valid UTF-8'],
  invalid_json: [400, 'the message is signed, but its body is not JSON, or more than 1 000 levels deep'],
  missing_id: [400, 'the message is signed, but is not a JSON object with a non-empty string "id"'],
}

/**
 * Thrown by `parseWebhook` for a message that must not be handled. It contains no secret, no signature and no part of the
 * body, so it is safe to log.
 *
 * See "Signature" and "Message" in docs/the-service.md.
 */
export class WebhookError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'WebhookError'

  declare readonly code: WebhookErrorCode
  /** The HTTP status to respond with: 401 for a wrong signature, 400 for a malformed message, 500 for a parsed body. */
  readonly status: WebhookErrorStatus

  /**
   * @param code - why the message was refused
   * @param message - replaces the default message of the code
   */
  constructor(code: WebhookErrorCode, message?: string) {
    const [status, text] = REFUSALS[code]
    super(message ?? text, { code })
    this.status = status
  }
}

/**
 * A message differs from its documented shape: the service may have changed. The receiver passes it to `onError`, with the
 * stage `'message'`, and handles the message all the same. It contains no value of the message, so it is safe to log.
 *
 * See "Message" in docs/the-service.md.
 */
export class WebhookShapeError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'WebhookShapeError'

  declare readonly code: 'unexpected_shape'
  /** The `issues` of the event. */
  readonly issues: readonly Issue[]

  /** @internal */
  constructor(issues: readonly Issue[]) {
    const described = describeIssues(
      { issues, moreIssues: 0 },
      3,
      ({ path, message }) => `${path.join('.')}: ${message}`,
    )
    super(`the message differs from its documented shape: ${described}`, { code: 'unexpected_shape' })
    this.issues = issues
  }
}

/**
 * Discards a message: throw it in a handler when a retry cannot help. The receiver responds with 200 and records the
 * message as done. After any other error of a handler, it responds with 500 and the service retries.
 *
 * See "Delivery and retries" in docs/the-service.md.
 *
 * @example
 * ```ts
 * if (!knownCampaigns.has(event.payload.campaign.id)) throw new DiscardEvent('unknown campaign')
 * ```
 */
export class DiscardEvent extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'DiscardEvent'

  declare readonly code: 'discard_event'

  /**
   * @param reason - for your logs; not sent to the service
   * @param options - `cause`: the original error
   */
  constructor(reason = 'The handler discarded the message.', options?: { cause?: unknown }) {
    super(reason, { code: 'discard_event', cause: options?.cause })
  }
}

/**
 * The `reason` of a handler's signal. Another receiver may now handle the same message, so the handler must throw or return,
 * and write nothing more. The service then retries. `onError` receives the error too.
 */
export class LeaseError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'LeaseError'

  declare readonly code: LeaseErrorCode

  /** @internal */
  constructor(code: LeaseErrorCode, message: string) {
    super(message, { code })
  }
}
