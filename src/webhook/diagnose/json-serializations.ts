/** Yields the texts that common JSON libraries write for a value. Yields nothing for a value that JSON cannot represent. */
export function* jsonSerializations(value: unknown): Generator<string> {
  for (const layout of LAYOUTS) {
    let text: string | undefined
    try {
      text = layout(value)
    } catch {
      // The value has a cycle, a bigint, or too many levels.
    }
    if (text === undefined) return
    for (const writeEscapes of ESCAPES) yield writeEscapes(text)
  }
}

const LAYOUTS: readonly ((value: unknown) => string | undefined)[] = [
  (value) => JSON.stringify(value),
  (value) => spaced(JSON.parse(JSON.stringify(value))),
  (value) => JSON.stringify(value, null, 2),
]

/** Python's layout: a space after each comma and colon. */
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
const escapeHtml = (text: string): string => text.replace(/[<>&\u2028\u2029]/g, escapeUnit)

const ESCAPES: readonly ((text: string) => string)[] = [
  (text) => text,
  // Python
  escapeNonAscii,
  // PHP
  (text) => escapeSlashes(escapeNonAscii(text)),
  // PHP with JSON_UNESCAPED_UNICODE
  escapeSlashes,
  // Go: json.Marshal
  escapeHtml,
  // Go: json.Encoder
  (text) => `${escapeHtml(text)}\n`,
]
