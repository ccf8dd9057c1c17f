import { hmacSha256Hex } from '#crypto'
import {
  checkSignature,
  type RawBody,
  readSignature,
  type SignatureHeader,
  toKeys,
  toRawBody,
  type WebhookKey,
  type WebhookSecret,
} from './verify/signature.ts'

/**
 * The causes that `diagnoseWebhook` finds.
 *
 * | code | about |
 * |---|---|
 * | `missing_signature` | header: absent or empty |
 * | `prefixed_signature` | header: a prefix such as `sha256=` |
 * | `uppercase_signature` | header: upper-case digits |
 * | `base64_signature` | header: base64 instead of hexadecimal digits |
 * | `malformed_signature` | header: anything else that is not one value of 64 lowercase hexadecimal digits |
 * | `parsed_body` | body: an object, or an object that was converted to text |
 * | `missing_body` | body: `undefined`, `null` or empty |
 * | `reserialized_body` | body: JSON that was parsed and serialized again |
 * | `base64_body` | body: base64 that was not decoded, as from API gateways |
 * | `wrong_charset` | body: its bytes were not decoded as UTF-8 |
 * | `stripped_newline`, `added_newline` | body: a line break or white space at its end was removed or added |
 * | `secret_whitespace` | secret: it starts or ends with white space |
 * | `quoted_secret` | secret: it is inside quotation marks |
 * | `other_secret_matches` | secret: the message is signed with a later secret of the list |
 * | `unexplained` | no known cause |
 */
export type FindingCode = keyof typeof MESSAGES

/** One cause, and a suggested fix. */
export interface Finding {
  /** Identifies the cause. */
  code: FindingCode
  /** Contains no secret, no signature and no part of the body. */
  message: string
}

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
  for (const variant of body === undefined ? serializations(given, 'parsed_body') : bodyVariants(body)) {
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
  yield* serializations(parsed, 'reserialized_body')
}

/** Yields the texts that common JSON libraries write for a value. Yields nothing for a value that JSON cannot represent. */
function* serializations(value: unknown, code: FindingCode): Generator<BodyVariant> {
  for (const layout of LAYOUTS) {
    let text: string | undefined
    try {
      text = layout(value)
    } catch {
      // The value has a cycle, a bigint, or too many levels.
    }
    if (text === undefined) return
    for (const writeEscapes of ESCAPES) yield { code, body: writeEscapes(text) }
  }
}

const LAYOUTS: readonly ((value: unknown) => string | undefined)[] = [
  (value) => JSON.stringify(value),
  (value) => spaced(JSON.parse(JSON.stringify(value))),
  (value) => JSON.stringify(value, null, 2),
]

/** Python's layout: a space after each comma and colon. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, field]) => `${JSON.stringify(name)}: ${spaced(field)}`)
    .join(', ')}}`
}

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
const escapeNonAscii = (text: string): string => text.replace(/[\u0080-\uffff]/g, escapeUnit)
const escapeSlashes = (text: string): string => text.replaceAll('/', '\\/')
const escapeHtml = (text: string): string => text.replace(/[<>&\u2028\u2029]/g, escapeUnit)

const ESCAPES: readonly ((text: string) => string)[] = [
  (text) => text,
  // Python
  escapeNonAscii,
  // PHP
  (text) => escapeSlashes(escapeNonAscii(text)),
  // PHP with JSON_UNESCAPED_UNICODE
  escapeSlashes,
  // Go: json.Marshal
  escapeHtml,
  // Go: json.Encoder
  (text) => `${escapeHtml(text)}\n`,
]

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
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    return utf8.decode(data)
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

const MESSAGES = {
  missing_signature:
    'There is no signature. Pass the value of the x-service-signature header. Check that no proxy drops it, and that ' +
    'the webhook is registered with a secret: without a secret the service does not sign.',
  prefixed_signature:
    'The signature has a prefix (such as sha256=). The service sends none. Check for a proxy that adds it, and whether ' +
    'another service sent this message.',
  uppercase_signature:
    'The signature has upper-case digits. The service sends lowercase digits. Check for a proxy that changes the ' +
    'header. Sign your own messages with signWebhook().',
  base64_signature:
    'The signature is base64. The service sends lowercase hexadecimal digits. Check for a proxy that changes the ' +
    'header. Sign your own messages with signWebhook().',
  malformed_signature:
    'The header is not one value of 64 lowercase hexadecimal digits. Pass the x-service-signature header as it arrived, ' +
    'and check that nothing shortens it, quotes it or adds a second value.',
  parsed_body:
    'The body was parsed. The signature needs its raw bytes: read them before any JSON middleware (Express: ' +
    'express.raw({ type: "*/*" }) on this route; fetch handlers: await request.arrayBuffer()).',
  missing_body:
    'There is no body. It was not read yet, or something else has consumed it. Read it once, and pass the bytes.',
  reserialized_body:
    'The body was parsed and serialized again, so its bytes are not the signed bytes. Pass the bytes as they arrived ' +
    'instead of JSON.stringify(body).',
  base64_body: 'The body is base64. API gateways set isBase64Encoded. Decode it first: Buffer.from(body, "base64").',
  wrong_charset:
    'The body was not decoded as UTF-8: its bytes were read as Latin-1, or replaced by U+FFFD. Pass the bytes ' +
    'themselves, or decode all of them at once as UTF-8.',
  stripped_newline: 'The line break at the end of the body was removed. The signature covers it: do not trim the body.',
  added_newline:
    'The body ends with white space that was not signed. Do not add any: editors and echo add a line break to a file.',
  secret_whitespace:
    'The secret starts or ends with white space, such as the line break at the end of a file. Remove it where the ' +
    'secret is stored, or trim the secret after reading it.',
  quoted_secret: 'The secret is inside quotation marks. Remove them where it is stored.',
  other_secret_matches:
    'The message is not signed with the first secret of the list, but with a later one. Pass the whole list wherever ' +
    'you verify.',
  unexplained:
    'No known cause. Either the message is signed with another secret (each webhook has its own; was it replaced?), or ' +
    'the body was changed: check for middleware and proxies that parse, decompress or rewrite it.',
}

export const finding = (code: FindingCode): Finding => ({ code, message: MESSAGES[code] })
