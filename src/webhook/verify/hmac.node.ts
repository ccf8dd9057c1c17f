import nodeModule from 'node:module'
import { type Hmac, hmacInOnePiece } from './hmac.one-piece.ts'

type Crypto = typeof import('node:crypto')

interface Loaded {
  readonly hmac: Hmac
  readonly equal: (expected: string, given: string) => boolean
  readonly digest: (text: string) => string
}

let loaded: Loaded | undefined

/**
 * @param key - not empty; a string stands for its UTF-8 bytes
 * @param message - a string stands for its UTF-8 bytes, a lone surrogate for those of U+FFFD
 * @returns the HMAC-SHA256 as 64 lowercase hexadecimal digits
 */
export const hmacSha256Hex: Hmac = (key, message) => load().hmac(key, message)

/**
 * Compares in a time that does not depend on where the two differ.
 *
 * @param expected - 64 ASCII characters
 * @param given - 64 ASCII characters
 */
export const equalDigests = (expected: string, given: string): boolean => load().equal(expected, given)

/** @returns the SHA-256 of the text's UTF-8 bytes as 64 lowercase hexadecimal digits */
export const sha256Hex = (text: string): string => load().digest(text)

/**
 * node:crypto is loaded by its first use: that takes longer than all of `campaign-client/webhook`. Any absolute path will
 * do for what is built in; `process.getBuiltinModule` is there from 20.16 only. And `createRequire` is not imported by
 * its name, which many a bundle declares in its own first line.
 */
function load(): Loaded {
  loaded ??= over(nodeModule.createRequire('/')('node:crypto'))
  return loaded
}

/** Nothing secret may reach the pool of Node's small buffers, where `Buffer.from` and keys given as text would leave it. */
function over({ hash, createHash, createHmac, timingSafeEqual }: Crypto): Loaded {
  const whole: Hmac = (key, message) =>
    createHmac('sha256', typeof key === 'string' ? new TextEncoder().encode(key) : key)
      .update(message)
      .digest('hex')
  const a = new Uint8Array(64)
  const b = new Uint8Array(64)
  return {
    // Node has `hash` from 20.12; other runtimes' node:crypto may not.
    hmac: hash
      ? hmacInOnePiece(
          // As text of one-byte characters, a digest crosses from native code cheapest.
          (message, target) => write(hash('sha256', message, 'binary'), target),
          (message) => hash('sha256', message),
          whole,
        )
      : whole,
    equal(expected, given) {
      write(expected, a)
      write(given, b)
      return timingSafeEqual(a, b)
    },
    digest: (text) => createHash('sha256').update(text).digest('hex'),
  }
}

/** Writes text of one-byte characters to the start of the target. */
function write(text: string, target: Uint8Array): void {
  // Stryker disable next-line EqualityOperator: one past its end, a typed array takes nothing
  for (let i = 0; i < text.length; i++) target[i] = text.charCodeAt(i)
}
