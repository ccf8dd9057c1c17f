import { sha256Hex } from '#hmac'

/** Short enough for the index of any database, also when every character takes three bytes. */
const MAX_KEY_LENGTH = 512

/**
 * The key under which a delivery is remembered: the endpoint and the id of the message.
 *
 * JSON keeps the two apart whatever they contain, and escapes what some databases refuse in a text (NUL, lone
 * surrogates). A key that would be too long is replaced by its digest; the three elements keep it from being equal to
 * any other key.
 */
export function deliveryKey(endpoint: string, id: string): string {
  const key = JSON.stringify([endpoint, id])
  if (key.length <= MAX_KEY_LENGTH) return key
  return JSON.stringify(['', 'digest', sha256Hex(key)])
}
