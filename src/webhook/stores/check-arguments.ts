/**
 * Checks the key of a delivery and returns it.
 *
 * @throws TypeError when the key is empty, or contains NUL or a lone surrogate
 */
export function requireKey(key: string): string {
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`The key of a delivery must be a non-empty string, got ${key === '' ? "''" : typeof key}`)
  }
  // A lone surrogate becomes U+FFFD in UTF-8, so two different keys could become equal. PostgreSQL refuses NUL in text.
  if (/\0|\p{Surrogate}/u.test(key)) {
    throw new TypeError('The key of a delivery must not contain NUL or a lone surrogate: encode it first')
  }
  return key
}

/**
 * Checks a number of milliseconds and returns it, rounded up: a lease must not become shorter.
 *
 * @throws TypeError when `value` is not a positive number of milliseconds
 */
export function requireMilliseconds(name: string, value: number): number {
  if (typeof value !== 'number' || !(value > 0 && value <= Number.MAX_SAFE_INTEGER)) {
    throw new TypeError(`${name} must be a number of milliseconds above 0, got ${String(value)}`)
  }
  return Math.ceil(value)
}
