import { MIN_SECRET_LENGTH } from '../settings/secrets.ts'
import { toVisible } from '../shared/text/visible-text.ts'

const REDACTED = '[redacted]'
/** Longer texts from outside are cut before they are searched for secrets. */
const MAX_TEXT_LENGTH = 65_536
/** The limit for each text of a foreign error. */
const MAX_CAUSE_LENGTH = 16_384
const MAX_CAUSE_DEPTH = 5

/**
 * Any JWT: three base64url parts, of which the first begins with `eyJ`, an encoded `{"`. A match starts at the beginning
 * of a word, so that a long text of `eyJ` takes linear time.
 */
const JWT = /(?<![\w-])((?:(?!eyJ)[\w-])*)eyJ[\w-]*\.[\w-]*\.[\w-]*/g
/** A token after "Bearer". It has 20 characters or a digit, unlike prose such as "missing bearer token". */
const BEARER = /(?<![a-z])(bearer(?:\s|%20|\+)+)(?=[^\s"',;]{20}|[^\s"',;]*\d)[^\s"',;]{8,}/gi
/** The credentials of a proxy in a header. */
const BASIC = /(?<=authorization\W{1,4})(basic\s+)[\w+/=-]+/gi
/** User name and password in a URL, such as that of a proxy. */
const URL_CREDENTIALS = /(?<=:\/\/)[^\s/?#"'@:]*:[^\s/?#"']*(?=@)/g

/** A longer expression could be too large to compile. A rest of fewer characters than make a secret is left out. */
const PART_OF_SECRET = new RegExp(`[^]{${MIN_SECRET_LENGTH},512}`, 'g')

/**
 * Returns what matches a secret however JSON (also inside JSON), URLs and forms spell it: each writer escapes other
 * characters. Nothing for a short secret.
 */
export const spellingsOf = (secret: string): RegExp[] =>
  Array.from(
    secret.match(PART_OF_SECRET) ?? [],
    (part) => new RegExp(part.replace(/[^\w-]/gu, spellingsOfCharacter), 'g'),
  )

function spellingsOfCharacter(character: string): string {
  const escaped = JSON.stringify(character).slice(1, -1)
  const units = Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at), 4))
  const bytes = Array.from(new TextEncoder().encode(character), (byte) => `%${hex(byte, 2)}`)
  const spellings = [
    `\\\\{0,3}${literal(character)}`,
    units.map((unit) => `\\\\{1,2}u${unit}`).join(''),
    bytes.join(''),
  ]
  if (escaped.startsWith('\\')) spellings.push(`\\\\{1,2}${literal(escaped.slice(1))}`)
  if (character === ' ') spellings.push('\\+')
  return `(?:${spellings.join('|')})`
}

/** In letters of either case. */
const hex = (code: number, digits: number): string =>
  code
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/**
 * Replaces secrets in a text, and everything that looks like a token or like a password in a URL.
 *
 * @param secrets - as {@link spellingsOf} gives them
 */
export function redact(text: string, secrets: readonly RegExp[]): string {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, REDACTED)
  return clean
    .replace(JWT, `$1${REDACTED}`)
    .replace(BEARER, `$1${REDACTED}`)
    .replace(BASIC, `$1${REDACTED}`)
    .replace(URL_CREDENTIALS, REDACTED)
}

/** Returns the beginning of a text from outside, without secrets and with control characters spelled out. */
export const excerpt = (text: string, secrets: readonly RegExp[], length: number): string =>
  cut(toVisible(withoutSecrets(text, secrets)), length)

function withoutSecrets(text: string, secrets: readonly RegExp[]): string {
  const clean = redact(text.slice(0, MAX_TEXT_LENGTH), secrets)
  if (text.length <= MAX_TEXT_LENGTH) return clean
  // The end of the part that was searched may be the beginning of a secret. Its expression is longer than all it matches.
  const longest = Math.max(0, ...secrets.map(({ source }) => source.length))
  return clean.slice(0, Math.max(0, clean.length - longest))
}

/** Returns the beginning of a text, without half a surrogate pair at its end. */
export const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/**
 * Copies name, message, code, stack and causes of a foreign error, without secrets. Errors of HTTP stacks hold the
 * request, and with it the token, in fields that loggers print.
 */
export function safeCause(error: unknown, secrets: readonly RegExp[], depth = 0): Error | undefined {
  if (error === undefined || error === null || depth > MAX_CAUSE_DEPTH) return undefined
  const told = (text: string): string => excerpt(text, secrets, MAX_CAUSE_LENGTH)
  if (typeof error !== 'object') return new Error(told(String(error)))
  const { name, message, code, stack, cause } = error as Record<string, unknown>
  const text = typeof message === 'string' ? message : ''
  const safe = new Error(told(text))
  const deeper = safeCause(cause, secrets, depth + 1)
  if (deeper !== undefined) hide(safe, 'cause', deeper)
  if (typeof name === 'string') hide(safe, 'name', told(name))
  if (typeof code === 'string') Object.assign(safe, { code: told(code) })
  // The stack of the copy would only show this file.
  if (typeof stack === 'string') hide(safe, 'stack', safeStack(stack, text, secrets))
  return safe
}

/** Escapes the line breaks of the message inside a stack, and keeps those between its frames. */
function safeStack(stack: string, message: string, secrets: readonly RegExp[]): string {
  const told = withoutSecrets(message, secrets)
  const lines = withoutSecrets(stack, secrets)
    .replace(told, () => toVisible(told))
    .split('\n')
  return cut(lines.map(toVisible).join('\n'), MAX_CAUSE_LENGTH)
}

function hide(error: Error, name: 'name' | 'stack' | 'cause', value: unknown): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true, enumerable: false })
}
