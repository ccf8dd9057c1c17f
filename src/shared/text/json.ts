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

/** Parses untrusted JSON. Returns `fallback` if the text is not JSON. */
export function tryParseJson(text: string, fallback?: unknown): unknown {
  try {
    return parseJson(text)
  } catch {
    return fallback
  }
}

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((field) => isDeeperThan(levels - 1, field)))

/** The start of an escaped character of `__proto__`, such as `\u005f` for the underscore. */
const ESCAPE = '\\u00'

const withoutProto = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value)

/** Copies a JSON value. */
export const copyJson = <Value>(value: Value): Value => parseJson(JSON.stringify(value)) as Value
