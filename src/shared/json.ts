/**
 * Parses JSON from a stranger. A `__proto__` key is left out: harmless where it stands, it would become the
 * prototype of the first object the data is copied into.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJson(text: string): unknown {
  // The reviver makes parsing several times slower, so only texts that could spell the key pay for it.
  return MAY_SPELL_PROTO.test(text) ? JSON.parse(text, withoutProto) : JSON.parse(text)
}

/** As it is, or with escapes for any of its letters. */
const MAY_SPELL_PROTO = /__proto__|\\u00[567]/

const withoutProto = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value)

/** A copy of what JSON holds of a value, which is what an answer shows. */
export const copyJson = <Value>(value: Value): Value => parseJson(JSON.stringify(value)) as Value
