import { property } from './property.ts'

const HIDDEN = '[redacted]'
/**
 * Three base64url parts, the first of which begins like a JSON object: what every JWT looks like. Matched from the
 * start of a word to its first `eyJ` and on: from every `eyJ`, a long text of them would take hours.
 */
const JWT = /(?<![\w-])((?:(?!eyJ)[\w-])*)eyJ[\w-]*\.[\w-]*\.[\w-]*/g
const BEARER = /\bbearer\s+[^\s"',;]+/gi
const DEEPEST_CAUSE = 5
/** Replacing shorter ones would only garble the text, and show where they stood. */
const SHORTEST_SECRET = 4

/** The text without the given secrets and without anything that looks like a token. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) {
    if (secret.length < SHORTEST_SECRET) continue
    // A body that is quoted spells it as JSON does.
    clean = clean.replaceAll(secret, HIDDEN).replaceAll(JSON.stringify(secret).slice(1, -1), HIDDEN)
  }
  return clean.replace(JWT, `$1${HIDDEN}`).replace(BEARER, `Bearer ${HIDDEN}`)
}

/**
 * An error that tells what a foreign error told, and holds nothing else of it. Errors of HTTP stacks carry the
 * request, and with it the token, in fields that loggers print.
 */
export function safeCause(error: unknown, secrets: readonly string[], depth = 0): Error | undefined {
  if (error === undefined || error === null || depth > DEEPEST_CAUSE) return undefined
  // A function is looked at as an object is: its `toString` may throw, and shows its source.
  if (typeof error !== 'object' && typeof error !== 'function') return new Error(redact(String(error), secrets))
  const cause = safeCause(property(error, 'cause'), secrets, depth + 1)
  const message = property(error, 'message')
  const safe = new Error(typeof message === 'string' ? redact(message, secrets) : '', cause && { cause })
  const name = property(error, 'name')
  if (typeof name === 'string') hide(safe, 'name', redact(name, secrets))
  const code = property(error, 'code')
  if (typeof code === 'string') Object.assign(safe, { code: redact(code, secrets) })
  // Our own stack would only show this file; where the failure began is worth more.
  const stack = property(error, 'stack')
  if (typeof stack === 'string') hide(safe, 'stack', redact(stack, secrets))
  return safe
}

function hide(error: Error, name: 'name' | 'stack', value: string): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true, enumerable: false })
}
