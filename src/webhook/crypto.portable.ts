import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/**
 * Returns the HMAC-SHA256 as 64 lowercase hexadecimal digits. Text is hashed as UTF-8, a lone surrogate as U+FFFD.
 *
 * @param key - not empty
 */
export const hmacSha256Hex = (key: string | Uint8Array, message: string | Uint8Array): string =>
  bytesToHex(hmac(sha256, toBytes(key), toBytes(message)))

/** Returns the SHA-256 of the UTF-8 bytes of a text as 64 lowercase hexadecimal digits. */
export const sha256Hex = (text: string): string => bytesToHex(sha256(toBytes(text)))

/** Compares two digests of 64 hexadecimal digits. */
export function constantTimeEqual(expected: string, given: string): boolean {
  let difference = 0
  for (let i = 0; i < 64; i++) difference |= expected.charCodeAt(i) ^ given.charCodeAt(i)
  return difference === 0
}

/** Copies bytes: noble refuses a Uint8Array of another realm, such as the sandbox of a test runner. */
const toBytes = (data: string | Uint8Array): Uint8Array =>
  typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data)
