import { type SignatureHeader, safeParseWebhook, verifyWebhook } from 'campaign-client/webhook'

/** The result of verifying a message. */
export interface Verification {
  /** Whether the signature is right. A signed body is valid even if it is not a webhook message. */
  readonly valid: boolean
  readonly id?: string
  readonly kind?: string
  /** Why a receiver must not handle the message. */
  readonly reason?: string
}

/** Verifies the signature of a message, then parses the message. */
export function verifyMessage(secret: string, body: Uint8Array, header: SignatureHeader): Verification {
  const result = safeParseWebhook(secret, body, header)
  if (result.ok) return { valid: true, id: result.event.id, kind: result.event.kind }
  return { valid: verifyWebhook(secret, body, header), reason: result.reason }
}
