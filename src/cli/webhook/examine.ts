import type { SignatureHeader } from 'campaign-client/webhook'

/** What a message turned out to be. */
export interface Examined {
  /** Whether the signature is right, whatever it signs. */
  readonly valid: boolean
  readonly id?: string
  readonly kind?: string
  /** Why it is not to be handled. */
  readonly reason?: string
}

const SIGNATURE_FAULTS: ReadonlySet<string> = new Set([
  'missing_signature',
  'malformed_signature',
  'signature_mismatch',
  'body_not_raw',
])

/** Verifies a message. What is signed and no message (no JSON, say) has a right signature all the same. */
export async function examine(secret: string, body: Uint8Array, header: SignatureHeader): Promise<Examined> {
  const { safeParseWebhook } = await import('campaign-client/webhook')
  const result = safeParseWebhook(secret, body, header)
  if (result.ok) return { valid: true, id: result.event.id, kind: result.event.kind }
  return { valid: !SIGNATURE_FAULTS.has(result.reason), reason: result.reason }
}
