import type { IncomingMessage } from 'node:http'
import { type Readable, Transform, type TransformCallback } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { ByteChunks } from '../../shared/byte-chunks.ts'

/** The supported content encodings, as a header. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br'

/** Maximum number of encodings of one body, as in Node's `fetch`. */
const MAX_ENCODINGS = 5

/** A complete body, an incomplete body, or `'too_large'`. */
export type BodyOutcome =
  | { readonly text: string; readonly complete: true }
  | { readonly text: string; readonly complete: false; readonly cause: Error }
  | 'too_large'

/**
 * Reads and decompresses a body. Never throws: it reports a truncated or undecodable body as incomplete.
 *
 * @param done - may be called more than once; only the first call counts
 */
export function readResponseBody(
  response: IncomingMessage,
  maxBytes: number,
  done: (outcome: BodyOutcome) => void,
): void {
  const chunks = new ByteChunks(maxBytes)
  const text = (): string => new TextDecoder().decode(chunks.concat())
  const finishIncomplete = (cause: Error): void => done({ text: text(), complete: false, cause })

  const encodings = encodingsOf(response.headers['content-encoding'])
  if (encodings.length > MAX_ENCODINGS) {
    finishIncomplete(
      new Error(`the response is encoded ${encodings.length} times; at most ${MAX_ENCODINGS} are decoded`),
    )
    return
  }
  const decoders = decodersOf(encodings)
  const source = decoders.reduce<Readable>((encoded, decoder) => encoded.pipe(decoder), response)
  source.on('data', (chunk: Buffer) => {
    if (chunks.add(chunk)) return
    // Stop decompressing: a small response may expand to gigabytes.
    for (const decoder of decoders) decoder.destroy()
    done('too_large')
  })
  const finish = (): void => done({ text: text(), complete: true })
  source.on('end', () => {
    if (response.readableEnded) finish()
    // Skip the bytes after the compressed data.
    else response.unpipe().resume().on('end', finish)
  })
  let arrived = false
  response.once('data', () => (arrived = true))
  // Some servers send `content-encoding` with an empty body. The decoders of gzip and br report an empty body as truncated.
  const onDecodeError = (error: Error): void =>
    arrived || !response.complete ? finishIncomplete(error) : done({ text: '', complete: true })
  for (const decoder of decoders) decoder.on('error', onDecodeError)
  response.on('error', finishIncomplete)
}

/** Returns the encodings of a header in the order in which they were applied. */
const encodingsOf = (header?: string): string[] =>
  header?.split(',').map((encoding) => encoding.trim().toLowerCase()) ?? []

/** Returns a decoder per encoding, in reverse order. Returns none if any encoding is unknown, as `fetch` does. */
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

/** Decodes `deflate`. The standard means zlib data, but some servers send raw deflate data. The first byte differs. */
class Inflate extends Transform {
  #inflate: Transform | undefined

  override _transform(chunk: Buffer, _: BufferEncoding, callback: TransformCallback): void {
    if (this.#inflate === undefined) {
      this.#inflate = ((chunk[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw()
      this.#inflate.on('data', (data) => this.push(data))
      // Not in _flush(): if bytes follow the compressed data, write() below never calls back, and _flush() is not called.
      this.#inflate.on('end', () => this.push(null))
      this.#inflate.on('error', (error) => this.destroy(error))
    }
    this.#inflate.write(chunk, callback as () => void)
  }

  override _flush(callback: TransformCallback): void {
    if (this.#inflate === undefined) callback()
    // Its 'end' event ends this stream.
    else this.#inflate.end()
  }
}
