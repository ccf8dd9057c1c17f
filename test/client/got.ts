/** How a message speaks of a wrong value: a number is shown, of anything else the type alone: it might be a secret. */
export const got = (value: unknown): string =>
  typeof value === 'number' ? `${value}` : value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
