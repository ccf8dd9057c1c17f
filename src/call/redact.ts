import type { ClientSettings } from '../settings.ts'
import { isLoopback } from '../shared/http.ts'
import { toVisible } from '../shared/text.ts'
import { warnOnce } from '../shared/warn-once.ts'

const REDACTED = '[redacted]'
/** Longer texts are cut before the search for secrets. */
const MAX_TEXT_LENGTH = 65_536
/** Maximum length of each text of a foreign error. */
const MAX_CAUSE_LENGTH = 16_384
const MAX_CAUSE_DEPTH = 5
/** The maximum number of errors of an `AggregateError`, such as one for each address of a host. */
const MAX_ERRORS = 8

/**
 * A JWT: three base64url parts. The first begins with `eyJ`, an encoded `{"`. A match starts at the beginning of a word,
 * so that a long text of repeated `eyJ` takes linear time. The group is the part of the word before `eyJ`.
 */
const JWT = /(?<![\w-])((?:(?!eyJ)[\w-])*)eyJ[\w-]*\.[\w-]*\.[\w-]*/g
/** A token after "Bearer". It must have 20 characters or a digit, so that "missing bearer token" does not match. */
const BEARER = /(?<![a-z])(bearer(?:\s|%20|\+)+)(?=[^\s"',;]{20}|[^\s"',;]*\d)[^\s"',;]{8,}/gi
/** The credentials of a proxy in a header. */
const BASIC = /(?<=authorization\W{1,4})(basic\s+)[\w+/=-]+/gi
/** User name and password in a URL, for example of a proxy. */
const URL_CREDENTIALS = /(?<=:\/\/)[^\s/?#"'@:]*:[^\s/?#"']*(?=@)/g

/** Shorter secrets are not redacted, because they may match ordinary text by chance. */
const MIN_SECRET_LENGTH = 8

/** A long secret is split, because a response may contain only a part of it. A rest of fewer than 8 characters is ignored. */
const PART_OF_SECRET = new RegExp(`[^]{${MIN_SECRET_LENGTH},512}`, 'g')
/** A character is at most this long when encoded, for example as `\\u005c\\u005c` in JSON in JSON. */
const MAX_ENCODED_LENGTH = 14

/** The texts to redact. They are also found if they are encoded for JSON (once or twice), a URL or a form. */
export type Secrets = readonly string[]

/** Returns the parts of a secret. Returns none for a secret of fewer than 8 characters. */
export const partsOf = (secret: string): Secrets => [...new Set(secret.match(PART_OF_SECRET))]

/**
 * Warns once per process about a token or a secret that is too short to be redacted. Tests often have short secrets:
 * they use their own `fetch` or a loopback address, and get no warning.
 */
export function warnOfShortSecret(secret: string, { baseUrl, fetch }: Pick<ClientSettings, 'baseUrl' | 'fetch'>): void {
  if (secret.length >= MIN_SECRET_LENGTH || fetch !== undefined || isLoopback(new URL(baseUrl).hostname)) return
  warnOnce(
    'short-secret',
    `campaign-client: an access token or webhook secret has fewer than ${MIN_SECRET_LENGTH} characters. It is not ` +
      'redacted from error messages; use a longer one.',
  )
}

/** Returns the query of a URL, which has the arguments of a read. It is redacted: errors of other packages show the URL. */
export function queryOf(url: string): string[] {
  const start = url.indexOf('?') + 1
  return start === 0 ? [] : [url.slice(start)]
}

/** Replaces the secrets in a text, and all text that looks like a token or like a password in a URL. */
export function redact(text: string, secrets: Secrets): string {
  return withoutRanges(text, rangesOf(text, secrets))
    .replace(JWT, `$1${REDACTED}`)
    .replace(BEARER, `$1${REDACTED}`)
    .replace(BASIC, `$1${REDACTED}`)
    .replace(URL_CREDENTIALS, REDACTED)
}

type Range = readonly [start: number, end: number]

/** Returns where the secrets are in a text, in order. */
function rangesOf(text: string, secrets: Secrets): Range[] {
  if (secrets.length === 0) return []
  const ranges: Range[] = []
  const plain = secrets.map(withoutPlus)
  for (const { text: decoded, positions } of decodedTexts(text)) {
    const searched = withoutPlus(decoded)
    for (const secret of plain) {
      for (let at = searched.indexOf(secret); at >= 0; at = searched.indexOf(secret, at + 1)) {
        ranges.push([positions[at] as number, positions[at + secret.length] as number])
      }
    }
  }
  return ranges.sort(([a], [b]) => a - b)
}

/** A form has `+` for a space. */
const withoutPlus = (text: string): string => text.replaceAll('+', ' ')

/** Replaces ranges, which may overlap. */
function withoutRanges(text: string, ranges: readonly Range[]): string {
  let clean = ''
  let end = 0
  for (const [start, nextEnd] of ranges) {
    if (start >= end) clean += `${text.slice(end, start)}${REDACTED}`
    end = Math.max(end, nextEnd)
  }
  return clean + text.slice(end)
}

/** Returns the beginning of a text without secrets and with its control characters escaped. */
export const excerpt = (text: string, secrets: Secrets, length: number): string =>
  cut(toVisible(withoutSecrets(text, secrets)), length)

function withoutSecrets(text: string, secrets: Secrets): string {
  const clean = redact(text.slice(0, MAX_TEXT_LENGTH), secrets)
  if (text.length <= MAX_TEXT_LENGTH) return clean
  // The cut may have split a secret, so remove the last characters.
  const longest = Math.max(0, ...secrets.map(({ length }) => length * MAX_ENCODED_LENGTH))
  return clean.slice(0, Math.max(0, clean.length - longest))
}

/** Returns the beginning of a text. It does not end inside a surrogate pair. */
export const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/**
 * Copies name, message, code, stack, causes and the errors of an `AggregateError`, without secrets. Errors of HTTP libraries
 * have fields with the request and its token, which loggers print.
 */
export function safeCause(error: unknown, secrets: Secrets, depth = 0): Error | undefined {
  if (error === undefined || error === null || depth > MAX_CAUSE_DEPTH) return undefined
  const clean = (text: string): string => excerpt(text, secrets, MAX_CAUSE_LENGTH)
  if (typeof error !== 'object') return new Error(clean(String(error)))
  const { name, message, code, stack, cause, errors } = fieldsOf(error)
  const text = typeof message === 'string' ? message : ''
  const safe = new Error(clean(text))
  const safeInner = safeCause(cause, secrets, depth + 1)
  if (safeInner !== undefined) hide(safe, 'cause', safeInner)
  if (Array.isArray(errors)) {
    // At the maximum depth, the copies have no causes.
    const copies = errors.slice(0, MAX_ERRORS).flatMap((each) => safeCause(each, secrets, MAX_CAUSE_DEPTH) ?? [])
    hide(safe, 'errors', copies)
  }
  if (typeof name === 'string') hide(safe, 'name', clean(name))
  if (typeof code === 'string') Object.assign(safe, { code: clean(code) })
  if (typeof stack === 'string') hide(safe, 'stack', safeStack(stack, text, secrets))
  return safe
}

/** Reads the fields of a foreign error. Returns none if a getter throws. */
function fieldsOf(error: object): Record<string, unknown> {
  try {
    const { name, message, code, stack, cause, errors } = error as Record<string, unknown>
    return { name, message, code, stack, cause, errors }
  } catch {
    return {}
  }
}

/** Escapes control characters, except the line breaks between the frames of a stack. */
function safeStack(stack: string, message: string, secrets: Secrets): string {
  // The message is escaped first: its line breaks must not look like frames.
  const clean = withoutSecrets(message, secrets)
  const lines = withoutSecrets(stack, secrets)
    .replace(clean, () => toVisible(clean))
    .split('\n')
  return cut(lines.map(toVisible).join('\n'), MAX_CAUSE_LENGTH)
}

function hide(error: Error, name: 'name' | 'stack' | 'cause' | 'errors', value: unknown): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true, enumerable: false })
}

