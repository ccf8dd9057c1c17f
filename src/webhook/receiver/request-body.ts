import { ByteChunks } from '../../shared/byte-chunks.ts'
import { isUint8Array } from '../verify/raw-body.ts'
import type { Deadline } from './deadline.ts'

/** The result of reading a body. */
export type BodyRead = { ok: true; bytes: Uint8Array } | BodyFailure

export type BodyFailure =
  | { ok: false; reason: 'too_large' | 'body_aborted' | 'body_timeout' }
  /** `detail` is the message of the error: the likely cause, and a fix. */
  | { ok: false; reason: 'body_not_raw'; detail: string }

export interface BodyLimits {
  maxBytes: number
  deadline: Deadline
}

const OBJECT_STREAM =
  'The chunks of the request stream are neither bytes nor text: a middleware replaced the stream before the receiver.'

/** Collects the chunks of a body, and refuses the chunk that exceeds the limit. */
export class BodyCollector {
  readonly #maxBytes: number
  readonly #chunks = new ByteChunks()
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Adds a chunk. After a failure, stop reading. */
  add(chunk: unknown): BodyFailure | undefined {
    const bytes = rawBytes(chunk)
    if (bytes === undefined) return { ok: false, reason: 'body_not_raw', detail: OBJECT_STREAM }
    this.#length += bytes.byteLength
    if (this.#length > this.#maxBytes) return { ok: false, reason: 'too_large' }
    this.#chunks.add(bytes)
    return undefined
  }

  bytes(): Uint8Array {
    return this.#chunks.concat()
  }
}

/** Returns the bytes of a chunk or of a whole body, or `undefined` when the value is neither text nor bytes. */
export function rawBytes(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  return isUint8Array(body) ? body : undefined
}

/** Checks the length of a body that was read as a whole. */
export function wholeBody(bytes: Uint8Array, maxBytes: number): BodyRead {
  return bytes.byteLength > maxBytes ? { ok: false, reason: 'too_large' } : { ok: true, bytes }
}
