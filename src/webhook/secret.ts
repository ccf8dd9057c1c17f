import { isUint8Array } from './raw-body.ts'

/** The key of one endpoint: its text as registered with the service, or its bytes. Never empty. */
export type WebhookKey = string | Uint8Array

/**
 * The secret an endpoint was registered with. A string stands for its UTF-8 bytes.
 *
 * While a secret is being replaced, a list of one to five: a message is accepted when any of them signed it.
 */
export type WebhookSecret = WebhookKey | readonly WebhookKey[]

/** Each one costs a hash of every forged body, so a list that only ever grows must be noticed. */
const MAX_SECRETS = 5

/**
 * The keys of a secret, in its order.
 *
 * @throws TypeError when the secret is unusable. Its text never holds the secret.
 */
export function toKeys(secret: unknown): readonly WebhookKey[] {
  if (!Array.isArray(secret)) return [toKey(secret, 'secret')]
  if (secret.length < 1 || secret.length > MAX_SECRETS) {
    throw new TypeError(`secret must be one secret or a list of 1 to ${MAX_SECRETS}; got a list of ${secret.length}.`)
  }
  // Array.from visits holes too: a list with a hole is a list with a missing secret.
  return Array.from(secret, (key, index) => toKey(key, `secret[${index}]`))
}

function toKey(key: unknown, name: string): WebhookKey {
  if (typeof key !== 'string' && !isUint8Array(key)) {
    const got = key === null ? 'null' : typeof key
    const hint = key === undefined ? ' Is the variable that holds it set?' : ''
    throw new TypeError(`${name} must be a string or a Uint8Array; got ${got}.${hint}`)
  }
  if (key.length === 0) {
    throw new TypeError(`${name} is empty: anyone could sign with it. Pass the secret the webhook is registered with.`)
  }
  return key
}
