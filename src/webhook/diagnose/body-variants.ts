import { fromBase64, fromLatin1, toText } from './encoded-bytes.ts'
import type { BodyFindingCode } from './finding.ts'
import { jsonTexts } from './json-texts.ts'

/** A body that may have been signed, and how it became the one at hand. */
export interface BodyVariant {
  codes: BodyFindingCode[]
  body: string | Uint8Array
}

const BOM = '\ufeff'

/** What a raw body may have been when it was signed; itself first. */
export function* variantsOfRaw(body: string | Uint8Array): Generator<BodyVariant> {
  yield { codes: [], body }
  const text = typeof body === 'string' ? body : toText(body)
  if (text === undefined) return

  if (text.startsWith(BOM)) yield { codes: ['added_bom'], body: text.slice(1) }
  else yield { codes: ['stripped_bom'], body: BOM + text }
  yield { codes: ['stripped_newline'], body: `${text}\n` }
  yield { codes: ['stripped_newline'], body: `${text}\r\n` }
  yield { codes: ['stripped_bom', 'stripped_newline'], body: `${BOM}${text}\n` }
  const trimmed = text.trimEnd()
  if (trimmed !== text) yield { codes: ['added_newline'], body: trimmed }
  if (text.includes('\n')) {
    const unix = text.replaceAll('\r\n', '\n')
    yield { codes: ['changed_newlines'], body: unix }
    yield { codes: ['changed_newlines'], body: unix.replaceAll('\n', '\r\n') }
  }
  const latin1 = typeof body === 'string' ? fromLatin1(text) : undefined
  if (latin1) yield { codes: ['wrong_charset'], body: latin1 }
  const decoded = fromBase64(trimmed)
  if (decoded) yield { codes: ['base64_body'], body: decoded }
  for (const signed of textsBehind(text)) yield { codes: ['reserialized_body'], body: signed }
}

/** What a parsed body may have been before it was parsed. */
export function* variantsOfParsed(body: unknown): Generator<BodyVariant> {
  for (const signed of jsonTexts(body)) yield { codes: ['parsed_body'], body: signed }
}

function* textsBehind(text: string): Generator<string | Uint8Array> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return
  }
  // JSON within JSON, and what JSON.stringify makes of a Buffer.
  if (typeof value === 'string') yield value
  const bytes = bytesOfBufferJson(value)
  if (bytes) yield bytes
  yield* jsonTexts(value)
}

function bytesOfBufferJson(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { type, data } = value as { type?: unknown; data?: unknown }
  return type === 'Buffer' && Array.isArray(data) ? Uint8Array.from(data as number[]) : undefined
}
