import { hmacSha256Hex } from '#hmac'
import {
  checkSignature,
  type RawBody,
  readSignature,
  type SignatureHeader,
  toKeys,
  toRawBody,
  type WebhookKey,
  type WebhookSecret,
} from '../verify/signature.ts'
import { type Finding, type FindingCode, finding } from './finding.ts'
import { jsonSerializations } from './json-serializations.ts'

/**
 * Finds out why a message does not verify, and suggests a fix.
 *
 * For development only: it hashes the body many times, so do not expose it to unauthenticated requests. Use
 * `verifyWebhook` to accept messages. Findings contain no secret, no signature and no part of the body: they are safe to
 * print.
 *
 * See "Signature" in docs/the-service.md.
 *
 * @param secret - as for `verifyWebhook`
 * @param rawBody - as for `verifyWebhook`; a parsed body is diagnosed too
 * @param header - as for `verifyWebhook`
 * @returns the findings, in the order header, body, secret. Empty when the message is signed with the secret, or with the
 * first secret of a list. `unexplained` when no known cause fits.
 * @throws TypeError when the secret is unusable
 *
 * @example
 * ```ts
 * for (const { code, message } of diagnoseWebhook(secret, rawBody, header)) console.error(code, message)
 * ```
 */
export function diagnoseWebhook(secret: WebhookSecret, rawBody: RawBody, header: SignatureHeader): Finding[] {
  const checked = checkSignature(secret, rawBody, header)
  if (checked.ok) return checked.secretIndex === 0 ? [] : [finding('other_secret_matches')]

  const { codes: headerCodes, digits } = readHeader(header)
  const body = toRawBody(rawBody)
  const bodyCodes = codesOfBody(body, rawBody)
  const cause = digits === undefined ? undefined : findCause(toKeys(secret), body, rawBody, digits)
  const codes = new Set([...headerCodes, ...bodyCodes, ...(cause ?? [])])
  if (cause === undefined && digits !== undefined && bodyCodes.length === 0) {
    codes.add(toText(body)?.includes('\ufffd') ? 'wrong_charset' : 'unexplained')
  }
  return [...codes].map(finding)
}

/** Diagnoses a header without its body. */
export const diagnoseHeader = (header: unknown): Finding[] => readHeader(header).codes.map(finding)

/** A body that may have been signed, and the code that explains why the received body differs from it. */
interface BodyVariant {
  code?: FindingCode
  body: string | Uint8Array
}

/** Reads the signature, even in formats that the service does not send. Never used to accept a message. */
function readHeader(header: unknown): { codes: FindingCode[]; digits?: string } {
  const signature = readSignature(header)
  if (signature.ok) return { codes: [], digits: signature.digits }
  const value: unknown = Array.isArray(header) && header.length === 1 ? header[0] : header
  if (signature.reason === 'missing_signature' || typeof value !== 'string') return { codes: [signature.reason] }

  const codes: FindingCode[] = []
  // The lookahead excludes base64, which may end with `==`.
  const digits = value.replace(/^(?:0x|[a-z][\w-]{0,15}[=:]\s*)(?=[^=])/i, '')
  if (digits !== value) codes.push('prefixed_signature')
  if (/^[0-9a-f]{64}$/i.test(digits)) {
    if (/[A-F]/.test(digits)) codes.push('uppercase_signature')
    return { codes, digits: digits.toLowerCase() }
  }
  const bytes = fromBase64(digits)
  if (bytes?.length !== 32) return { codes: ['malformed_signature'] }
  return { codes: [...codes, 'base64_signature'], digits: toHex(bytes) }
}

/** Returns the codes that follow from the body alone. */
function codesOfBody(body: string | Uint8Array | undefined, given: unknown): FindingCode[] {
  if (given === undefined || given === null || body?.length === 0) return ['missing_body']
  return body === undefined || body === '[object Object]' ? ['parsed_body'] : []
}

/** Returns the fewest codes that together explain the signature, or `undefined`. */
function findCause(
  keys: readonly WebhookKey[],
  body: string | Uint8Array | undefined,
  given: unknown,
  digits: string,
): FindingCode[] | undefined {
  const secrets = keys.flatMap((key, index) => secretVariants(key, index === 0 ? [] : ['other_secret_matches']))
  let fewest: FindingCode[] | undefined
  for (const variant of body === undefined ? serializationsOf(given, 'parsed_body') : bodyVariants(body)) {
    for (const { codes, key } of secrets) {
      const allCodes = variant.code === undefined ? codes : [variant.code, ...codes]
      if (fewest !== undefined && allCodes.length >= fewest.length) continue
      if (hmacSha256Hex(key, variant.body) === digits) fewest = allCodes
    }
  }
  return fewest
}

/** Yields the bodies that may have been signed, first the body itself. */
function* bodyVariants(body: string | Uint8Array): Generator<BodyVariant> {
  yield { body }
  const text = toText(body)
  if (text === undefined) return
  yield { code: 'stripped_newline', body: `${text}\n` }
  yield { code: 'stripped_newline', body: `${text}\r\n` }
  yield { code: 'added_newline', body: text.trimEnd() }
  const latin1 = fromLatin1(text)
  if (latin1) yield { code: 'wrong_charset', body: latin1 }
  const decoded = fromBase64(text.trimEnd())
  if (decoded) yield { code: 'base64_body', body: decoded }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return
  }
  yield* serializationsOf(parsed, 'reserialized_body')
}

/** Yields the JSON texts that a value may have been parsed from. */
function* serializationsOf(value: unknown, code: FindingCode): Generator<BodyVariant> {
  for (const body of jsonSerializations(value)) yield { code, body }
}

/** Returns the secret as given, and without surrounding white space and quotation marks. */
function secretVariants(key: WebhookKey, baseCodes: FindingCode[]): { codes: FindingCode[]; key: WebhookKey }[] {
  const text = toText(key) ?? ''
  const trimmed = text.trim()
  const bare = trimmed.replace(/^(["'`])(.+)\1$/s, '$2')
  const codes: FindingCode[] = []
  if (trimmed !== text) codes.push('secret_whitespace')
  if (bare !== trimmed) codes.push('quoted_secret')
  const asGiven = { codes: baseCodes, key }
  return codes.length > 0 && bare !== '' ? [asGiven, { codes: [...codes, ...baseCodes], key: bare }] : [asGiven]
}

/** Decodes UTF-8. Returns `undefined` when the bytes are not UTF-8. */
function toText(data: string | Uint8Array | undefined): string | undefined {
  if (data === undefined || typeof data === 'string') return data
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    return undefined
  }
}

/** Returns one byte per character, or `undefined` when the text is not Latin-1. */
const fromLatin1 = (text: string): Uint8Array | undefined =>
  /[\u0100-\uffff]/.test(text) ? undefined : Uint8Array.from(text, (character) => character.charCodeAt(0))

/** Decodes base64 and base64url, padded or not. Returns `undefined` for any other text. */
function fromBase64(text: string): Uint8Array | undefined {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return undefined
  try {
    return fromLatin1(atob(text.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return undefined
  }
}

const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
