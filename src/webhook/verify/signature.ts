import { equalDigests, hmacSha256Hex } from '#hmac'
import { warnOnce } from '../../shared/warn-once.ts'
import { type RawBody, toRawBody } from './raw-body.ts'
import { toKeys, type WebhookKey, type WebhookSecret } from './secret.ts'

/** The value of the `x-service-signature` header as any framework hands it over. */
export type SignatureHeader = string | readonly string[] | null | undefined

/** Why a body, its signature and a secret do not go together. */
export type SignatureFailure = 'missing_signature' | 'malformed_signature' | 'signature_mismatch' | 'body_not_raw'

/**
 * Whether the message comes from the service: its signature is the HMAC-SHA256 of the body, keyed with the secret.
 *
 * Synchronous on every runtime: the answer can be used in an `if` at once, and a forgotten `await` lets nothing in.
 * Digests are compared in constant time, and every secret of a list is tried whichever matches. A stranger's input
 * never throws. The signature covers no time: a captured message stays valid, so remember the ids already handled.
 *
 * Interface: [Signature](../../../docs/the-service.md#signature).
 *
 * @param secret - the secret the webhook is registered with, or a list of one to five while replacing it
 * @param rawBody - the body exactly as it arrived. A parsed body is `false`, and the first one in a process emits a
 * warning that says what to pass instead.
 * @param header - the value of `x-service-signature`. More than one value, another letter case, a prefix or white space
 * is `false`.
 * @throws TypeError when the secret is unusable: empty, neither string nor Uint8Array, or a list of none or more than
 * five
 *
 * @example
 * ```ts
 * const rawBody = await request.arrayBuffer()
 * if (!verifyWebhook(secret, rawBody, request.headers.get('x-service-signature'))) {
 *   return new Response(null, { status: 401 })
 * }
 * ```
 */
export function verifyWebhook(secret: WebhookSecret, rawBody: RawBody, header: SignatureHeader): boolean {
  const checked = checkSignature(secret, rawBody, header)
  if (checked.ok) return true
  if (checked.reason === 'body_not_raw' && rawBody && typeof rawBody === 'object') warnOnce('parsed-body', PARSED_BODY)
  return false
}

const PARSED_BODY =
  'verifyWebhook: pass the raw body (string, Uint8Array or ArrayBuffer), not a parsed one. In Express: express.raw()'

/**
 * The signature the service would send for this body, for tests and for sending messages of one's own.
 *
 * Interface: [Signature](../../../docs/the-service.md#signature).
 *
 * @param secret - one secret; a list is refused when it has more than one, as it would be unclear which one signs
 * @param rawBody - the bytes to sign; a string stands for its UTF-8 bytes
 * @returns 64 lowercase hexadecimal digits
 * @throws TypeError when the secret is unusable, or the body is not raw
 */
export function signWebhook(secret: WebhookSecret, rawBody: RawBody): string {
  const keys = toKeys(secret)
  if (keys.length > 1) throw new TypeError(`signWebhook signs with one secret; got a list of ${keys.length}.`)
  const body = toRawBody(rawBody)
  if (body === undefined) {
    throw new TypeError('rawBody must be a string, Uint8Array or ArrayBuffer: sign the very text that is sent.')
  }
  return hmacSha256Hex(keys[0] as string | Uint8Array, body)
}

/** A body whose signature is right, and the index of the first key that signed it; or why there is none. */
export type CheckedSignature =
  | { ok: true; body: string | Uint8Array; secretIndex: number }
  | { ok: false; reason: SignatureFailure }

/** The checks in their order: secret, body, header, digest. Throws for an unusable secret only. */
export function checkSignature(secret: unknown, rawBody: unknown, header: unknown): CheckedSignature {
  const keys = toKeys(secret)
  const body = toRawBody(rawBody)
  if (body === undefined) return { ok: false, reason: 'body_not_raw' }
  const signature = readSignature(header)
  if (!signature.ok) return signature
  const secretIndex = indexOfSigner(keys, body, signature.digits)
  return secretIndex < 0 ? { ok: false, reason: 'signature_mismatch' } : { ok: true, body, secretIndex }
}

/** The digits of a header that can be a signature. Never throws. */
export function readSignature(
  header: unknown,
): { ok: true; digits: string } | { ok: false; reason: 'missing_signature' | 'malformed_signature' } {
  let digits = header
  try {
    if (Array.isArray(header) && header.length < 2) digits = header[0]
  } catch {
    // A Proxy may throw; it is not a string.
  }
  if (digits === undefined || digits === null || digits === '') return { ok: false, reason: 'missing_signature' }
  if (typeof digits !== 'string' || digits.length !== 64 || /[^0-9a-f]/.test(digits)) {
    return { ok: false, reason: 'malformed_signature' }
  }
  return { ok: true, digits }
}

/** The index of the first key that gives these digits for the body, or -1. */
export function indexOfSigner(keys: readonly WebhookKey[], body: string | Uint8Array, digits: string): number {
  // Not `findIndex`: however many there are, each is tried.
  return keys.map((key) => equalDigests(hmacSha256Hex(key, body), digits)).indexOf(true)
}
