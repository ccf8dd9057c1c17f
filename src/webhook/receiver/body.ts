import { ByteChunks, concatBytes } from '../../shared/byte-chunks.ts'
import { isUint8Array } from '../verify/raw-body.ts'
import type { Deadline } from './deadline.ts'

/** The outcome of reading a body. `detail` says to the partner what consumed it. */
export type BodyRead = { ok: true; bytes: Uint8Array } | BodyFailure

export type BodyFailure =
  | { ok: false; reason: 'too_large' | 'body_aborted' | 'body_timeout' }
  | { ok: false; reason: 'body_not_raw'; detail: string }

export interface BodyLimits {
  maxBytes: number
  /** When nobody waits for the body any longer. */
  deadline: Deadline
}

const OBJECT_STREAM = 'The request stream gave neither bytes nor text: something in front of the receiver replaced it.'

/** Puts a body together from its chunks, and notices when it gets too long before it is all there. */
export class BodyCollector {
  readonly #maxBytes: number
  readonly #pieces = new ByteChunks(concatBytes)
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @returns why the rest need not be read, if so */
  add(chunk: unknown): BodyFailure | undefined {
    const bytes = rawBytes(chunk)
    if (bytes === undefined) return { ok: false, reason: 'body_not_raw', detail: OBJECT_STREAM }
    this.#length += bytes.byteLength
    if (this.#length > this.#maxBytes) return { ok: false, reason: 'too_large' }
    this.#pieces.add(bytes)
    return undefined
  }

  bytes(): Uint8Array {
    return this.#pieces.concat()
  }
}

/** The bytes of a body that is there as a whole, if it is raw: text, or a byte array. */
export function rawBytes(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  return isUint8Array(body) ? body : undefined
}

export function wholeBody(bytes: Uint8Array, maxBytes: number): BodyRead {
  return bytes.byteLength > maxBytes ? { ok: false, reason: 'too_large' } : { ok: true, bytes }
}
