import { isUint8Array } from './raw-body.ts'

/** One secret: its text as registered with the service, or its bytes. Never empty. */
export type WebhookKey = string | Uint8Array

/**
 * The secret that an endpoint is registered with. A string is used as its UTF-8 bytes.
 *
 * While you replace a secret, pass a list of one to five secrets. A message that is signed with any secret of the list is
 * accepted.
 */
export type WebhookSecret = WebhookKey | readonly WebhookKey[]

/** Every body is hashed once per key, so the limit bounds the cost of a forged message. */
const MAX_KEYS = 5

/**
 * Returns a secret as a list of keys, in the given order.
 *
 * @throws TypeError when the secret is unusable. The error does not contain it.
 */
export function toKeys(secret: unknown): readonly WebhookKey[] {
  const problem = secretProblem(secret)
  if (problem !== undefined) throw new TypeError(`secret ${problem}`)
  return listOf(secret) as WebhookKey[]
}

/** Returns the problem of a secret, without its value; `undefined` if the secret is usable. */
export function secretProblem(secret: unknown): string | undefined {
  const keys = listOf(secret)
  if (keys.length < 1 || keys.length > MAX_KEYS) return unusable(`a list of ${keys.length}`)
  for (const key of keys) {
    if (typeof key !== 'string' && !isUint8Array(key)) return unusable(key === null ? 'null' : typeof key)
    if (key.length === 0) return unusable('an empty value')
  }
  return undefined
}

const listOf = (secret: unknown): readonly unknown[] => (Array.isArray(secret) ? secret : [secret])

const unusable = (got: string): string =>
  `must be a non-empty string or Uint8Array, or a list of 1 to ${MAX_KEYS}; got ${got}. Is it set?`
