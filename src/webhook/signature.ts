import { constantTimeEqual, hmacSha256Hex } from '#crypto'
import { isUint8Array } from '../shared/type-checks.ts'
import { warnOnce } from '../shared/warn-once.ts'

/** One secret: its text as registered with the service, or its bytes. Never empty, and never only zero bytes. */
export type WebhookKey = string | Uint8Array

/**
 * The secret that an endpoint is registered with. A string is used as its UTF-8 bytes.
 *
 * While you replace a secret, pass a list of one to five secrets. A message that is signed with any secret of the list is
 * accepted.
 */
export type WebhookSecret = WebhookKey | readonly WebhookKey[]

/** A body as it arrived: its bytes, or the text that its UTF-8 bytes encode. A `Buffer` is a `Uint8Array`. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** The value of the `x-service-signature` header, in the form that your framework gives it. */
export type SignatureHeader = string | readonly string[] | null | undefined

/** Why a signature is refused. */
export type SignatureFailure = 'missing_signature' | 'malformed_signature' | 'signature_mismatch' | 'body_not_raw'

/**
 * Returns whether a message comes from the service: whether its signature is the HMAC-SHA256 of its body.
 *
 * Synchronous on every runtime, because a forgotten `await` would accept every forgery. Digests are compared in constant
 * time, and every secret of a list is tried. A malformed body or header returns `false` and never throws.
 *
 * The signature contains no time, so a captured message stays valid: remember the ids of handled messages.
 *
 * See "Signature" in docs/the-service.md.
 *
 * @param secret - the secret of the webhook, or a list of one to five secrets while you replace it
 * @param rawBody - the body exactly as it arrived. A parsed body returns `false`, and warns once per process.
 * @param header - the value of `x-service-signature`. Several values, upper case, a prefix or white space return `false`.
 * @throws TypeError when the secret is unusable: empty, only zero bytes, neither a string nor a Uint8Array, or a list that is
 * empty or has more than five secrets
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
 * Returns the signature that the service would send with a body. For tests, and for messages that you send yourself.
 *
 * See "Signature" in docs/the-service.md.
 *
 * @param secret - one secret. A list of several secrets is refused.
 * @param rawBody - the bytes to sign; a string is signed as its UTF-8 bytes
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
    throw new TypeError('rawBody must be a string, Uint8Array or ArrayBuffer: sign exactly the text that you send.')
  }
  return hmacSha256Hex(keys[0] as WebhookKey, body)
}

/** A verified body with the index of the first key that signed it, or the reason to refuse it. */
export type CheckedSignature =
  | { ok: true; body: string | Uint8Array; secretIndex: number }
  | { ok: false; reason: SignatureFailure }

/** Checks the secret, the body, the header and the digest, in this order. Throws only for an unusable secret. */
export function checkSignature(secret: unknown, rawBody: unknown, header: unknown): CheckedSignature {
  const keys = toKeys(secret)
  const body = toRawBody(rawBody)
  if (body === undefined) return { ok: false, reason: 'body_not_raw' }
  const signature = readSignature(header)
  if (!signature.ok) return signature
  const secretIndex = findSigner(keys, body, signature.digits)
  return secretIndex < 0 ? { ok: false, reason: 'signature_mismatch' } : { ok: true, body, secretIndex }
}

/** Returns the digits of a well-formed header: one value of 64 lowercase hexadecimal digits. */
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
  // Tries every key. `findIndex` stops at the first match, and its duration would reveal which key matched.
  return keys.map((key) => constantTimeEqual(hmacSha256Hex(key, body), digits)).indexOf(true)
}

/** Every body is hashed once per key, so the limit bounds the cost of a forged message. */
const MAX_KEYS = 5

/**
 * Returns a secret as a list of keys, in the given order.
 *
 * @throws TypeError when the secret is unusable. The error does not contain it.
 */
export function toKeys(secret: unknown): readonly WebhookKey[] {
  const issue = secretIssue(secret)
  if (issue !== undefined) throw new TypeError(`secret ${issue}`)
  return listOf(secret) as WebhookKey[]
}

/** Returns the issue of a secret, without its value; `undefined` if the secret is usable. */
export function secretIssue(secret: unknown): string | undefined {
  const keys = listOf(secret)
  if (keys.length < 1 || keys.length > MAX_KEYS) return unusable(`a list of ${keys.length}`)
  for (const key of keys) {
    if (typeof key !== 'string' && !isUint8Array(key)) return unusable(key === null ? 'null' : typeof key)
    if (key.length === 0) return unusable('an empty value')
    if (isZero(key)) return unusable('only zero bytes')
  }
  return undefined
}

/** HMAC gives zero bytes the same signature as an empty key. Such bytes were wiped. */
const isZero = (key: string | Uint8Array): boolean =>
  typeof key === 'string' ? /^\0+$/.test(key) : key.every((byte) => byte === 0)

const listOf = (secret: unknown): readonly unknown[] => (Array.isArray(secret) ? secret : [secret])

const unusable = (got: string): string =>
  `must be a non-empty string or Uint8Array, or a list of 1 to ${MAX_KEYS}; got ${got}. Is it set?`

/** Returns the text or the bytes of a body, or `undefined` when the value is neither. Never throws. */
export function toRawBody(body: unknown): string | Uint8Array | undefined {
  if (typeof body === 'string' || isUint8Array(body)) return body
  try {
    // This getter throws for everything except an ArrayBuffer. It accepts an ArrayBuffer of any realm.
    Reflect.get(ArrayBuffer.prototype, 'byteLength', body)
    return new Uint8Array(body as ArrayBuffer)
  } catch {
    return undefined
  }
}
