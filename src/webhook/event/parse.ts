import { parseJson } from '../../shared/text/json.ts'
import { isWellFormed } from '../../shared/text/well-formed.ts'
import { isRecord } from '../../shared/types.ts'
import type { RawBody } from '../verify/raw-body.ts'
import type { WebhookSecret } from '../verify/secret.ts'
import { checkSignature, type SignatureHeader } from '../verify/signature.ts'
import { toEvent } from './guards.ts'
import type { WebhookEvent } from './types.ts'
import { WebhookError, type WebhookErrorCode } from './webhook-error.ts'

/** What {@link safeParseWebhook} found. */
export type WebhookResult =
  | {
      ok: true
      event: WebhookEvent
      /** Which secret signed it: its index in the list, 0 when there is one. Tells when an old secret is out of use. */
      secretIndex: number
    }
  | { ok: false; reason: WebhookErrorCode }

/**
 * Verifies a message and gives it its type. Nothing of the body is read before its signature is found right.
 *
 * A signed message is refused for three things only: it is not UTF-8, not JSON, or has no `id`. Whatever else surprises
 * arrives as `kind: 'unknown'`. Unknown fields are kept; a `__proto__` field, which could only do harm when copied, is
 * not. A leading byte order mark is part of what is signed, and ignored after that.
 *
 * Interface: [Signature](../../../docs/the-service.md#signature), [Message](../../../docs/the-service.md#message).
 *
 * @param secret - as for `verifyWebhook`
 * @param rawBody - as for `verifyWebhook`
 * @param header - as for `verifyWebhook`
 * @throws WebhookError when the message must not be handled; `status` is what to answer
 * @throws TypeError when the secret is unusable
 *
 * @example
 * ```ts
 * const event = parseWebhook(secret, rawBody, request.headers.get('x-service-signature'))
 * if (event.kind === 'action_completed') await credit(event.payload.user, event.payload.event.data.xp)
 * ```
 */
export function parseWebhook(secret: WebhookSecret, rawBody: RawBody, header: SignatureHeader): WebhookEvent {
  const result = safeParseWebhook(secret, rawBody, header)
  if (!result.ok) throw new WebhookError(result.reason)
  return result.event
}

/**
 * As `parseWebhook`, with the refusal as a value, and with the secret that matched.
 *
 * Interface: [Signature](../../../docs/the-service.md#signature), [Message](../../../docs/the-service.md#message).
 *
 * @throws TypeError when the secret is unusable; nothing else throws
 */
export function safeParseWebhook(secret: WebhookSecret, rawBody: RawBody, header: SignatureHeader): WebhookResult {
  const checked = checkSignature(secret, rawBody, header)
  if (!checked.ok) return checked
  const decoded = decodeMessage(checked.body)
  return decoded.ok ? { ...decoded, secretIndex: checked.secretIndex } : decoded
}

/** The event that a body holds whose signature was found right, or why it is no message. */
export function decodeMessage(
  body: string | Uint8Array,
): { ok: true; event: WebhookEvent } | { ok: false; reason: 'invalid_utf8' | 'invalid_json' | 'missing_id' } {
  const text = toText(body)
  if (text === undefined) return { ok: false, reason: 'invalid_utf8' }
  let payload: unknown
  try {
    payload = parseJson(text)
  } catch {
    return { ok: false, reason: 'invalid_json' }
  }
  return hasId(payload) ? { ok: true, event: toEvent(payload) } : { ok: false, reason: 'missing_id' }
}

/** The text of a body without its byte order mark, or `undefined` when it is not text. */
function toText(body: string | Uint8Array): string | undefined {
  if (typeof body === 'string') {
    // A lone surrogate was hashed as U+FFFD, so the text before us is not the text that was signed.
    if (!isWellFormed(body)) return undefined
    return body.charCodeAt(0) === 0xfeff ? body.slice(1) : body
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

const hasId = (payload: unknown): payload is Record<string, unknown> & { id: string } =>
  isRecord(payload) && typeof payload.id === 'string' && payload.id !== ''
