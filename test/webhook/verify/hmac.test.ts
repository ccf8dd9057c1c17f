import * as crypto from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { BUILDS, loadHmac } from '../builds.ts'

const reference = (key: string | Uint8Array, message: string | Uint8Array): string =>
  crypto.createHmac('sha256', key).update(message).digest('hex')

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + 1) & 0xff)

/** Any UTF-16 unit: most texts of them have a lone surrogate. */
const utf16Unit = fc.nat(0xffff).map((unit) => String.fromCharCode(unit))

const data = (maxLength: number): fc.Arbitrary<string | Uint8Array> =>
  fc.oneof(
    fc.uint8Array({ maxLength }),
    fc.string({ unit: utf16Unit, maxLength }),
    fc.string({ unit: 'grapheme', maxLength }),
  )

/** Both sides of the block of SHA-256 and of the longest message hashed in one piece, in bytes and in UTF-16 units. */
const KEYS = [1, 20, 21, 22, 63, 64, 65, 128, 192, 193].flatMap((length) => [
  bytesOf(length),
  'k'.repeat(length),
  '漢'.repeat(length),
])
const MESSAGES = [0, 1, 55, 56, 63, 64, 65, 1000, 16_384, 16_385, 49_152, 49_153, 100_000].flatMap((length) => [
  bytesOf(length),
  'm'.repeat(length),
  '漢'.repeat(length),
])

describe.each(BUILDS)('HMAC-SHA256, %s build', (build) => {
  test('agrees with createHmac at every boundary of keys and messages', async () => {
    const { hmacSha256Hex } = await loadHmac(build)
    for (const key of KEYS) {
      // In ascending and descending length: what one call leaves behind must not reach the next.
      for (const message of [...MESSAGES.slice(0, 24), ...MESSAGES.slice(0, 24).reverse()]) {
        expect(hmacSha256Hex(key, message)).toBe(reference(key, message))
      }
    }
    for (const message of MESSAGES) expect(hmacSha256Hex('key', message)).toBe(reference('key', message))
    for (const key of [bytesOf(100_000), 'k'.repeat(100_000)]) expect(hmacSha256Hex(key, 'm')).toBe(reference(key, 'm'))
  })

  test('hashes text as UTF-8', async () => {
    const { sha256Hex } = await loadHmac(build)
    for (const text of ['', 'm'.repeat(1000), '漢'.repeat(64)]) {
      expect(sha256Hex(text)).toBe(crypto.createHash('sha256').update(text).digest('hex'))
    }
  })

  test('agrees with createHmac for any key and message, one after another', async () => {
    const { hmacSha256Hex } = await loadHmac(build)
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
    const { hmacSha256Hex } = await loadHmac(build)
    expect(hmacSha256Hex('key', text)).toBe(reference('key', wellFormed))
    expect(hmacSha256Hex(text, 'm')).toBe(reference(wellFormed, 'm'))
  })

  test('reads a view at its own offset and length', async () => {
    const { hmacSha256Hex } = await loadHmac(build)
    const whole = bytesOf(300)
    expect(hmacSha256Hex(whole.subarray(7, 27), whole.subarray(100, 200))).toBe(
      reference(whole.slice(7, 27), whole.slice(100, 200)),
    )
  })

  test('reads the real bytes of a view that lies about its length', async () => {
    const { hmacSha256Hex } = await loadHmac(build)
    const body = Object.defineProperties(bytesOf(100), {
      length: { value: 1 },
      byteLength: { value: 1 },
      byteOffset: { value: 50 },
    })
    expect(hmacSha256Hex('key', body)).toBe(reference('key', bytesOf(100)))
  })

  test('changes neither the key nor the message', async () => {
    const { hmacSha256Hex } = await loadHmac(build)
    const [key, message] = [bytesOf(64), bytesOf(100)]
    hmacSha256Hex(key, message)
    expect([key, message]).toEqual([bytesOf(64), bytesOf(100)])
  })

  test('sees a key that is changed in place', async () => {
    const { hmacSha256Hex } = await loadHmac(build)
    const key = bytesOf(32)
    const before = hmacSha256Hex(key, 'm')
    key.fill(9)
    expect(hmacSha256Hex(key, 'm')).toBe(reference(new Uint8Array(32).fill(9), 'm'))
    expect(hmacSha256Hex(bytesOf(32), 'm')).toBe(before)
  })

  test('tells digests that differ in any one character from equal ones', async () => {
    const { equalDigests } = await loadHmac(build)
    const digest = reference('key', 'message')
    expect(equalDigests(digest, `${digest}`)).toBe(true)
    for (let i = 0; i < 64; i++) {
      const other = digest[i] === '0' ? '1' : '0'
      const changed = digest.slice(0, i) + other + digest.slice(i + 1)
      expect(equalDigests(digest, changed)).toBe(false)
      expect(equalDigests(changed, digest)).toBe(false)
      expect(equalDigests(changed, changed)).toBe(true)
    }
  })
})

