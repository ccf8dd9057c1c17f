import type { IncomingMessage } from 'node:http'
import { Transform, type TransformCallback } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { Pieces } from '../shared/pieces.ts'

/** The encodings that are asked for and understood. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br'

/** What came of a body: how far it got, or that it was longer than allowed. */
export type BodyOutcome =
  | { readonly text: string; readonly complete: true }
  | { readonly text: string; readonly complete: false; readonly cause: Error }
  | 'too_large'

/** Reads an answer to its end. Never throws: a body that breaks off, or can't be decompressed, is not complete. */
export function readBody(answer: IncomingMessage, maxBytes: number, done: (outcome: BodyOutcome) => void): void {
  const pieces = new Pieces<Buffer>(Buffer.concat)
  let length = 0
  let ended = false
  const finish = (outcome: BodyOutcome): void => {
    if (ended) return
    ended = true
    done(outcome)
  }
  const broken = (cause: Error): void => finish({ text: decodeUtf8(pieces), complete: false, cause })

  const decoder = decoderOf(answer.headers['content-encoding'])
  const source = decoder === undefined ? answer : answer.pipe(decoder)
  source.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= maxBytes) {
      pieces.add(chunk)
      return
    }
    // A small answer may be a large one, compressed: the rest of it is not worked on.
    decoder?.destroy()
    finish('too_large')
  })
  source.on('end', () => {
    if (answer.complete) finish({ text: decodeUtf8(pieces), complete: true })
  })
  let arrived = false
  if (decoder !== undefined) answer.once('data', () => (arrived = true))
  // Servers name an encoding for bodies that are empty, too; to the decoders of gzip and br these are broken off.
  decoder?.on('error', (error) => (arrived || !answer.complete ? broken(error) : finish({ text: '', complete: true })))
  answer.on('error', broken)
  // An answer that breaks off may close without an error.
  answer.on('close', () => {
    if (!answer.complete) broken(new Error('the connection was closed before the end of the answer'))
  })
}

function decodeUtf8(pieces: Pieces<Buffer>): string {
  const text = pieces.whole().toString('utf8')
  // As `Response.text()` does: JSON does not begin with a byte order mark.
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** @returns undefined for a body that needs none, or whose encoding we did not ask for: it will not be JSON. */
function decoderOf(encoding: string | undefined): Transform | undefined {
  switch (encoding?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'deflate':
      return new Inflate()
    default:
      return undefined
  }
}

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
