import { CampaignError } from 'campaign-client'
import {
  DiscardEvent,
  parseWebhook,
  parseWebhookBody,
  safeParseWebhook,
  verifyWebhook,
  WebhookError,
  type WebhookErrorCode,
  type WebhookResult,
} from 'campaign-client/webhook'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { activity, SECRET, sign } from '../signed-message.ts'

const parseText = (body: string | Uint8Array) => parseWebhook(SECRET, body, sign(body))
const parse = (message: unknown) => parseText(JSON.stringify(message))
const safeParse = (body: string | Uint8Array): WebhookResult => safeParseWebhook(SECRET, body, sign(body))

describe('a signed message is refused only for three reasons', () => {
  const utf8 = (...bytes: number[]): Uint8Array =>
    Uint8Array.from([...Buffer.from('{"id":"'), ...bytes, ...Buffer.from('"}')])

  test.each<[string, string | Uint8Array]>([
    ['a continuation byte without a start byte', utf8(0x80)],
    ['a truncated sequence', utf8(0xe6, 0xbc)],
    ['an overlong form', utf8(0xc0, 0xaf)],
    ['a surrogate in bytes', utf8(0xed, 0xa0, 0x80)],
    ['UTF-16', Buffer.from('\ufeff{"id":"1"}', 'utf16le')],
    ['text with a lone surrogate', '{"id":"\ud800"}'],
  ])('not UTF-8: %s', (_, body) => {
    expect(safeParse(body)).toEqual({ ok: false, reason: 'invalid_utf8' })
  })

  test('UTF-8 sequences of every length are decoded', () => {
    const id = 'é漢😀\u0000\uffff\ufffd'
    const body = JSON.stringify({ id })
    expect(parseText(body).id).toBe(id)
    expect(parseText(Buffer.from(body)).id).toBe(id)
    expect(parseText('{"id":"\\ud800"}').id).toBe('\ud800')
  })

  test.each([
    '',
    ' ',
    '{"id":"1"',
    "{'id':'1'}",
    '{"id":"1"}}',
    '{"id":"1"}\0',
    'undefined',
    'NaN',
    '\ufeff\ufeff{"id":"1"}',
  ])('not JSON: %j', (body) => {
    expect(safeParse(body)).toEqual({ ok: false, reason: 'invalid_json' })
    expect(safeParse(Buffer.from(body))).toEqual({ ok: false, reason: 'invalid_json' })
  })

  const nested = (levels: number, inner: string): string => {
    // The object is level 1.
    const [open, close] = ['[', ']'].map((bracket) => bracket.repeat(levels - 1))
    return `{"id":"1","a":${open}${inner}${close}}`
  }

  test.each(['1', '"__proto__"'])('1 000 levels of nesting around %s are accepted, and 1 001 are refused', (inner) => {
    expect(safeParse(nested(1000, inner))).toMatchObject({ ok: true, event: { id: '1' } })
    expect(safeParse(nested(1001, inner))).toEqual({ ok: false, reason: 'invalid_json' })
    expect(safeParse(nested(100_000, inner))).toEqual({ ok: false, reason: 'invalid_json' })
  })

  test('a key __proto__ counts as one level', () => {
    const keyed = (levels: number) => `{"id":"1","a":${'{"__proto__":'.repeat(levels - 1)}1${'}'.repeat(levels - 1)}}`
    expect(safeParse(keyed(1000))).toMatchObject({ ok: true, event: { payload: { a: {} } } })
    expect(safeParse(keyed(1001))).toEqual({ ok: false, reason: 'invalid_json' })
  })

  test.each(['{"id":"1"}', ' {"id":"1"}\r\n', '\ufeff{"id":"1"}'])('accepted as JSON: %j', (body) => {
    expect(parseText(body).id).toBe('1')
    expect(parseText(Buffer.from(body)).id).toBe('1')
  })

  test.each([
    '{}',
    '{"id":""}',
    '{"id":null}',
    '{"id":7}',
    '{"id":["x"]}',
    '{"ID":"x"}',
    '{"__proto__":{"id":"x"}}',
    '{"event":{"id":"x"}}',
    '[]',
    '[{"id":"x"}]',
    'null',
    'true',
    '7',
    '"id"',
  ])('no id: %s', (body) => {
    expect(safeParse(body)).toEqual({ ok: false, reason: 'missing_id' })
    expect(safeParse(Buffer.from(body))).toEqual({ ok: false, reason: 'missing_id' })
  })
})

