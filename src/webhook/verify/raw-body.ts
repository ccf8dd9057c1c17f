/** The body as it arrived: its bytes, or the text they are the UTF-8 of. A `Buffer` is a `Uint8Array`. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** The body if it is raw, with an `ArrayBuffer` as its bytes; otherwise `undefined`. Never throws. */
export function toRawBody(body: unknown): string | Uint8Array | undefined {
  if (typeof body === 'string') return body
  try {
    if (isUint8Array(body)) {
      // What was transferred elsewhere looks empty. Copying it tells: that throws where the bytes are gone.
      return byteLengthOf(body) > 0 ? body : new Uint8Array(body)
    }
    // The getter of the intrinsic prototype refuses whatever is not an ArrayBuffer of some realm, proxies included.
    Reflect.get(ArrayBuffer.prototype, 'byteLength', body)
    return new Uint8Array(body as ArrayBuffer)
  } catch {
    return undefined
  }
}

/**
 * Whether the value holds bytes. `instanceof` would refuse the bytes of another realm (a test runner's sandbox, say)
 * and take a proxy or `Object.create(Uint8Array.prototype)` for bytes; the intrinsic getter is never fooled and never
 * throws.
 */
export function isUint8Array(value: unknown): value is Uint8Array {
  return Reflect.get(Uint8Array.prototype, Symbol.toStringTag, value) === 'Uint8Array'
}

/** The real length of bytes, whatever a subclass or a property of its own says; 0 where they are gone. */
export const byteLengthOf = (bytes: Uint8Array): number =>
  Reflect.get(Uint8Array.prototype, 'byteLength', bytes) as number
