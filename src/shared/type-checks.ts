/** Whether a value is an object, but neither an array nor null. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether an object or a function has a method. */
export const hasMethod = (value: unknown, name: string): boolean =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
  typeof Reflect.get(value, name) === 'function'

/** Like `instanceof Error`, which throws for a revoked Proxy. A thrown value may be anything. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error
  } catch {
    return false
  }
}

/** Returns the type of a value for an error message. The value itself may be a misplaced secret. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  try {
    return Array.isArray(value) ? 'array' : typeof value
  } catch {
    return 'revoked proxy'
  }
}

/** Whether a value is a `Uint8Array` of any realm. `instanceof` fails for a value of another realm, as in some test runners. */
export const isUint8Array = (value: unknown): value is Uint8Array =>
  Reflect.get(Uint8Array.prototype, Symbol.toStringTag, value) === 'Uint8Array'
