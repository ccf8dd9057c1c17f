import type { WebhookErrorCode } from '../../errors/campaign-error.ts'
import { WebhookError } from '../../errors/webhook-errors.ts'
import { isWellFormed, parseJson } from '../../shared/text.ts'
import { isRecord } from '../../shared/type-checks.ts'
import type { RawBody, WebhookSecret } from '../verify/signature.ts'
import { checkSignature, type SignatureHeader } from '../verify/signature.ts'
import { toEvent, type WebhookEvent } from './webhook-event.ts'

/** The result of {@link safeParseWebhook}. */
export type WebhookResult =
  | {
      /** The signature is valid, and the message has an `id`. */
      ok: true
      /** The message. */
      event: WebhookEvent
      /** The index of the secret that signed the message. While you replace a secret, it shows which secret is in use. */
      secretIndex: number
    }
  | { ok: false; reason: WebhookErrorCode }

/** The maximum nesting depth of a message. In a deeper message, recursive functions could overflow the stack. */
const MAX_JSON_DEPTH = 1000

/**
 * Verifies a message, then parses it and returns it as a typed event.
 *
 * A signed message is refused only when it is not UTF-8, not JSON (of at most 1 000 levels) or has no `id`. `event.issues`
 * lists the documented fields that are missing or of another type. A message without a required field has the kind
 * `unknown`. Undocumented fields are kept. `__proto__` is removed, because copying it would replace a prototype. A byte order
 * mark is part of the signed bytes and is not parsed.
 *
 * See "Signature" and "Message" in docs/the-service.md.
 *
 * @param secret - as for `verifyWebhook`
 * @param rawBody - as for `verifyWebhook`
 * @param header - as for `verifyWebhook`
 * @throws WebhookError when the message must not be handled; respond with its `status`
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
 * Verifies a message like `parseWebhook`, and returns a refusal instead of throwing it.
 *
 * See "Signature" and "Message" in docs/the-service.md.
 *
 * @param secret - as for `verifyWebhook`
 * @param rawBody - as for `verifyWebhook`
 * @param header - as for `verifyWebhook`
 * @throws TypeError when the secret is unusable
 *
 * @example
 * ```ts
 * const result = safeParseWebhook(secret, rawBody, request.headers.get('x-service-signature'))
 * if (!result.ok) return new Response(null, { status: 401 })
 * await handle(result.event)
 * ```
 */
export function safeParseWebhook(secret: WebhookSecret, rawBody: RawBody, header: SignatureHeader): WebhookResult {
  const checked = checkSignature(secret, rawBody, header)
  if (!checked.ok) return checked
  const decoded = decodeMessage(checked.body)
  return decoded.ok ? { ...decoded, secretIndex: checked.secretIndex } : decoded
}

/** Decodes a verified body. */
export function decodeMessage(
  body: string | Uint8Array,
): { ok: true; event: WebhookEvent } | { ok: false; reason: 'invalid_utf8' | 'invalid_json' | 'missing_id' } {
  const text = toText(body)
  if (text === undefined) return { ok: false, reason: 'invalid_utf8' }
  let payload: unknown
  try {
    payload = parseJson(text, MAX_JSON_DEPTH)
  } catch {
    return { ok: false, reason: 'invalid_json' }
  }
  return hasId(payload) ? { ok: true, event: toEvent(payload) } : { ok: false, reason: 'missing_id' }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Returns the text of a body without its byte order mark, or `undefined` when it is not valid Unicode. */
function toText(body: string | Uint8Array): string | undefined {
  if (typeof body === 'string') {
    // A lone surrogate was hashed as U+FFFD, so the signature belongs to another text.
    if (!isWellFormed(body)) return undefined
    return body.charCodeAt(0) === 0xfeff ? body.slice(1) : body
  }
  try {
    return UTF8.decode(body)
  } catch {
    return undefined
  }
}

const hasId = (payload: unknown): payload is Record<string, unknown> & { id: string } =>
  isRecord(payload) && typeof payload.id === 'string' && payload.id !== ''