describe('a field named __proto__ is harmless', () => {
  test.each([
    '"__proto__"',
    '"\\u005f_proto__"',
    '"__pr\\u006fto__"',
    '"\\u005F\\u005f\\u0070\\u0072\\u006F\\u0074\\u006f\\u005f\\u005f"',
  ])('written as %s', (name) => {
    const event = parseText(`{"id":"x",${name}:{"polluted":1},"deep":[{${name}:{"polluted":1},"kept":1}]}`)
    expect(event.payload).toEqual({ id: 'x', deep: [{ kept: 1 }] })
    expect(Object.hasOwn(event.payload, '__proto__')).toBe(false)
    expect(Object.getPrototypeOf(event.payload)).toBe(Object.prototype)
    expect(Object.assign({}, event.payload)).not.toHaveProperty('polluted')
    expect({}).not.toHaveProperty('polluted')
  })

  test('a value __proto__ is kept', () => {
    const message = { id: '__proto__', note: 'say "__proto__"', list: ['__proto__', '\\u005f_proto__'], prototype: 1 }
    expect(parse(message).payload).toEqual(message)
  })
})

describe('parseWebhookBody', () => {
  test.each([activity(), { id: 'm', scope: 'user_login' }, activity({ user: null, xp_mul: '1' })])(
    'returns the event of parseWebhook, and needs no signature: %j',
    (message) => {
      const body = JSON.stringify(message)
      const bytes = new TextEncoder().encode(body)
      for (const rawBody of [body, bytes, bytes.buffer]) expect(parseWebhookBody(rawBody)).toEqual(parse(message))
    },
  )

  test.each<[WebhookErrorCode, unknown]>([
    ['body_not_raw', { id: 'x' }],
    ['body_not_raw', undefined],
    ['invalid_utf8', new Uint8Array([0xff])],
    ['invalid_json', '{'],
    ['missing_id', '{}'],
  ])('throws a WebhookError with the code %s', (code, rawBody) => {
    expect(() => parseWebhookBody(rawBody as string)).toThrow(WebhookError)
    expect(() => parseWebhookBody(rawBody as string)).toThrow(expect.objectContaining({ code }))
  })
})

