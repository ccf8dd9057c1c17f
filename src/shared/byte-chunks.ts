/** A million chunks of one byte take some 200 bytes of memory each. Few bodies arrive in so many chunks. */
const MAX_LOOSE_CHUNKS = 256

/** Collects the chunks of a body, however small, in little more memory than their bytes need. */
export class ByteChunks<Bytes extends Uint8Array> {
  readonly #concat: (chunks: readonly Bytes[]) => Bytes
  readonly #joined: Bytes[] = []
  #loose: Bytes[] = []

  constructor(concat: (chunks: readonly Bytes[]) => Bytes) {
    this.#concat = concat
  }

  add(chunk: Bytes): void {
    if (chunk.byteLength === 0) return
    this.#loose.push(chunk)
    if (this.#loose.length < MAX_LOOSE_CHUNKS) return
    this.#joined.push(this.#concat(this.#loose))
    this.#loose = []
  }

  /** All chunks as one array. A single chunk is returned without a copy. */
  concat(): Bytes {
    const chunks = [...this.#joined, ...this.#loose]
    return chunks.length === 1 ? (chunks[0] as Bytes) : this.#concat(chunks)
  }
}

/** `Buffer.concat` for every runtime. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.byteLength, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}
