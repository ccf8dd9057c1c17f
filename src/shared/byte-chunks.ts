/** The number of chunks that are joined. Each chunk needs about 200 bytes of memory in addition to its content. */
const MAX_LOOSE_CHUNKS = 256

/** Collects the chunks of a body, up to a number of bytes. Joins chunks to save memory. */
export class ByteChunks {
  readonly #maxBytes: number
  readonly #joined: Uint8Array[] = []
  #loose: Uint8Array[] = []
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Adds a chunk. Returns false if the body is now larger than `maxBytes`; then stop reading. */
  add(chunk: Uint8Array): boolean {
    this.#length += chunk.byteLength
    if (this.#length > this.#maxBytes) return false
    if (chunk.byteLength > 0) this.#loose.push(chunk)
    if (this.#loose.length >= MAX_LOOSE_CHUNKS) {
      this.#joined.push(concatBytes(this.#loose))
      this.#loose = []
    }
    return true
  }

  /** Returns all chunks as one array. Returns a single chunk without a copy. */
  concat(): Uint8Array {
    const chunks = [...this.#joined, ...this.#loose]
    return chunks.length === 1 ? (chunks[0] as Uint8Array) : concatBytes(chunks)
  }
}

/**
 * Reads a body to its end, and keeps its first `maxBytes` bytes. The rest is read and discarded: a client that is still sending
 * would not see the response.
 */
export async function readBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean }> {
  const chunks = new ByteChunks(maxBytes)
  let left = maxBytes
  for await (const chunk of body) {
    chunks.add(chunk.subarray(0, Math.max(0, left)))
    left -= chunk.byteLength
  }
  return { bytes: chunks.concat(), isWhole: left >= 0 }
}

/** `Buffer.concat` for every runtime. */
function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.byteLength, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}