/** A text, or a decoded copy of it. */
export interface DecodedText {
  readonly text: string
  /** The position in the original text at which each UTF-16 unit of `text` begins, and the end of the original text. */
  readonly positions: readonly number[]
}

/** A backslash and what it escapes. JSON escapes no other letters and digits. */
const JSON_ESCAPE = /\\(?:u[\da-f]{4}|[bfnrt]|[^\w])/gi
/** The percent-encoded UTF-8 bytes of one character. */
const PERCENT_ENCODED =
  /%(?:[0-7][\da-f]|[cd][\da-f]%[89ab][\da-f]|e[\da-f](?:%[89ab][\da-f]){2}|f[0-4](?:%[89ab][\da-f]){3})/gi

/** Returns a text and its decoded copies: read as JSON, as JSON in JSON, and as percent-encoded. Takes linear time. */
export function decodedTexts(text: string): DecodedText[] {
  const plain = { text, positions: Array.from({ length: text.length + 1 }, (_, at) => at) }
  const once = fromJson(plain)
  const fromUrl = text.includes('%') ? [decode(plain, PERCENT_ENCODED, fromPercent)] : []
  return [plain, ...once, ...once.flatMap(fromJson), ...fromUrl]
}

const fromJson = (source: DecodedText): DecodedText[] =>
  source.text.includes('\\') ? [decode(source, JSON_ESCAPE, unescaped)] : []

const unescaped = (escaped: string): string =>
  /\w/.test(escaped) ? String(JSON.parse(`"${escaped.toLowerCase()}"`)) : escaped.slice(1)

function fromPercent(bytes: string): string {
  try {
    return decodeURIComponent(bytes)
  } catch {
    return bytes
  }
}

function decode(source: DecodedText, encoded: RegExp, decoded: (match: string) => string): DecodedText {
  const positions: number[] = []
  let text = ''
  let end = 0
  const append = (piece: string, start: number, step: 0 | 1): void => {
    for (let at = 0; at < piece.length; at++) positions.push(source.positions[start + at * step] as number)
    text += piece
  }
  for (const match of source.text.matchAll(encoded)) {
    append(source.text.slice(end, match.index), end, 1)
    append(decoded(match[0]), match.index, 0)
    end = match.index + match[0].length
  }
  append(source.text.slice(end), end, 1)
  positions.push(source.positions.at(-1) as number)
  return { text, positions }
}
