import * as crypto from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { BUILDS, loadCrypto } from '../builds.ts'

const reference = (key: string | Uint8Array, message: string | Uint8Array): string =>
  crypto.createHmac('sha256', key).update(message).digest('hex')

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + 1) & 0xff)

/** Any UTF-16 code unit, so that most texts contain a lone surrogate. */
const utf16Unit = fc.nat(0xffff).map((unit) => String.fromCharCode(unit))

const data = (maxLength: number): fc.Arbitrary<string | Uint8Array> =>
  fc.oneof(
    fc.uint8Array({ maxLength }),
    fc.string({ unit: utf16Unit, maxLength }),
    fc.string({ unit: 'grapheme', maxLength }),
  )

/** Lengths around the 64-byte block of SHA-256. */
const KEYS = [1, 20, 21, 22, 63, 64, 65, 128].flatMap((length) => [
  bytesOf(length),
  'k'.repeat(length),
  '漢'.repeat(length),
])
const MESSAGES = [0, 1, 55, 56, 63, 64, 65, 1000, 100_000].flatMap((length) => [
  bytesOf(length),
  'm'.repeat(length),
  '漢'.repeat(length),
])

describe.each(BUILDS)('HMAC-SHA256, %s build', (build) => {
  test('equals createHmac for keys and messages around the block size', async () => {
    const { hmacSha256Hex } = await loadCrypto(build)
    for (const key of KEYS) {
      for (const message of MESSAGES) expect(hmacSha256Hex(key, message)).toBe(reference(key, message))
    }
    for (const key of [bytesOf(100_000), 'k'.repeat(100_000)]) expect(hmacSha256Hex(key, 'm')).toBe(reference(key, 'm'))
  })

  test('hashes text as UTF-8', async () => {
    const { sha256Hex } = await loadCrypto(build)
    for (const text of ['', 'm'.repeat(1000), '漢'.repeat(64)]) {
      expect(sha256Hex(text)).toBe(crypto.createHash('sha256').update(text).digest('hex'))
    }
  })

  test('equals createHmac for any key and message', async () => {
    const { hmacSha256Hex } = await loadCrypto(build)
    fc.assert(
      fc.property(data(200), data(400), (key, message) => {
        fc.pre(key.length > 0)
        expect(hmacSha256Hex(key, message)).toBe(reference(key, message))
      }),
    )
  })

  test.each([
    ['\ud800', '\ufffd'],
    ['a\udc00b', 'a\ufffdb'],
    ['\udc00\ud800', '\ufffd\ufffd'],
    ['é\ud83d', 'é\ufffd'],
    ['\ud83d\ude00\ude00', '\ud83d\ude00\ufffd'],
  ])('hashes a lone surrogate as U+FFFD: %j', async (text, wellFormed) => {
    const { hmacSha256Hex } = await loadCrypto(build)
    expect(hmacSha256Hex('key', text)).toBe(reference('key', wellFormed))
    expect(hmacSha256Hex(text, 'm')).toBe(reference(wellFormed, 'm'))
  })

  test('hashes only the bytes of a view, not its whole buffer', async () => {
    const { hmacSha256Hex } = await loadCrypto(build)
    const whole = bytesOf(300)
    expect(hmacSha256Hex(whole.subarray(7, 27), whole.subarray(100, 200))).toBe(
      reference(whole.slice(7, 27), whole.slice(100, 200)),
    )
  })

  test('changes neither the key nor the message', async () => {
    const { hmacSha256Hex } = await loadCrypto(build)
    const [key, message] = [bytesOf(64), bytesOf(100)]
    hmacSha256Hex(key, message)
    expect([key, message]).toEqual([bytesOf(64), bytesOf(100)])
  })

  test('detects a difference in any character of a digest', async () => {
    const { constantTimeEqual } = await loadCrypto(build)
    const digest = reference('key', 'message')
    expect(constantTimeEqual(digest, `${digest}`)).toBe(true)
    for (let i = 0; i < 64; i++) {
      const other = digest[i] === '0' ? '1' : '0'
      const changed = digest.slice(0, i) + other + digest.slice(i + 1)
      expect(constantTimeEqual(digest, changed)).toBe(false)
      expect(constantTimeEqual(changed, digest)).toBe(false)
      expect(constantTimeEqual(changed, changed)).toBe(true)
    }
  })
})

test('the node build compares with timingSafeEqual', async () => {
  const timingSafeEqual = vi.fn(crypto.timingSafeEqual)
  vi.resetModules()
  vi.doMock('node:crypto', () => ({ ...crypto, timingSafeEqual }))
  const { constantTimeEqual } = await loadCrypto('node')
  vi.doUnmock('node:crypto')
  vi.resetModules()
  expect(constantTimeEqual('a'.repeat(64), 'a'.repeat(64))).toBe(true)
  expect(timingSafeEqual).toHaveBeenCalledTimes(1)
})
