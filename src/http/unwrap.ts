/** The bytes of a text without the encodings that were put around them, and where in the text each of them stands. */
interface Unwrapped {
  /** One character for each byte of UTF-8. */
  readonly bytes: string
  /** Where what spells the byte begins in the text. */
  readonly start: (byte: number) => number
  /** Where what spells the byte ends in the text. */
  readonly end: (byte: number) => number
}

/** JSON in a URL in JSON in a log line: more layers than anybody puts around a text. */
const MOST_LAYERS = 8
// Stryker disable next-line Regex: of any other characters it would only look for layers in vain
const LAYER = /[\\%+\b\t\n\f\r]/
/** A pair of surrogates, a single unit, other escapes, percent-encoded bytes, and the space of forms. */
const ENCODED = /\\+u(d[89ab][\da-f]{2})\\+u(d[c-f][\da-f]{2})|\\+u([\da-f]{4})|\\+|%([\da-f]{2})|[+\b\t\n\f\r]/gi
/** As the letter that JSON writes behind the backslash, which is what is left of such an escape. */
const LETTERS: Readonly<Record<string, string>> = { '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r', '+': ' ' }

/**
 * Takes the encodings of JSON and of URLs off a text, layer by layer, until none is left. Two texts of which one is an
 * encoding of the other are the same then. So may be texts that differ: `\n` and the letter n are one.
 */
export function unwrap(text: string): Unwrapped {
  let bytes = ''
  let starts: number[] = []
  let ends: number[] = []
  let at = 0
  for (const character of text) {
    for (const byte of utf8(character)) {
      bytes += byte
      starts.push(at)
      ends.push(at + character.length)
    }
    at += character.length
  }
  // Stryker disable next-line EqualityOperator: one layer more than anybody puts around a text
  for (let layer = 0; layer < MOST_LAYERS && LAYER.test(bytes); layer++) {
    const outer = { bytes, starts, ends }
    bytes = ''
    starts = []
    ends = []
    let next = 0
    const copyUpTo = (index: number): void => {
      bytes += outer.bytes.slice(next, index)
      for (; next < index; next++) {
        starts.push(outer.starts[next] as number)
        ends.push(outer.ends[next] as number)
      }
    }
    for (const found of outer.bytes.matchAll(ENCODED)) {
      copyUpTo(found.index)
      next = found.index + found[0].length
      for (const byte of decoded(found)) {
        bytes += byte
        starts.push(outer.starts[found.index] as number)
        ends.push(outer.ends[next - 1] as number)
      }
    }
    copyUpTo(outer.bytes.length)
  }
  return { bytes, start: (byte) => starts[byte] as number, end: (byte) => ends[byte] as number }
}

function decoded([whole, high, low, unit, byte]: RegExpMatchArray): string {
  if (high !== undefined) return utf8(String.fromCharCode(hex(high), hex(low as string)))
  if (unit !== undefined) return utf8(String.fromCharCode(hex(unit)))
  if (byte !== undefined) return String.fromCharCode(hex(byte))
  return LETTERS[whole] ?? ''
}

const hex = (digits: string): number => Number.parseInt(digits, 16)

const encoder = new TextEncoder()
/** Most characters are one byte, and their own. */
const utf8 = (character: string): string =>
  // Stryker disable next-line ConditionalExpression,StringLiteral: it only saves time
  character < '\x80' ? character : String.fromCharCode(...encoder.encode(character))
