import { byteLengthOf, isUint8Array } from './raw-body.ts'

/** The key of one endpoint: its text as registered with the service, or its bytes. Never empty. */
export type WebhookKey = string | Uint8Array

/**
 * The secret an endpoint was registered with. A string stands for its UTF-8 bytes.
 *
 * While a secret is being replaced, a list of one to five: a message is accepted when any of them signed it.
 */
export type WebhookSecret = WebhookKey | readonly WebhookKey[]

/**
 * The keys of a secret, in its order.
 *
 * @throws TypeError when the secret is unusable. Its text never holds the secret.
 */
export function toKeys(secret: unknown): readonly WebhookKey[] {
  // Spreading makes a hole `undefined`; the methods of arrays would skip it.
  const keys: unknown[] = Array.isArray(secret) ? [...secret] : [secret]
  const problem = problemOf(keys)
  if (problem !== undefined) throw new TypeError(`secret ${problem}`)
  return keys as WebhookKey[]
}

/** What makes a secret unusable, in words that never hold it; `undefined` when it can be used. */
export function secretProblem(secret: unknown): string | undefined {
  return problemOf(Array.isArray(secret) ? [...secret] : [secret])
}

function problemOf(keys: readonly unknown[]): string | undefined {
  // Each key costs a hash of every forged body, so a list that only ever grows must be noticed.
  if (keys.length < 1 || keys.length > 5) return unusable(`a list of ${keys.length}`)
  for (const key of keys) {
    if (typeof key === 'string' ? key === '' : isUint8Array(key) && byteLengthOf(key) === 0)
      return unusable('an empty one')
    // Of what is empty, the value says more than its type, and holds no secret.
    if (typeof key !== 'string' && !isUint8Array(key)) return unusable(`${key && typeof key}`)
  }
  return undefined
}

const unusable = (got: string): string =>
  `must be a non-empty string or Uint8Array, or a list of 1 to 5; got ${got}. Is it set?`
