/**
 * Parses JSON from outside without its `__proto__` keys. Copied into another object, such a key would replace that
 * object's prototype.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: string): unknown {
  // A reviver makes parsing several times slower, so only texts that may hold the key pay for it.
  return MAY_SPELL_PROTO.test(text) ? JSON.parse(text, withoutProto) : JSON.parse(text)
}

/** The key as it is, or with escapes for any of its letters. */
const MAY_SPELL_PROTO = /__proto__|\\u00[567]/

const withoutProto = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value)

/** Returns the copy of a value that its JSON would give. */
export const copyJson = <Value>(value: Value): Value => parseJson(JSON.stringify(value)) as Value
