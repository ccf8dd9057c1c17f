import { CampaignError } from '../../shared/campaign-error.ts'

/**
 * Why a message was refused: the `code` of {@link WebhookError} and the `reason` of `safeParseWebhook`.
 *
 * | code | status | meaning |
 * |---|---|---|
 * | `missing_signature` | 401 | no signature header, or an empty one |
 * | `malformed_signature` | 401 | not exactly one value of 64 lowercase hexadecimal digits |
 * | `signature_mismatch` | 401 | no secret gives this signature for this body |
 * | `body_not_raw` | 500 | the body is not text or bytes: something parsed it before (a fault in your own set-up) |
 * | `invalid_utf8` | 400 | signed, but not text |
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

/** The HTTP status that answers a refused message. */
export type WebhookErrorStatus = 400 | 401 | 500

const REFUSALS: Readonly<Record<WebhookErrorCode, readonly [WebhookErrorStatus, string]>> = {
  missing_signature: [
    401,
    'The message carries no signature. Pass the value of the x-service-signature header, and check that the webhook ' +
      'is registered with a secret: without one the service signs nothing.',
  ],
  malformed_signature: [
    401,
    'The signature is not exactly one value of 64 lowercase hexadecimal digits. Pass the x-service-signature header ' +
      'as it arrived.',
  ],
  signature_mismatch: [
    401,
    'None of the secrets gives this signature for this body. Check the secret, and pass the bytes of the body as they ' +
      'arrived; diagnoseWebhook() finds the usual causes.',
  ],
  body_not_raw: [
    500,
    'The body is not raw: a string, Uint8Array or ArrayBuffer is needed, exactly as it arrived. Read it before any ' +
      'JSON middleware does (Express: express.raw({ type: "*/*" }) on this route; fetch handlers: await ' +
      'request.arrayBuffer()).',
  ],
  invalid_utf8: [400, 'The message is signed, but its body is not valid UTF-8.'],
  invalid_json: [400, 'The message is signed, but its body is not JSON, or more than 1 000 levels deep.'],
  missing_id: [400, 'The message is signed, but is not a JSON object with a non-empty string "id".'],
}

/**
 * Thrown by `parseWebhook` for a message that must not be handled. Its message holds no secret, no signature and nothing
 * of the body, so it is safe to log.
 * Interface: [Signature](/the-service#signature), [Message](/the-service#message).
 */
export class WebhookError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'WebhookError'

  declare readonly code: WebhookErrorCode
  /** The HTTP status to answer with: 401 for a wrong signature, 400 for a malformed message, 500 for a parsed body. */
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
