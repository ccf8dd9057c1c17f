/** The texts that the usual JSON writers make of a value. Nothing for a value that has no JSON. */
export function* jsonTexts(value: unknown): Generator<string> {
  for (const layout of LAYOUTS) {
    let text: string | undefined
    try {
      text = layout(value)
    } catch {
      // A cycle, a bigint, a getter that throws, or a depth no writer can follow.
      return
    }
    if (text === undefined) return
    for (const writeEscapes of ESCAPES) {
      const escaped = writeEscapes(text)
      yield escaped
      yield `${escaped}\n`
    }
  }
}

type Layout = (value: unknown) => string | undefined

const LAYOUTS: readonly Layout[] = [
  (value) => JSON.stringify(value),
  (value) => spaced(JSON.parse(JSON.stringify(value))),
  (value) => JSON.stringify(value, null, 2),
  (value) => JSON.stringify(value, null, 4),
  (value) => JSON.stringify(value, null, '\t'),
]

/** A space after each comma and colon, as Python writes it. */
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

const ESCAPES: readonly ((text: string) => string)[] = [
  (text) => text,
  // Python
  escapeNonAscii,
  // PHP, and PHP with JSON_UNESCAPED_UNICODE
  (text) => escapeSlashes(escapeNonAscii(text)),
  escapeSlashes,
  // Go
  (text) => text.replace(/[<>&\u2028\u2029]/g, escapeUnit),
]
