import { equalDigests, hmacSha256Hex } from '#hmac'
import { warnOfParsedBody } from './parsed-body-warning.ts'
import { type RawBody, toRawBody } from './raw-body.ts'
import { toKeys, type WebhookSecret } from './secret.ts'

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
 * Interface: Events, Signature.
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
  const found = findSecret(secret, rawBody, header)
  if (found === 'body_not_raw' && rawBody && typeof rawBody === 'object') warnOfParsedBody()
  return typeof found === 'number'
}

/**
 * The signature the service would send for this body, for tests and for sending messages of one's own.
 *
 * Interface: Events, Signature.
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

/** The index of the first secret that signed the body, or why there is none. Throws for an unusable secret only. */
export function findSecret(secret: unknown, rawBody: unknown, header: unknown): number | SignatureFailure {
  const keys = toKeys(secret)
  const body = toRawBody(rawBody)
  if (body === undefined) return 'body_not_raw'
  let signature = header
  try {
    if (Array.isArray(header) && header.length < 2) signature = header[0]
  } catch {
    // A proxy with a mind of its own, which is no text either way.
  }
  if (signature === undefined || signature === null || signature === '') return 'missing_signature'
  if (typeof signature !== 'string' || signature.length !== 64 || /[^0-9a-f]/.test(signature)) {
    return 'malformed_signature'
  }

  // Not `findIndex`: however many there are, each is tried.
  const index = keys.map((key) => equalDigests(hmacSha256Hex(key, body), signature)).indexOf(true)
  return index < 0 ? 'signature_mismatch' : index
}
