import { createHmac } from 'node:crypto'
import { createContext, runInContext } from 'node:vm'
import fc from 'fast-check'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { BUILDS, loadWebhook, type Webhook } from '../builds.ts'

const SECRET = 'whsec_Zm9vYmFy'
const BODY = '{"id":"m-1","user":"Zoë 漢字 😀"}'
const WARNED = Symbol.for('campaign-client.parsed-body')

const sign = (key: string | Uint8Array, body: string | Uint8Array): string =>
  createHmac('sha256', key).update(body).digest('hex')

/** Allows a value of any type as an argument. */
const anyType = (value: unknown): never => value as never

const textOf = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return typeof value
  }
}

/** Values of the wrong type that callers may pass. */
const WRONG_VALUES: [name: string, value: unknown][] = [
  ['a number', 1],
  ['NaN', Number.NaN],
  ['a bigint', 1n],
  ['true', true],
  ['a symbol', Symbol('s')],
  ['a function', () => '{}'],
  ['a plain object', { id: 'm-1' }],
  ['an object without a prototype', Object.create(null)],
  ['an array of numbers', [1, 2]],
  ['a String object', new String(BODY)],
  ['a Date', new Date(0)],
  ['a Map', new Map()],
  ['a promise', Promise.resolve(BODY)],
  ['a DataView', new DataView(new ArrayBuffer(4))],
  ['a Uint16Array', new Uint16Array(4)],
  ['a SharedArrayBuffer', new SharedArrayBuffer(4)],
  ['an object that claims to be bytes', { [Symbol.toStringTag]: 'Uint8Array', length: 1, byteLength: 1, 0: 1 }],
  ['an object with the prototype of bytes', Object.create(Uint8Array.prototype)],
  ['an object with the prototype of an ArrayBuffer', Object.create(ArrayBuffer.prototype)],
  ['a proxy of bytes', new Proxy(new Uint8Array(4), {})],
  ['a proxy of an ArrayBuffer', new Proxy(new ArrayBuffer(4), {})],
]

