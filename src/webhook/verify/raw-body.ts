/** A body as it arrived: its bytes, or the text that its UTF-8 bytes encode. A `Buffer` is a `Uint8Array`. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** Returns the text or the bytes of a body, or `undefined` when the value is neither. Never throws. */
export function toRawBody(body: unknown): string | Uint8Array | undefined {
  if (typeof body === 'string' || isUint8Array(body)) return body
  try {
    // This getter throws for everything except an ArrayBuffer. It accepts an ArrayBuffer of any realm.
    Reflect.get(ArrayBuffer.prototype, 'byteLength', body)
    return new Uint8Array(body as ArrayBuffer)
  } catch {
    return undefined
  }
}

/** Whether the value is a `Uint8Array` of any realm. `instanceof` fails for a value of another realm, as in some test runners. */
export function isUint8Array(value: unknown): value is Uint8Array {
  return Reflect.get(Uint8Array.prototype, Symbol.toStringTag, value) === 'Uint8Array'
}