describe('refused messages', () => {
  const body = JSON.stringify({ id: 'x' })
  const cases: [WebhookErrorCode, number, unknown, unknown][] = [
    ['missing_signature', 401, body, undefined],
    ['missing_signature', 401, body, null],
    ['missing_signature', 401, body, ''],
    ['missing_signature', 401, body, []],
    ['missing_signature', 401, body, ['']],
    ['malformed_signature', 401, body, sign(body).toUpperCase()],
    ['malformed_signature', 401, body, `sha256=${sign(body)}`],
    ['malformed_signature', 401, body, [sign(body), sign(body)]],
    ['malformed_signature', 401, body, 7],
    ['signature_mismatch', 401, body, sign(`${body} `)],
    ['signature_mismatch', 401, `${body} `, sign(body)],
    ['body_not_raw', 500, { id: 'x' }, sign(body)],
    ['body_not_raw', 500, undefined, sign(body)],
    ['body_not_raw', 500, { id: 'x' }, undefined],
    ['invalid_utf8', 400, new Uint8Array([0xff]), sign(new Uint8Array([0xff]))],
    ['invalid_json', 400, '{', sign('{')],
    ['missing_id', 400, '{}', sign('{}')],
  ]

  test.each(cases)('%s has status %i', (code, status, rawBody, header) => {
    expect(safeParseWebhook(SECRET, rawBody as string, header as string)).toEqual({ ok: false, reason: code })
    let thrown: unknown
    try {
      parseWebhook(SECRET, rawBody as string, header as string)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(WebhookError)
    expect(thrown).toBeInstanceOf(CampaignError)
    expect(thrown).toMatchObject({ name: 'WebhookError', code, status })
    expect((thrown as Error).message).not.toBe('')
  })

  test('a body is not parsed before its signature is verified', () => {
    expect(safeParseWebhook(SECRET, '{', sign('{', 'other'))).toEqual({ ok: false, reason: 'signature_mismatch' })
  })

  test('an error contains no secret, signature or body', () => {
    const seen: string[] = []
    for (const [, , rawBody, header] of [...cases, ['', 0, '{"id":"x","email":"zoe@example.com"}', 'f'.repeat(64)]]) {
      try {
        parseWebhook(SECRET, rawBody as string, header as string)
      } catch (error) {
        seen.push(`${error}${JSON.stringify(error)}${JSON.stringify(Object.getOwnPropertyNames(error))}`)
      }
    }
    expect(seen).toHaveLength(cases.length + 1)
    for (const text of seen) expect(text).not.toMatch(/whsec|zoe@|[0-9a-f]{64}/i)
  })

  test('verifyWebhook returns true for a signed message with invalid content, and false for the others', () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    onTestFinished(() => void vi.restoreAllMocks())
    for (const [code, , rawBody, header] of cases) {
      const verified = verifyWebhook(SECRET, rawBody as string, header as string)
      expect(verified).toBe(/^(invalid|missing_id)/.test(code))
    }
  })
})

describe('secretIndex', () => {
  const body = JSON.stringify(activity())

  test('is the index of the secret that signed the message, or the first index of equal secrets', () => {
    expect(safeParseWebhook('new', body, sign(body, 'new'))).toMatchObject({ ok: true, secretIndex: 0 })
    expect(safeParseWebhook(['new'], body, sign(body, 'new'))).toMatchObject({ ok: true, secretIndex: 0 })
    expect(safeParseWebhook(['new', 'old'], body, sign(body, 'new'))).toMatchObject({ ok: true, secretIndex: 0 })
    expect(safeParseWebhook(['new', 'old'], body, sign(body, 'old'))).toMatchObject({ ok: true, secretIndex: 1 })
    expect(safeParseWebhook(['new', 'old', 'old'], body, sign(body, 'old'))).toMatchObject({ secretIndex: 1 })
    expect(safeParseWebhook(['new', 'old'], body, sign(body, 'x'))).toEqual({ ok: false, reason: 'signature_mismatch' })
  })
})

describe('error classes', () => {
  test('DiscardEvent has its reason and its cause', () => {
    const cause = new Error('gone')
    const error = new DiscardEvent('an unknown campaign', { cause })
    expect(error).toBeInstanceOf(DiscardEvent)
    expect(error).toBeInstanceOf(CampaignError)
    expect(error).not.toBeInstanceOf(WebhookError)
    expect(error).toMatchObject({ name: 'DiscardEvent', code: 'discard_event', cause })
    expect(error.message).toBe('an unknown campaign')
    expect(new DiscardEvent().message).not.toBe('')
    expect(new DiscardEvent()).not.toHaveProperty('cause')
  })

  test('WebhookError has its message, and can be serialized', () => {
    const error = new WebhookError('body_not_raw', 'express.json() has parsed it')
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'WebhookError',
      message: 'express.json() has parsed it',
      code: 'body_not_raw',
      status: 500,
    })
    expect(error).not.toBeInstanceOf(DiscardEvent)
  })
})
