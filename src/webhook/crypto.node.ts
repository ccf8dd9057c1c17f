import { Buffer } from 'node:buffer'
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Returns the HMAC-SHA256 as 64 lowercase hexadecimal digits. Text is hashed as UTF-8, a lone surrogate as U+FFFD.
 *
 * @param key - not empty
 */
export const hmacSha256Hex = (key: string | Uint8Array, message: string | Uint8Array): string =>
  createHmac('sha256', key).update(message).digest('hex')

/** Returns the SHA-256 of the UTF-8 bytes of a text as 64 lowercase hexadecimal digits. */
export const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Compares two digests of 64 hexadecimal digits. */
export const constantTimeEqual = (expected: string, given: string): boolean =>
  timingSafeEqual(Buffer.from(expected), Buffer.from(given))
