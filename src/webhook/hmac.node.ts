import { createRequire } from 'node:module'
import { type Hmac, hmacInOnePiece } from './hmac.one-piece.ts'

type Crypto = typeof import('node:crypto')

let loaded: Crypto | undefined
let hmac: Hmac | undefined

/**
 * Loaded by its first use: that takes longer than all of `campaign-client/webhook`. Any absolute path will do for what
 * is built in; `process.getBuiltinModule` is there from 20.16 only.
 */
function crypto(): Crypto {
  loaded ??= createRequire('/')('node:crypto') as Crypto
  return loaded
}

/**
 * @param key - not empty; a string stands for its UTF-8 bytes
 * @param message - a string stands for its UTF-8 bytes, a lone surrogate for those of U+FFFD
 * @returns the HMAC-SHA256 as 64 lowercase hexadecimal digits
 */
export function hmacSha256Hex(key: string | Uint8Array, message: string | Uint8Array): string {
  hmac ??= fastest(crypto())
  return hmac(key, message)
}

/**
 * Compares in a time that does not depend on where the two differ.
 *
 * @param expected - 64 ASCII characters
 * @param given - 64 ASCII characters
 */
export function equalDigests(expected: string, given: string): boolean {
  return crypto().timingSafeEqual(Buffer.from(expected), Buffer.from(given))
}

function fastest({ hash, createHmac }: Crypto): Hmac {
  const whole: Hmac = (key, message) => createHmac('sha256', key).update(message).digest('hex')
  // Node has `hash` from 20.12; other runtimes' node:crypto may not.
  if (!hash) return whole
  const into = (message: Uint8Array, target: Uint8Array): void => {
    // As text of one-byte characters, a digest crosses from native code cheapest.
    const digest = hash('sha256', message, 'binary')
    for (let i = 0; i < 32; i++) target[i] = digest.charCodeAt(i)
  }
  return hmacInOnePiece(into, (message) => hash('sha256', message), whole)
}
