import type { IncomingMessage } from 'node:http'
import { type Readable, Transform, type TransformCallback } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { ByteChunks } from '../shared/byte-chunks.ts'

/** The encodings that are asked for and understood. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br'

/** How often a body may be encoded; `fetch` of Node goes no further either. */
const MOST_ENCODINGS = 5

/** What came of a body: how far it got, or that it was longer than allowed. */
export type BodyOutcome =
  | { readonly text: string; readonly complete: true }
  | { readonly text: string; readonly complete: false; readonly cause: Error }
  | 'too_large'

/** Reads an answer to its end. Never throws: a body that breaks off, or can't be decompressed, is not complete. */
export function readBody(answer: IncomingMessage, maxBytes: number, done: (outcome: BodyOutcome) => void): void {
  const pieces = new ByteChunks<Buffer>(Buffer.concat)
  let length = 0
  let ended = false
  const finish = (outcome: BodyOutcome): void => {
    if (ended) return
    ended = true
    done(outcome)
  }
  const broken = (cause: Error): void => finish({ text: decodeUtf8(pieces), complete: false, cause })

  const encodings = encodingsOf(answer.headers['content-encoding'])
  if (encodings.length > MOST_ENCODINGS) {
    broken(new Error(`the answer is encoded ${encodings.length} times; at most ${MOST_ENCODINGS} are decoded`))
    return
  }
  const decoders = decodersOf(encodings)
  const source = decoders.reduce<Readable>((encoded, decoder) => encoded.pipe(decoder), answer)
  source.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= maxBytes) {
      pieces.add(chunk)
      return
    }
    // A small answer may be a large one, compressed: the rest of it is not worked on.
    for (const decoder of decoders) decoder.destroy()
    finish('too_large')
  })
  source.on('end', () => {
    if (answer.complete) finish({ text: decodeUtf8(pieces), complete: true })
  })
  let arrived = false
  if (decoders.length > 0) answer.once('data', () => (arrived = true))
  // Servers name an encoding for bodies that are empty, too; to the decoders of gzip and br these are broken off.
  const refused = (error: Error): void =>
    arrived || !answer.complete ? broken(error) : finish({ text: '', complete: true })
  for (const decoder of decoders) decoder.on('error', refused)
  answer.on('error', broken)
  // An answer that breaks off may close without an error.
  answer.on('close', () => {
    if (!answer.complete) broken(new Error('the connection was closed before the end of the answer'))
  })
}

function decodeUtf8(pieces: ByteChunks<Buffer>): string {
  const text = pieces.concat().toString('utf8')
  // As `Response.text()` does: JSON does not begin with a byte order mark.
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** In the order in which they were applied. */
const encodingsOf = (header = ''): string[] =>
  header === '' ? [] : header.split(',').map((encoding) => encoding.trim().toLowerCase())

/** @returns none where a single encoding is not one that we asked for: as with `fetch`, it will not be JSON */
function decodersOf(encodings: readonly string[]): Transform[] {
  const known = encodings.flatMap((encoding) => DECODERS.get(encoding) ?? [])
  return known.length === encodings.length ? known.reverse().map((decoder) => decoder()) : []
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', () => new Inflate()],
] as [string, () => Transform][])

/** HTTP's `deflate` means the zlib format, and some servers send bare deflate data: the first byte tells. */
class Inflate extends Transform {
  #inflate: Transform | undefined

  override _transform(chunk: Buffer, _: BufferEncoding, callback: TransformCallback): void {
    if (this.#inflate === undefined) {
      this.#inflate = ((chunk[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw()
      this.#inflate.on('data', (data) => this.push(data))
      this.#inflate.on('error', (error) => this.destroy(error))
    }
    this.#inflate.write(chunk, callback as () => void)
  }

  override _flush(callback: TransformCallback): void {
    if (this.#inflate === undefined) {
      callback()
      return
    }
    this.#inflate.on('end', () => callback())
    this.#inflate.end()
  }
}
