import { equalDigests, hmacSha256Hex } from '#hmac'
import { warnOnce } from '../../shared/warn-once.ts'
import { type RawBody, toRawBody } from './raw-body.ts'
import { toKeys, type WebhookKey, type WebhookSecret } from './secret.ts'

/** The value of the `x-service-signature` header, as any framework gives it. */
export type SignatureHeader = string | readonly string[] | null | undefined

/** Why a signature is refused. */
export type SignatureFailure = 'missing_signature' | 'malformed_signature' | 'signature_mismatch' | 'body_not_raw'

/**
 * Returns whether a message comes from the service: whether its signature is the HMAC-SHA256 of its body.
 *
 * Synchronous on every runtime, because a forgotten `await` would make every forgery pass. Digests are compared in
 * constant time, and every secret of a list is tried, whichever matches. Input from a stranger never throws.
 * The signature covers no time, so a captured message stays valid: remember the ids you have handled.
 *
 * Interface: [Signature](/the-service#signature).
 *
 * @param secret - the secret the webhook is registered with, or a list of one to five while you replace it
 * @param rawBody - the body exactly as it arrived. A parsed body gives `false`, and the first one in a process also a
 * warning that says what to pass instead.
 * @param header - the value of `x-service-signature`. Several values, upper case, a prefix or white space give `false`.
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
  if (!checked.ok && checked.reason === 'body_not_raw' && rawBody && typeof rawBody === 'object') {
    warnOnce('parsed-body', PARSED_BODY)
  }
  return checked.ok
}

const PARSED_BODY =
  'verifyWebhook: pass the raw body (string, Uint8Array or ArrayBuffer), not a parsed one. In Express: express.raw()'

/**
 * Returns the signature that the service would send with a body. For tests, and to send messages yourself.
 *
 * Interface: [Signature](/the-service#signature).
 *
 * @param secret - one secret; a list of several is refused, because it does not say which one signs
 * @param rawBody - the bytes to sign; a string stands for its UTF-8 bytes
 * @returns 64 lowercase hexadecimal digits
 * @throws TypeError when the secret is unusable, or the body is not raw
 *
 * @example
 * ```ts
 * const body = JSON.stringify(message)
 * const headers = { 'x-service-signature': signWebhook(secret, body) }
 * await fetch(url, { method: 'POST', headers, body })
 * ```
 */
export function signWebhook(secret: WebhookSecret, rawBody: RawBody): string {
  const keys = toKeys(secret)
  if (keys.length > 1) throw new TypeError(`signWebhook signs with one secret; got a list of ${keys.length}.`)
  const body = toRawBody(rawBody)
  if (body === undefined) {
    throw new TypeError('rawBody must be a string, Uint8Array or ArrayBuffer: sign the very text that is sent.')
  }
  return hmacSha256Hex(keys[0] as WebhookKey, body)
}

/** A body whose signature is right, and the index of the first key that signed it; or why it is refused. */
export type CheckedSignature =
  | { ok: true; body: string | Uint8Array; secretIndex: number }
  | { ok: false; reason: SignatureFailure }

/** Checks the secret, the body, the header and the digest, in this order. Throws for an unusable secret only. */
export function checkSignature(secret: unknown, rawBody: unknown, header: unknown): CheckedSignature {
  const keys = toKeys(secret)
  const body = toRawBody(rawBody)
  if (body === undefined) return { ok: false, reason: 'body_not_raw' }
  const signature = readSignature(header)
  if (!signature.ok) return signature
  const secretIndex = findSigner(keys, body, signature.digits)
  return secretIndex < 0 ? { ok: false, reason: 'signature_mismatch' } : { ok: true, body, secretIndex }
}

/** Returns the digits of a header that can be a signature: one value of 64 lowercase hexadecimal digits. */
export function readSignature(
  header: unknown,
): { ok: true; digits: string } | { ok: false; reason: 'missing_signature' | 'malformed_signature' } {
  const value: unknown = Array.isArray(header) && header.length < 2 ? header[0] : header
  if (value === undefined || value === null || value === '') return { ok: false, reason: 'missing_signature' }
  if (typeof value !== 'string' || value.length !== 64 || /[^0-9a-f]/.test(value)) {
    return { ok: false, reason: 'malformed_signature' }
  }
  return { ok: true, digits: value }
}

/** Returns the index of the first key that signed the body, or -1. */
export function findSigner(keys: readonly WebhookKey[], body: string | Uint8Array, digits: string): number {
  // Not `findIndex`, which stops at the first match: the time must not tell which key matched.
  return keys.map((key) => equalDigests(hmacSha256Hex(key, body), digits)).indexOf(true)
}
