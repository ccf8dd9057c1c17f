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
} from './signature.ts'

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
 * | `stripped_bom`, `added_bom` | body: a byte order mark (U+FEFF) at its start was removed or added |
 * | `secret_whitespace` | secret: it starts or ends with white space |
 * | `quoted_secret` | secret: it is inside quotation marks |
 * | `secret_comment` | secret: a comment follows it, as in `secret # production` |
 * | `secret_assignment` | secret: the name of its variable precedes it, as in `NAME=secret` |
 * | `invisible_characters` | secret: it contains invisible characters such as U+200B |
 * | `base64_secret` | secret: it is base64 of the secret |
 * | `decoded_secret` | secret: it was decoded from base64 or hexadecimal digits |
 * | `sender_secret_newline` | secret: the sender's secret ends with a line break |
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

/** A body that may have been signed, and the codes that explain why the received body differs from it. */
interface BodyVariant {
  codes: FindingCode[]
  body: string | Uint8Array
}

/** A secret that the sender may have used, and the codes that explain why the given secret differs from it. */
interface SecretVariant {
  codes: FindingCode[]
  key: WebhookKey
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
      const allCodes = [...variant.codes, ...codes]
      if (fewest !== undefined && allCodes.length >= fewest.length) continue
      if (hmacSha256Hex(key, variant.body) === digits) fewest = allCodes
    }
  }
  return fewest
}

/** The byte order mark. Editors on Windows write it at the start of a file, and decoders of UTF-8 remove it. */
const BOM = '\ufeff'

/** Yields the bodies that may have been signed, first the body itself. */
function* bodyVariants(body: string | Uint8Array): Generator<BodyVariant> {
  yield { codes: [], body }
  const text = toText(body)
  if (text === undefined) return
  yield* textVariants(text)
  if (!text.startsWith(BOM)) {
    yield { codes: ['stripped_bom'], body: BOM + text }
    return
  }
  const withoutBom = text.slice(BOM.length)
  yield { codes: ['added_bom'], body: withoutBom }
  for (const variant of textVariants(withoutBom)) yield { ...variant, codes: ['added_bom', ...variant.codes] }
}

/** Yields the bodies that may have been signed instead of a text with the same byte order mark. */
function* textVariants(text: string): Generator<BodyVariant> {
  yield { codes: ['stripped_newline'], body: `${text}\n` }
  yield { codes: ['stripped_newline'], body: `${text}\r\n` }
  yield { codes: ['added_newline'], body: text.trimEnd() }
  const latin1 = fromLatin1(text)
  if (latin1) yield { codes: ['wrong_charset'], body: latin1 }
  const decoded = fromBase64(text.trimEnd())
  if (decoded) yield { codes: ['base64_body'], body: decoded }
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
    for (const writeEscapes of ESCAPES) yield { codes: [code], body: writeEscapes(text) }
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

/** What configuration files, shells and editors add to a secret. Each function removes one addition. */
const CLEANUPS: readonly [FindingCode, (secret: string) => string][] = [
  ['secret_whitespace', (secret) => secret.trim()],
  ['secret_assignment', (secret) => secret.replace(/^\s*(?:export\s+)?[a-z_]\w*\s*[=:]\s*/i, '')],
  ['secret_comment', (secret) => secret.replace(/(?<!\s)\s+#.*$/s, '')],
  ['quoted_secret', (secret) => secret.replace(/^(["'`])(.+)\1$/s, '$2')],
  ['invisible_characters', (secret) => secret.replace(/\p{Cf}/gu, '')],
  ['base64_secret', (secret) => toText(fromBase64(secret)) ?? secret],
]

/** Returns the secrets that the sender may have used, first the secret as given. */
function secretVariants(key: WebhookKey, baseCodes: FindingCode[]): SecretVariant[] {
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : key
  const variants: SecretVariant[] = [
    { codes: [], key },
    { codes: ['sender_secret_newline'], key: withEnd(bytes, '\n') },
    { codes: ['sender_secret_newline'], key: withEnd(bytes, '\r\n') },
    { codes: ['decoded_secret'], key: toHex(bytes) },
    { codes: ['decoded_secret'], key: toBase64(bytes) },
    ...cleanSecrets(toText(key) ?? ''),
  ]
  return variants.map((variant) => ({ ...variant, codes: [...variant.codes, ...baseCodes] }))
}

/** Enough for each combination of additions. A secret of nested quotes would have as many variants as quotes. */
const MAX_CLEAN_SECRETS = 100

/** Returns the secret without each combination of additions, first those with the fewest codes. */
function cleanSecrets(secret: string): SecretVariant[] {
  const codesOf = new Map<string, FindingCode[]>([[secret, []]])
  // Visits the elements that the loop adds, too.
  for (const [text, codes] of codesOf) {
    for (const [code, clean] of CLEANUPS) {
      const cleaned = clean(text)
      if (codesOf.size > MAX_CLEAN_SECRETS) break
      if (cleaned !== '' && !codesOf.has(cleaned)) codesOf.set(cleaned, [...new Set([...codes, code])])
    }
  }
  codesOf.delete(secret)
  return [...codesOf].map(([key, codes]) => ({ codes, key }))
}

function withEnd(bytes: Uint8Array, end: string): Uint8Array {
  const longer = new Uint8Array(bytes.length + end.length)
  longer.set(bytes)
  longer.set(new TextEncoder().encode(end), bytes.length)
  return longer
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

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))

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
    'express.raw({ type: () => true }) on this route; fetch handlers: await request.arrayBuffer()).',
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
  stripped_bom:
    'The byte order mark at the start of the body was removed, as decoders of UTF-8 do. The signature covers it: pass the ' +
    'bytes as they arrived (fetch handlers: await request.arrayBuffer() instead of text()).',
  added_bom:
    'The body starts with a byte order mark (U+FEFF) that was not signed. Editors write it: pass the bytes as they arrived, ' +
    'or save the file as UTF-8 without BOM.',
  secret_whitespace:
    'The secret starts or ends with white space, such as the line break at the end of a file. Remove it where the ' +
    'secret is stored, or trim the secret after reading it.',
  quoted_secret: 'The secret is inside quotation marks. Remove them where it is stored.',
  secret_comment:
    'A comment follows the secret, as in "secret # production". Many programs that read env files keep it as part of the ' +
    'value: remove it, or move it to a line of its own.',
  secret_assignment:
    'The secret starts with the name of its variable, as in "NAME=secret". Remove everything up to the equals sign.',
  invisible_characters:
    'The secret contains an invisible character, such as a zero-width space (U+200B). Documents and chats add it: remove ' +
    'it, or copy the secret from the admin panel again and check its length.',
  base64_secret:
    'The secret is base64 of the secret, as in the "data" of a Kubernetes Secret. Decode it where it is stored, or use ' +
    '"stringData".',
  decoded_secret:
    'The secret was decoded from base64 or hexadecimal digits. The service uses the text itself as the key: pass the text.',
  sender_secret_newline:
    "The sender's secret ends with a line break, as the content of a file does. Remove it where the sender reads the " +
    'secret, or register the webhook again without it.',
  other_secret_matches:
    'The message is not signed with the first secret of the list, but with a later one. Pass the whole list wherever ' +
    'you verify.',
  unexplained:
    'No known cause. Either the message is signed with another secret (each webhook has its own; was it replaced?), or ' +
    'the body was changed: check for middleware and proxies that parse, decompress or rewrite it.',
}

export const finding = (code: FindingCode): Finding => ({ code, message: MESSAGES[code] })
