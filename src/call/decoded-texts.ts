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
