/** Returns the words of an error message for a wrong value: a number itself, or the type of any other value. */
export const got = (value: unknown): string =>
  typeof value === 'number' ? `${value}` : value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
