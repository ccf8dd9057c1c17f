/** Matches numeric strings. */
export const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** Any string. Editors complete the known values. */
export type OpenString<Known extends string> = Known | (string & Record<never, never>)

/**
 * Parses untrusted JSON without its `__proto__` keys, which could replace the prototype of an object.
 *
 * @param maxDepth - the maximum number of nested objects and arrays
 * @throws SyntaxError when the text is not JSON, or nested too deeply
 */
export function parseJson(text: string, maxDepth = Infinity): unknown {
  const value: unknown = JSON.parse(text)
  // Each level takes at least two characters.
  if (text.length > 2 * maxDepth && isDeeperThan(maxDepth, value)) {
    throw new SyntaxError(`more than ${maxDepth} levels deep`)
  }
  // A reviver makes parsing several times slower: use it only if the text may contain the key.
  const mayHaveProto = text.includes('__proto__') || text.includes(ESCAPE)
  return mayHaveProto ? JSON.parse(text, withoutProto) : value
}

/** Parses untrusted JSON. Returns `fallback` if the text is not JSON, or nested too deeply. */
export function tryParseJson(text: string, fallback?: unknown, maxDepth?: number): unknown {
  try {
    return parseJson(text, maxDepth)
  } catch {
    return fallback
  }
}

/** Whether a JSON value has more than `levels` nested objects and arrays. */
export const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((field) => isDeeperThan(levels - 1, field)))

/** The start of an escaped character of `__proto__`, such as `\u005f` for the underscore. */
const ESCAPE = '\\u00'

const withoutProto = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value)

/** Copies a JSON value. */
export const copyJson = <Value>(value: Value): Value => parseJson(JSON.stringify(value)) as Value

const LONE_SURROGATE = /\p{Surrogate}/u

/** Whether a text has no lone surrogate. UTF-8 encoding would silently replace it by U+FFFD. */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text)

/**
 * Characters that a terminal may not show as text: control characters, line separators, lone surrogates, and format
 * characters, which reverse or hide text. The two joiners are allowed, because emoji and some scripts need them.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu

/** Returns untrusted text in one line, with control and format characters escaped: `\u001b`. */
export const toVisible = (text: string): string => text.replace(UNSAFE, escapeCharacter)

/** Returns JSON in one line, with control and format characters escaped. The value stays the same. */
export const toJsonLine = (value: unknown): string => toVisible(JSON.stringify(value))

/** Returns indented JSON, escaped as by {@link toJsonLine}. */
export const toJsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split('\n').map(toVisible).join('\n')

/** Returns one escape for each UTF-16 unit, which is also valid inside a JSON string. */
function escapeCharacter(character: string): string {
  let escapes = ''
  for (let index = 0; index < character.length; index++) {
    escapes += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }
  return escapes
}

/** Quotes a word for a POSIX shell, unless it needs no quotes. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
