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

/** @throws TypeError when `value` is not a whole, positive number of milliseconds */
export function requireMilliseconds(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new TypeError(`${name} must be a whole number of milliseconds, at least 1, got ${String(value)}`)
  }
  return value
}
