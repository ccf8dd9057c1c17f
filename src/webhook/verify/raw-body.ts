/** A body as it arrived: its bytes, or the text whose UTF-8 they are. A `Buffer` is a `Uint8Array`. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** Returns the body, an `ArrayBuffer` as its bytes, or `undefined` when it is not raw. Never throws. */
export function toRawBody(body: unknown): string | Uint8Array | undefined {
  if (typeof body === 'string' || isUint8Array(body)) return body
  try {
    // This getter throws for everything but an ArrayBuffer, whichever realm it comes from.
    Reflect.get(ArrayBuffer.prototype, 'byteLength', body)
    return new Uint8Array(body as ArrayBuffer)
  } catch {
    return undefined
  }
}

/** Whether the value is a `Uint8Array` of any realm; `instanceof` knows only this one, and test runners have others. */
export function isUint8Array(value: unknown): value is Uint8Array {
  return Reflect.get(Uint8Array.prototype, Symbol.toStringTag, value) === 'Uint8Array'
}
