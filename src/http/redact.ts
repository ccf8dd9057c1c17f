import { property } from './property.ts'
import { unwrap } from './unwrap.ts'

const HIDDEN = '[redacted]'
/**
 * Three base64url parts, the first of which begins like a JSON object: what every JWT looks like. Matched from the
 * start of a word to its first `eyJ` and on: from every `eyJ`, a long text of them would take hours.
 */
const JWT = /(?<![\w-])((?:(?!eyJ)[\w-])*)eyJ[\w-]*\.[\w-]*\.[\w-]*/g
/** What follows the word in a header. Words about it ("missing bearer token") are shorter, and hold no digit. */
const BEARER = /(?<![a-z])(bearer(?:\s|%20|\+)+)(?=[^\s"',;]{20}|[^\s"',;]*\d)[^\s"',;]{8,}/gi
const DEEPEST_CAUSE = 5
/** Replacing shorter ones would only garble the text, and show where they stood. */
const SHORTEST_SECRET = 4

/** The text without the given secrets, however JSON or a URL spells them, and without what looks like a token. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) clean = hideWrapped(clean.replaceAll(secret, HIDDEN), secret)
  }
  return clean.replace(JWT, `$1${HIDDEN}`).replace(BEARER, `$1${HIDDEN}`)
}

/** What an encoded character takes at most, whoever encoded it: `%255Cu0041` is one. */
const LONGEST_CHARACTER = 16
const LONGEST_READ = 65_536
/** Of each text of a foreign error. */
const LONGEST_TOLD = 16_384

/** The beginning of a text from a stranger, without secrets. However long the text is, it is read in a moment. */
export function excerpt(text: string, secrets: readonly string[], length: number): string {
  const spelledLongest = LONGEST_CHARACTER * Math.max(0, ...secrets.map((secret) => secret.length))
  const read = text.slice(0, LONGEST_READ + spelledLongest)
  const clean = redact(read, secrets)
  // Where it was cut, the first half of a secret may stand at its end, and shows when all before it shrank.
  const isCut = read.length < text.length
  // Stryker disable next-line EqualityOperator: what begins where the excerpt ends is not shown either way
  const showsEnd = clean.length < length + spelledLongest
  return isCut && showsEnd ? HIDDEN : cut(clean, length)
}

/** The beginning of a text, without half a surrogate pair at its end. */
export const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/** Hides a secret under any layers of JSON's and URLs' encodings: both are compared without them. */
function hideWrapped(text: string, secret: string): string {
  // Stryker disable next-line ConditionalExpression,Regex: it only saves time
  if (!/[\\%+]/.test(text)) return text
  const { bytes: wanted } = unwrap(secret)
  if (wanted.length < SHORTEST_SECRET) return text
  const { bytes, start, end } = unwrap(text)
  let clean = ''
  let shown = 0
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + wanted.length)) {
    clean += text.slice(shown, start(at)) + HIDDEN
    shown = end(at + wanted.length - 1)
  }
  return clean + text.slice(shown)
}

/**
 * An error that tells what a foreign error told, and holds nothing else of it. Errors of HTTP stacks carry the
 * request, and with it the token, in fields that loggers print.
 */
export function safeCause(error: unknown, secrets: readonly string[], depth = 0): Error | undefined {
  if (error === undefined || error === null || depth > DEEPEST_CAUSE) return undefined
  const told = (text: string): string => excerpt(text, secrets, LONGEST_TOLD)
  // A function is looked at as an object is: its `toString` may throw, and shows its source.
  if (typeof error !== 'object' && typeof error !== 'function') return new Error(told(String(error)))
  const cause = safeCause(property(error, 'cause'), secrets, depth + 1)
  const message = property(error, 'message')
  const safe = new Error(typeof message === 'string' ? told(message) : '', cause && { cause })
  const name = property(error, 'name')
  if (typeof name === 'string') hide(safe, 'name', told(name))
  const code = property(error, 'code')
  if (typeof code === 'string') Object.assign(safe, { code: told(code) })
  // Our own stack would only show this file; where the failure began is worth more.
  const stack = property(error, 'stack')
  if (typeof stack === 'string') hide(safe, 'stack', told(stack))
  return safe
}

function hide(error: Error, name: 'name' | 'stack', value: string): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true, enumerable: false })
}
