import { sha256Hex } from '#hmac'

/** The maximum length in characters. It fits the index of any database, even with three bytes per character. */
const MAX_KEY_LENGTH = 512

/**
 * Returns the key of a delivery in the store: the endpoint and the id of the message.
 *
 * JSON separates the two unambiguously, and escapes NUL and lone surrogates, which some databases refuse. If the key is too
 * long, it is an array of three elements with a digest. A short key has two elements, so the two never collide.
 */
export function deliveryKey(endpoint: string, id: string): string {
  const key = JSON.stringify([endpoint, id])
  return key.length <= MAX_KEY_LENGTH ? key : JSON.stringify(['', 'digest', sha256Hex(key)])
}
