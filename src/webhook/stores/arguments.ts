/** @throws TypeError when `key` cannot be told apart from every other key once it is UTF-8 in a store */
export function requireKey(key: string): string {
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`The key of a delivery must be a non-empty string, got ${key === '' ? "''" : typeof key}`)
  }
  // A lone surrogate becomes U+FFFD in UTF-8, so that two keys would meet; PostgreSQL refuses NUL in text.
  if (/\0|\p{Surrogate}/u.test(key)) {
    throw new TypeError('The key of a delivery must not contain NUL or a lone surrogate: encode it first')
  }
  return key
}

/**
 * @returns whole milliseconds: stores count in those, and a lease must not become shorter than asked for
 * @throws TypeError when `value` is not a positive number of milliseconds
 */
export function requireMilliseconds(name: string, value: number): number {
  if (typeof value !== 'number' || !(value > 0 && value <= Number.MAX_SAFE_INTEGER)) {
    throw new TypeError(`${name} must be a number of milliseconds above 0, got ${String(value)}`)
  }
  return Math.ceil(value)
}

export function hasMethod(value: unknown, method: string): boolean {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof Reflect.get(value, method) === 'function'
  )
}
