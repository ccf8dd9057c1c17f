/** Names a wrong value without showing it: it may be a secret that landed in the wrong place. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
