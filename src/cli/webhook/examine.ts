import type { SignatureHeader } from 'campaign-client/webhook'

/** The result of verifying a message. */
export interface Examined {
  /** Whether the signature is right, also for a body that is not a message. */
  readonly valid: boolean
  readonly id?: string
  readonly kind?: string
  /** Why it must not be handled. */
  readonly reason?: string
}

const SIGNATURE_REASONS: ReadonlySet<string> = new Set([
  'missing_signature',
  'malformed_signature',
  'signature_mismatch',
  'body_not_raw',
])

/** Verifies a message. A signed body that is not a message (not JSON, for instance) has a right signature. */
export async function examine(secret: string, body: Uint8Array, header: SignatureHeader): Promise<Examined> {
  const { safeParseWebhook } = await import('campaign-client/webhook')
  const result = safeParseWebhook(secret, body, header)
  if (result.ok) return { valid: true, id: result.event.id, kind: result.event.kind }
  return { valid: !SIGNATURE_REASONS.has(result.reason), reason: result.reason }
}