describe('the node build', () => {
  afterEach(() => {
    vi.doUnmock('node:module')
    vi.resetModules()
  })

  async function withCrypto(replaced: Partial<typeof crypto>) {
    vi.resetModules()
    vi.doMock('node:module', () => ({ default: { createRequire: () => () => ({ ...crypto, ...replaced }) } }))
    return import('../../../src/webhook/verify/hmac.node.ts')
  }

  test('works where node:crypto has no one-shot hash (Node before 20.12)', async () => {
    const createHmac = vi.fn(crypto.createHmac)
    const { hmacSha256Hex } = await withCrypto({ hash: undefined as never, createHmac: createHmac as never })
    for (const message of MESSAGES) expect(hmacSha256Hex('key', message)).toBe(reference('key', message))
    expect(createHmac).toHaveBeenCalledTimes(MESSAGES.length)
  })

  test.each([
    ['a message of 16 384 bytes', bytesOf(64), bytesOf(16_384), 0],
    ['a message of 16 384 units', 'k'.repeat(64), '漢'.repeat(16_384), 0],
    ['one byte more', 'key', bytesOf(16_385), 1],
    ['one unit more', 'key', 'm'.repeat(16_385), 1],
    ['a key longer than a block', bytesOf(65), 'm', 1],
    ['a key of few units and many bytes', '漢'.repeat(22), 'm', 1],
  ])('hashes in one piece only what fits: %s', async (_, key, message, streams) => {
    const createHmac = vi.fn(crypto.createHmac)
    const { hmacSha256Hex } = await withCrypto({ createHmac: createHmac as never })
    expect(hmacSha256Hex(key, message)).toBe(reference(key, message))
    expect(createHmac).toHaveBeenCalledTimes(streams)
  })

  test('keeps nothing of a key after its use, also when hashing fails', async () => {
    const seen: Uint8Array[] = []
    let fail = false
    const hash = (algorithm: string, input: Uint8Array, encoding: 'hex') => {
      seen.push(new Uint8Array(input.buffer))
      if (fail) throw new Error('no memory')
      return crypto.hash(algorithm, input, encoding)
    }
    const { hmacSha256Hex } = await withCrypto({ hash: hash as never })
    const residue = () => seen.map((memory) => memory.some((byte) => byte !== 0))

    // Without a message and without digests, all that memory ever holds is the key.
    expect(hmacSha256Hex('k'.repeat(64), '')).toBe(reference('k'.repeat(64), ''))
    expect(seen.length).toBe(2)
    expect(seen[0]?.some((byte) => byte !== 0)).toBe(false)
    expect(seen[1]?.subarray(0, 64).some((byte) => byte !== 0)).toBe(false)

    hmacSha256Hex('漢'.repeat(64), '')
    expect(seen[0]?.some((byte) => byte !== 0)).toBe(false)

    fail = true
    expect(() => hmacSha256Hex('secret', '')).toThrow('no memory')
    fail = false
    expect(residue()[0]).toBe(false)
    expect(hmacSha256Hex('s', 'm')).toBe(reference('s', 'm'))
  })

  test('leaves neither key nor digest in the memory that small buffers share', async () => {
    const { hmacSha256Hex, equalDigests } = await withCrypto({})
    // Made here and now: the pool holds the text of source files as well.
    const key = crypto.randomBytes(40).toString('hex')
    const long = key + key
    const pool = () => Buffer.from(Buffer.allocUnsafe(8).buffer).toString('latin1')
    const known = crypto.randomBytes(20).toString('hex')
    Buffer.from(known)
    expect(pool()).toContain(known)
    for (const secret of [key, long]) {
      for (const message of ['short', 'm'.repeat(20_000)]) {
        const digest = hmacSha256Hex(secret, message)
        expect(equalDigests(digest, '0'.repeat(64))).toBe(false)
        expect(pool()).not.toContain(digest)
      }
      expect(pool()).not.toContain(secret)
    }
  })

  test('compares with timingSafeEqual', async () => {
    const timingSafeEqual = vi.fn(crypto.timingSafeEqual)
    const { equalDigests } = await withCrypto({ timingSafeEqual: timingSafeEqual as never })
    expect(equalDigests('a'.repeat(64), 'a'.repeat(64))).toBe(true)
    expect(timingSafeEqual).toHaveBeenCalledTimes(1)
  })
})
