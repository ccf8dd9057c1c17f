import { sha256Hex } from '#hmac'

/** In characters. Fits the index of any database, even with three bytes per character. */
const MAX_KEY_LENGTH = 512

/**
 * Returns the key of a delivery in the store: the endpoint and the id of the message.
 *
 * JSON separates the two unambiguously, and escapes NUL and lone surrogates, which some databases refuse. A digest replaces
 * a key that is too long. It has three elements, so it never equals the key of another delivery.
 */
export function deliveryKey(endpoint: string, id: string): string {
  const key = JSON.stringify([endpoint, id])
  return key.length <= MAX_KEY_LENGTH ? key : JSON.stringify(['', 'digest', sha256Hex(key)])
}
