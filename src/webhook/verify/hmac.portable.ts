import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { type Hmac, hmacInOnePiece } from './hmac.one-piece.ts'

let inOnePiece: Hmac | undefined

/**
 * @param key - not empty; a string stands for its UTF-8 bytes
 * @param message - a string stands for its UTF-8 bytes, a lone surrogate for those of U+FFFD
 * @returns the HMAC-SHA256 as 64 lowercase hexadecimal digits
 */
export function hmacSha256Hex(key: string | Uint8Array, message: string | Uint8Array): string {
  inOnePiece ??= hmacInOnePiece(
    (bytes, target) => target.set(sha256(bytes)),
    (bytes) => bytesToHex(sha256(bytes)),
    (key, message) => bytesToHex(hmac(sha256, toBytes(key), toBytes(message))),
  )
  return inOnePiece(key, message)
}

/** @returns the SHA-256 of the text's UTF-8 bytes as 64 lowercase hexadecimal digits */
export const sha256Hex = (text: string): string => bytesToHex(sha256(toBytes(text)))

/**
 * Compares in a time that does not depend on where the two differ.
 *
 * @param expected - 64 ASCII characters
 * @param given - 64 ASCII characters
 */
export function equalDigests(expected: string, given: string): boolean {
  let difference = 0
  // Stryker disable next-line EqualityOperator: one past both ends, NaN ^ NaN adds nothing
  for (let i = 0; i < 64; i++) difference |= expected.charCodeAt(i) ^ given.charCodeAt(i)
  return difference === 0
}

/** A copy: it is of this realm, and reads the real length whatever a subclass says. noble insists on the first. */
const toBytes = (data: string | Uint8Array): Uint8Array =>
  typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data)
