import { hmacSha256Hex } from '#hmac'
import { type RawBody, toRawBody } from '../verify/raw-body.ts'
import { toKeys, type WebhookKey, type WebhookSecret } from '../verify/secret.ts'
import { checkSignature, readSignature, type SignatureHeader } from '../verify/signature.ts'
import { type Finding, type FindingCode, finding } from './finding.ts'
import { jsonTexts } from './json-texts.ts'

/**
 * Finds out why a message does not verify, and says what to do.
 *
 * For development only: it hashes the body many times, so keep strangers away from it. It never accepts a message; use
 * `verifyWebhook` for that. Findings hold no secret, no signature and nothing of the body: they are safe to print.
 *
 * Interface: [Signature](/the-service#signature).
 *
 * @param secret - as for `verifyWebhook`
 * @param rawBody - as for `verifyWebhook`; a parsed body is examined too
 * @param header - as for `verifyWebhook`
 * @returns the findings, in the order header, body, secret. Empty when the message verifies with the secret, or with
 * the first of a list. `unexplained` when none of the usual causes fits.
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

/** Diagnoses a header alone, where the body was not read. */
export const diagnoseHeader = (header: unknown): Finding[] => readHeader(header).codes.map(finding)

/** A variation of a body or a secret, and the fault that explains it. */
interface Variant<Value> {
  code?: FindingCode
  value: Value
}

/** Reads a signature in any form a person would recognise. Never used to accept a message. */
function readHeader(header: unknown): { codes: FindingCode[]; digits?: string } {
  const signature = readSignature(header)
  if (signature.ok) return { codes: [], digits: signature.digits }
  const value: unknown = Array.isArray(header) && header.length === 1 ? header[0] : header
  if (signature.reason === 'missing_signature' || typeof value !== 'string') return { codes: [signature.reason] }

  const codes: FindingCode[] = []
  // A prefix is followed by a digit; the `=` at the end of base64 is not.
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

/** Returns what is wrong with a body, whatever was signed. */
function codesOfBody(body: string | Uint8Array | undefined, given: unknown): FindingCode[] {
  if (given === undefined || given === null || body?.length === 0) return ['missing_body']
  return body === undefined || body === '[object Object]' ? ['parsed_body'] : []
}

/** Returns the smallest set of faults that explains the signature. */
function findCause(
  keys: readonly WebhookKey[],
  body: string | Uint8Array | undefined,
  given: unknown,
  digits: string,
): FindingCode[] | undefined {
  const secrets = keys.flatMap((key, index) => secretVariants(key, index === 0 ? [] : ['other_secret_matches']))
  let fewest: FindingCode[] | undefined
  for (const variant of body === undefined ? parsedVariants(given) : bodyVariants(body)) {
    for (const { codes, key } of secrets) {
      const faults = variant.code === undefined ? codes : [variant.code, ...codes]
      if (fewest !== undefined && faults.length >= fewest.length) continue
      if (hmacSha256Hex(key, variant.value) === digits) fewest = faults
    }
  }
  return fewest
}

/** Yields the bodies that may have been signed, starting with the body itself. */
function* bodyVariants(body: string | Uint8Array): Generator<Variant<string | Uint8Array>> {
  yield { value: body }
  const text = toText(body)
  if (text === undefined) return
  yield { code: 'stripped_newline', value: `${text}\n` }
  yield { code: 'stripped_newline', value: `${text}\r\n` }
  yield { code: 'added_newline', value: text.trimEnd() }
  const latin1 = fromLatin1(text)
  if (latin1) yield { code: 'wrong_charset', value: latin1 }
  const decoded = fromBase64(text.trimEnd())
  if (decoded) yield { code: 'base64_body', value: decoded }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return
  }
  for (const value of jsonTexts(parsed)) yield { code: 'reserialized_body', value }
}

/** Yields the texts that may have been parsed. */
function* parsedVariants(body: unknown): Generator<Variant<string>> {
  for (const value of jsonTexts(body)) yield { code: 'parsed_body', value }
}

/** Returns the secret, and its text without white space and quotation marks around it. */
function secretVariants(key: WebhookKey, others: FindingCode[]): { codes: FindingCode[]; key: WebhookKey }[] {
  const text = toText(key) ?? ''
  const trimmed = text.trim()
  const bare = trimmed.replace(/^(["'`])(.+)\1$/s, '$2')
  const codes: FindingCode[] = []
  if (trimmed !== text) codes.push('secret_whitespace')
  if (bare !== trimmed) codes.push('quoted_secret')
  const itself = { codes: others, key }
  return codes.length > 0 && bare !== '' ? [itself, { codes: [...codes, ...others], key: bare }] : [itself]
}

/** Returns the text whose UTF-8 the bytes are, or `undefined` when they are not UTF-8. */
function toText(data: string | Uint8Array | undefined): string | undefined {
  if (data === undefined || typeof data === 'string') return data
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    return undefined
  }
}

/** Returns one byte per character, or `undefined` when the text is not Latin-1. */
function fromLatin1(text: string): Uint8Array | undefined {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
  return [...text].every((character) => character <= '\u00ff') ? bytes : undefined
}

/** Returns the bytes of base64 or base64url text, padded or not, or `undefined` when it is neither. */
function fromBase64(text: string): Uint8Array | undefined {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return undefined
  try {
    return fromLatin1(atob(text.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return undefined
  }
}

const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