describe.each(BUILDS)('%s build', (build) => {
  let webhook: Webhook
  beforeAll(async () => {
    webhook = await loadWebhook(build)
  })
  beforeEach(() => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
    Reflect.deleteProperty(globalThis, WARNED)
  })

  describe('signWebhook', () => {
    test('returns the HMAC-SHA256 in lowercase hexadecimal', () => {
      expect(webhook.signWebhook(SECRET, BODY)).toBe(sign(SECRET, BODY))
      expect(webhook.signWebhook(SECRET, BODY)).toMatch(/^[0-9a-f]{64}$/)
    })

    test('accepts the same bodies and secrets as verifyWebhook', () => {
      const bytes = new TextEncoder().encode(BODY)
      const key = new TextEncoder().encode(SECRET)
      for (const body of [BODY, bytes, Buffer.from(bytes), bytes.slice().buffer]) {
        expect(webhook.signWebhook(SECRET, body)).toBe(sign(SECRET, BODY))
        expect(webhook.signWebhook(key, body)).toBe(sign(SECRET, BODY))
        expect(webhook.signWebhook([SECRET], body)).toBe(sign(SECRET, BODY))
      }
    })

    test('refuses a list of several secrets', () => {
      expect(() => webhook.signWebhook([SECRET, 'other'], BODY)).toThrow(TypeError)
      expect(() => webhook.signWebhook([SECRET, 'other'], BODY)).toThrow(/one secret; got a list of 2/)
    })

    test.each([...WRONG_VALUES, ['undefined', undefined], ['null', null]])('refuses %s as a body', (_, body) => {
      expect(() => webhook.signWebhook(SECRET, anyType(body))).toThrow(TypeError)
      expect(() => webhook.signWebhook(SECRET, anyType(body))).toThrow(/rawBody must be a string/)
    })
  })

  describe('verifyWebhook: the body', () => {
    test('accepts text, bytes, a Buffer, a view with an offset and an ArrayBuffer', () => {
      const bytes = new TextEncoder().encode(BODY)
      const padded = new Uint8Array(bytes.length + 16)
      padded.set(bytes, 5)
      class Frame extends Uint8Array {}
      const signature = sign(SECRET, BODY)
      const forms = [
        BODY,
        bytes,
        Buffer.from(BODY),
        padded.subarray(5, 5 + bytes.length),
        Buffer.from(padded.buffer, 5, bytes.length),
        Frame.from(bytes),
        bytes.slice().buffer,
      ]
      for (const form of forms) {
        expect(webhook.verifyWebhook(SECRET, form, signature)).toBe(true)
        expect(webhook.verifyWebhook('other', form, signature)).toBe(false)
      }
      expect(webhook.verifyWebhook(SECRET, padded, signature)).toBe(false)
    })

    test('accepts bytes of another realm', () => {
      const sandbox = createContext({ BODY: [...Buffer.from(BODY)] })
      const [bytes, buffer, secret] = runInContext(
        `class Frame extends Uint8Array {}
         [new Frame(BODY), new Uint8Array(BODY).buffer, new Uint8Array([1, 2, 3])]`,
        sandbox,
      )
      const key = new Uint8Array([1, 2, 3])
      expect(bytes).not.toBeInstanceOf(Uint8Array)
      for (const body of [bytes, buffer]) {
        expect(webhook.verifyWebhook(secret, body, sign(key, BODY))).toBe(true)
        expect(webhook.verifyWebhook(secret, body, sign(SECRET, BODY))).toBe(false)
      }
    })

    test('hashes an empty body', () => {
      expect(webhook.verifyWebhook(SECRET, '', sign(SECRET, ''))).toBe(true)
      expect(webhook.verifyWebhook(SECRET, new Uint8Array(), sign(SECRET, ''))).toBe(true)
      expect(webhook.verifyWebhook(SECRET, '', sign(SECRET, ' '))).toBe(false)
    })

    test.each([...WRONG_VALUES, ['undefined', undefined], ['null', null]])('is false for %s', (_, body) => {
      expect(webhook.verifyWebhook(SECRET, anyType(body), sign(SECRET, BODY))).toBe(false)
      expect(webhook.verifyWebhook(SECRET, anyType(body), sign(SECRET, ''))).toBe(false)
    })

    test('is false for any other JavaScript value', () => {
      fc.assert(
        fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }), (value) => {
          fc.pre(typeof value !== 'string')
          // The signature belongs to its text form.
          expect(webhook.verifyWebhook(SECRET, anyType(value), sign(SECRET, textOf(value)))).toBe(false)
        }),
      )
    })
  })

  describe('verifyWebhook: the header', () => {
    const signature = sign(SECRET, BODY)

    test('accepts one value, or a list of one value', () => {
      expect(webhook.verifyWebhook(SECRET, BODY, signature)).toBe(true)
      expect(webhook.verifyWebhook(SECRET, BODY, [signature])).toBe(true)
      expect(webhook.verifyWebhook(SECRET, BODY, Object.freeze([signature]))).toBe(true)
    })

    test.each<[string, unknown]>([
      ['undefined', undefined],
      ['null', null],
      ['an empty string', ''],
      ['an empty list', []],
      ['upper case', signature.toUpperCase()],
      ['one upper-case digit', signature.replace(/[a-f]/, (digit) => digit.toUpperCase())],
      ['a prefix', `sha256=${signature}`],
      ['base64', Buffer.from(signature, 'hex').toString('base64')],
      ['white space before', ` ${signature}`],
      ['white space after', `${signature} `],
      ['a line break after', `${signature}\n`],
      ['one missing digit', signature.slice(1)],
      ['one extra digit', `${signature}0`],
      ['digits on each side of a line break', `${signature}\n${signature}`],
      ['a letter that is not a hexadecimal digit', `g${signature.slice(1)}`],
      ['full-width digits', signature.replace(/[0-9]/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
      [
        'characters whose low byte is the expected digit',
        [...signature].map((digit) => String.fromCharCode(digit.charCodeAt(0) + 0x100)).join(''),
      ],
      ['two values', [signature, signature]],
      ['two joined values', `${signature}, ${signature}`],
      ['a list of a list', [[signature]]],
      ['a list with a hole', new Array(1)],
      ['a list of bytes', [Buffer.from(signature)]],
      ['bytes', Buffer.from(signature)],
      ['an array-like object', { 0: signature, length: 1 }],
      ['a String object', new String(signature)],
      ['an object with toString', { toString: () => signature }],
      ...WRONG_VALUES,
      ...WRONG_VALUES.map(([name, value]): [string, unknown] => [`a list of ${name}`, [value]]),
    ])('is false for %s', (_, header) => {
      expect(webhook.verifyWebhook(SECRET, BODY, anyType(header))).toBe(false)
    })

    test('is false for any other JavaScript value', () => {
      fc.assert(
        fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withMap: true }), (value) => {
          expect(webhook.verifyWebhook(SECRET, BODY, anyType(value))).toBe(false)
        }),
      )
    })

    test('is true only for the 64 digits of the signature', () => {
      const digit = fc.constantFrom(...'0123456789abcdef')
      fc.assert(
        fc.property(fc.array(digit, { minLength: 64, maxLength: 64 }), (digits) => {
          expect(webhook.verifyWebhook(SECRET, BODY, digits.join(''))).toBe(digits.join('') === signature)
        }),
      )
    })
  })

  describe('verifyWebhook: the secret', () => {
    test('accepts a secret as text and as its UTF-8 bytes', () => {
      const secret = 'schlüssel 漢'
      const bytes = new TextEncoder().encode(secret)
      for (const form of [secret, bytes, Buffer.from(bytes), [secret], [bytes], Object.freeze([secret])]) {
        expect(webhook.verifyWebhook(form, BODY, sign(secret, BODY))).toBe(true)
        expect(webhook.verifyWebhook(form, BODY, sign('schlussel', BODY))).toBe(false)
      }
    })

    test('accepts each secret of a list of up to five', () => {
      const secrets = ['s0', new Uint8Array([1]), 's2', 's3', 's4']
      for (const secret of secrets) {
        expect(webhook.verifyWebhook(secrets, BODY, sign(secret, BODY))).toBe(true)
        expect(
          webhook.verifyWebhook(
            secrets.filter((other) => other !== secret),
            BODY,
            sign(secret, BODY),
          ),
        ).toBe(false)
      }
    })

    test('tries every secret, even after a match', async () => {
      const hmac = await import('../../../src/webhook/crypto.portable.ts')
      const hmacSha256Hex = vi.fn(hmac.hmacSha256Hex)
      const constantTimeEqual = vi.fn(hmac.constantTimeEqual)
      vi.resetModules()
      vi.doMock('#crypto', () => ({ hmacSha256Hex, constantTimeEqual }))
      const { verifyWebhook, safeParseWebhook } = await import('campaign-client/webhook')
      vi.doUnmock('#crypto')
      for (const secret of ['a', 'b', 'c', 'none of these']) {
        hmacSha256Hex.mockClear()
        constantTimeEqual.mockClear()
        expect(verifyWebhook(['a', 'b', 'c'], BODY, sign(secret, BODY))).toBe(secret.length === 1)
        expect(hmacSha256Hex.mock.calls.map(([key]) => key).sort()).toEqual(['a', 'b', 'c'])
        expect(constantTimeEqual).toHaveBeenCalledTimes(3)
      }
      expect(safeParseWebhook(['b', 'a', 'a'], BODY, sign('a', BODY))).toMatchObject({ ok: true, secretIndex: 1 })
    })

    test('uses the current bytes of a secret that was changed in place', () => {
      const secret = new Uint8Array(32).fill(1)
      const signature = sign(secret, BODY)
      expect(webhook.verifyWebhook(secret, BODY, signature)).toBe(true)
      secret[31] = 2
      expect(webhook.verifyWebhook(secret, BODY, signature)).toBe(false)
      expect(webhook.verifyWebhook(secret, BODY, sign(secret, BODY))).toBe(true)
    })

    const unusable: [name: string, secret: unknown, message: RegExp][] = [
      ['undefined', undefined, /got undefined/],
      ['null', null, /got null/],
      ['an empty string', '', /got an empty value/],
      ['empty bytes', new Uint8Array(), /got an empty value/],
      ['an empty list', [], /got a list of 0/],
      ['a list of six', Array(6).fill(SECRET), /got a list of 6/],
      ['a list with an empty string', [SECRET, ''], /got an empty value/],
      ['a list with empty bytes', [new Uint8Array(), SECRET], /got an empty value/],
      ['a list with undefined', [SECRET, undefined], /got undefined/],
      ['a list with a hole', Object.assign(new Array(2), { 0: SECRET }), /got undefined/],
      ['a list in a list', [[SECRET]], /got object/],
      ['an ArrayBuffer', new ArrayBuffer(8), /got object/],
      ['an array of 16-bit numbers', new Uint16Array(8), /got object/],
      ['a promise', Promise.resolve(SECRET), /got object/],
      ['a number', 12345678, /got number/],
      ['a function', () => SECRET, /got function/],
      ['a symbol', Symbol(SECRET), /got symbol/],
    ]

    test.each(unusable)('throws for %s, with any other arguments', (_, secret, message) => {
      const bodies = [BODY, { id: 'm-1' }, undefined]
      const headers = [sign(SECRET, BODY), undefined, 'nonsense']
      for (const body of bodies) {
        for (const header of headers) {
          const calls = [
            () => webhook.verifyWebhook(anyType(secret), anyType(body), header),
            () => webhook.safeParseWebhook(anyType(secret), anyType(body), header),
            () => webhook.parseWebhook(anyType(secret), anyType(body), header),
            () => webhook.diagnoseWebhook(anyType(secret), anyType(body), header),
            () => webhook.signWebhook(anyType(secret), anyType(body)),
          ]
          for (const call of calls) {
            expect(call).toThrow(TypeError)
            expect(call).toThrow(message)
            expect(call).toThrow(/^secret must be a non-empty string or Uint8Array, or a list of 1 to 5/)
          }
        }
      }
      expect(process.emitWarning).not.toHaveBeenCalled()
    })

    test('never shows the secret in an error', () => {
      for (const secret of [
        [SECRET, ''],
        Array(6).fill(SECRET),
        [SECRET, 7],
        [[SECRET]],
        Object.assign(() => SECRET, { SECRET }),
      ]) {
        let thrown: unknown
        try {
          webhook.verifyWebhook(anyType(secret), BODY, 'x')
        } catch (error) {
          thrown = error
        }
        expect(thrown).toBeInstanceOf(TypeError)
        expect(`${(thrown as Error).message}${JSON.stringify(thrown)}`).not.toContain(SECRET)
      }
    })
  })

  describe('verifyWebhook: the warning about a parsed body', () => {
    const PARSED = { id: 'm-1' }

    test('is emitted once per process, even with several copies of the package', async () => {
      expect(webhook.verifyWebhook(SECRET, anyType(PARSED), 'x')).toBe(false)
      expect(process.emitWarning).toHaveBeenCalledTimes(1)
      expect(process.emitWarning).toHaveBeenCalledWith(
        expect.stringMatching(/^verifyWebhook: pass the raw body.*not a parsed one.*express\.raw/),
      )
      expect(webhook.verifyWebhook(SECRET, anyType(PARSED), 'x')).toBe(false)
      const copy = await loadWebhook(build)
      expect(copy).not.toBe(webhook)
      expect(copy.verifyWebhook(SECRET, anyType([PARSED]), undefined)).toBe(false)
      expect(process.emitWarning).toHaveBeenCalledTimes(1)
    })

    test('is emitted only for a parsed body, even without a header', () => {
      for (const body of [BODY, new Uint8Array(3), new ArrayBuffer(3), undefined, null, 1, true]) {
        expect(webhook.verifyWebhook(SECRET, anyType(body), 'x')).toBe(false)
      }
      expect(webhook.verifyWebhook(SECRET, BODY, anyType(PARSED))).toBe(false)
      expect(process.emitWarning).not.toHaveBeenCalled()
      expect(webhook.verifyWebhook(SECRET, anyType(PARSED), undefined)).toBe(false)
      expect(process.emitWarning).toHaveBeenCalledTimes(1)
    })

    test('is not emitted by safeParseWebhook, which returns the reason', () => {
      expect(webhook.safeParseWebhook(SECRET, anyType(PARSED), 'x')).toEqual({ ok: false, reason: 'body_not_raw' })
      expect(process.emitWarning).not.toHaveBeenCalled()
    })

    test.each([
      ['no process', undefined],
      ['a process that cannot warn', {}],
    ])('is written to the console when there is %s', (_, process) => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
      vi.stubGlobal('process', process)
      expect(webhook.verifyWebhook(SECRET, anyType(PARSED), 'x')).toBe(false)
      expect(webhook.verifyWebhook(SECRET, anyType(PARSED), 'x')).toBe(false)
      vi.unstubAllGlobals()
      expect(warn).toHaveBeenCalledTimes(1)
      expect(warn).toHaveBeenCalledWith(expect.stringContaining('raw body'))
    })
  })

  describe('properties', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 })
    const secrets = bytes.filter((secret) => secret.some((byte) => byte !== 0))
    const flipped = (data: Uint8Array, bit: number): Uint8Array => {
      const copy = Uint8Array.from(data)
      const at = bit % (data.length * 8)
      copy[at >> 3] = (copy[at >> 3] as number) ^ (1 << (at & 7))
      return copy
    }

    test('a flipped bit of any body, signature or secret is refused', () => {
      fc.assert(
        fc.property(secrets, bytes, fc.nat(), (secret, body, bit) => {
          const signature = webhook.signWebhook(secret, body)
          expect(webhook.verifyWebhook(secret, body, signature)).toBe(true)
          expect(webhook.verifyWebhook(secret, flipped(body, bit), signature)).toBe(false)
          const forged = Buffer.from(flipped(Buffer.from(signature, 'hex'), bit)).toString('hex')
          expect(webhook.verifyWebhook(secret, body, forged)).toBe(false)
          // HMAC pads keys with zeros. Both keys have the same length, so they stay different.
          const wrong = flipped(secret, bit)
          fc.pre(wrong.some((byte) => byte !== 0))
          expect(webhook.verifyWebhook(wrong, body, signature)).toBe(false)
        }),
      )
    })

    test('a secret of only zero bytes is unusable: its signatures are those of an empty key', () => {
      for (const secret of [new Uint8Array(1), new Uint8Array(100), '\0\0', ['good', new Uint8Array(8)]]) {
        expect(() => webhook.verifyWebhook(secret, BODY, sign('', BODY))).toThrow(/only zero bytes/)
      }
      expect(webhook.verifyWebhook(Uint8Array.of(0, 1), BODY, sign(Buffer.of(0, 1), BODY))).toBe(true)
    })
  })
})
