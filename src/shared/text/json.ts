/**
 * Parses JSON from outside without its `__proto__` keys. Copied into another object, such a key would replace that
 * object's prototype.
 *
 * @param maxDepth - how many objects and arrays may contain each other
 * @throws SyntaxError when the text is not JSON, or nested too deep
 */
export function parseJson(text: string, maxDepth = Infinity): unknown {
  const value: unknown = JSON.parse(text)
  // Each level takes two characters.
  if (text.length > 2 * maxDepth && isDeeperThan(maxDepth, value)) {
    throw new SyntaxError(`more than ${maxDepth} levels deep`)
  }
  // A reviver makes parsing several times slower, so only texts that may hold the key pay for it.
  const mayHoldProto = text.includes('__proto__') || text.includes(ESCAPE)
  return mayHoldProto ? JSON.parse(text, withoutProto) : value
}

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((field) => isDeeperThan(levels - 1, field)))

/** Starts an escape of any letter of the key. */
const ESCAPE = '\\u00'

const withoutProto = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value)

/** Returns the copy of a value that its JSON would give. */
export const copyJson = <Value>(value: Value): Value => parseJson(JSON.stringify(value)) as Value
