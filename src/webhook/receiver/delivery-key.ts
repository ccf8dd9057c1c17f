import { sha256Hex } from '#hmac'

/** The maximum length of a key in characters. Even with three bytes per character, a key fits the index of any database. */
const MAX_KEY_LENGTH = 512

/**
 * Returns the key of a delivery in the store: the endpoint and the id of the message.
 *
 * The key is a JSON array, so that different pairs never have the same key. JSON escapes NUL and lone surrogates, which
 * some databases refuse. A key that would be too long is replaced by a digest. Its array has three elements instead of two,
 * so that it never equals a short key.
 */
export function deliveryKey(endpoint: string, id: string): string {
  const key = JSON.stringify([endpoint, id])
  return key.length <= MAX_KEY_LENGTH ? key : JSON.stringify(['', 'digest', sha256Hex(key)])
}
