import { CampaignError } from 'campaign-client'
import {
  DiscardEvent,
  parseWebhook,
  safeParseWebhook,
  verifyWebhook,
  WebhookError,
  type WebhookErrorCode,
  type WebhookResult,
} from 'campaign-client/webhook'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { wordsOf } from '../../shared/words-of.ts'
import { activity, SECRET, sign } from '../signed-message.ts'

type Fields = Record<string, unknown>

const parseText = (body: string | Uint8Array) => parseWebhook(SECRET, body, sign(body))
const parse = (message: unknown) => parseText(JSON.stringify(message))
const safeParse = (body: string | Uint8Array): WebhookResult => safeParseWebhook(SECRET, body, sign(body))

/** Returns the message with another value at `path`. `undefined` removes the field. */
function withField(message: Fields, path: string, value: unknown): Fields {
  const [name, ...rest] = path.split('.') as [string, ...string[]]
  return { ...message, [name]: rest.length ? withField(message[name] as Fields, rest.join('.'), value) : value }
}

const questCompleted = (data: unknown = {}): Fields => activity({ event: { type: 'quest_completed', data } })

/** The message of the Test button of the admin panel. It has every documented field. */
const TEST_MESSAGE = activity({
  user_id: 'u-1',
  wallet: '0x52908400098527886E0F7030069857D2E4169EE7',
  email: 'zoe@example.com',
  team: 'red',
  event: {
    type: 'action_completed',
    data: {
      account: 'zoe',
      action: { id: 'a-1', name: 'Follow', type: 'social', meta: { url: 'https://example.com' } },
      xp: 10,
    },
  },
})

describe('known messages', () => {
  test('a completed task has its kind, and the whole message as its payload', () => {
    for (const message of [activity(), TEST_MESSAGE]) {
      const event = parse(message)
      expect(event).toEqual({
        kind: 'action_completed',
        id: message.id,
        scope: 'user_activity',
        type: 'action_completed',
        payload: message,
      })
      if (event.kind !== 'action_completed') throw new Error('unreachable')
      expect(event.payload.event.data.action.name).toBe('Follow')
    }
  })

  test.each<[string, unknown]>([
    ['nothing', {}],
    ['the data of a completed task', { action: { id: 'a-1', name: 'Follow', type: 'social' }, xp: 10, account: 'zoe' }],
    ['other fields', { quest: { id: 'q-1' }, xp: 50 }],
  ])('a completed quest may have %s as its data', (_, data) => {
    const message = questCompleted(data)
    expect(parse(message)).toEqual({
      kind: 'quest_completed',
      id: message.id,
      scope: 'user_activity',
      type: 'quest_completed',
      payload: message,
    })
  })

  test.each<[path: string, value: unknown]>([
    ['user_id', undefined],
    ['team', undefined],
    ['event.data.account', undefined],
    ['event.data.action.meta', undefined],
    ['event.data.action.meta', null],
    ['event.data.action.meta', {}],
    ['wallet', ''],
    ['email', ''],
    ['total_xp', 0],
    ['rank', -1.5],
    ['xp_mul', 1e300],
  ])('%s may be %j', (path, value) => {
    expect(parse(withField(TEST_MESSAGE, path, value)).kind).toBe('action_completed')
  })

  test('unknown fields are kept, at every depth', () => {
    let message: Fields = TEST_MESSAGE
    for (const path of ['new', 'campaign.new', 'event.new', 'event.data.new', 'event.data.action.new']) {
      message = withField(message, path, { kept: [1, null] })
    }
    const event = parse(message)
    expect(event.kind).toBe('action_completed')
    expect(event.payload).toEqual(message)
  })
})

describe('a message of an unknown type or shape is unknown, and not an error', () => {
  const fields = {
    string: ['user', 'wallet', 'email', 'campaign.id', 'campaign.name'],
    number: ['total_xp', 'ref_xp', 'ugc_xp', 'xp_mul', 'rank'],
    object: ['campaign', 'event.data'],
  }
  const taskFields = {
    string: ['event.data.action.id', 'event.data.action.name', 'event.data.action.type'],
    number: ['event.data.xp'],
    object: ['event.data.action'],
  }
  const wrongValues = {
    string: [undefined, null, 1, {}],
    number: [undefined, null, '1'],
    object: [undefined, null, 'x', []],
  }
  const optional: [string, unknown[]][] = [
    ['user_id', [null, 1]],
    ['team', [null, 1]],
    ['event.data.account', [null, 1]],
  ]

  function* invalidFields(...groups: Partial<typeof fields>[]): Generator<[path: string, value: unknown]> {
    for (const group of groups) {
      for (const [type, paths] of Object.entries(group)) {
        for (const path of paths) for (const value of wrongValues[type as keyof typeof wrongValues]) yield [path, value]
      }
    }
    for (const [path, values] of optional) for (const value of values) yield [path, value]
  }

  test.each([...invalidFields(fields, taskFields), ['event.data.action.meta', 'x'], ['event.data.action.meta', []]])(
    'a completed task with %s: %j',
    (path, value) => {
      const message = withField(TEST_MESSAGE, path as string, value)
      expect(parse(message)).toEqual({
        kind: 'unknown',
        id: message.id,
        scope: 'user_activity',
        type: 'action_completed',
        payload: JSON.parse(JSON.stringify(message)),
      })
    },
  )

  test.each([
    ...invalidFields(fields),
    ['event.data.xp', '10'],
    ['event.data.xp', null],
    ['event.data.action', 'a-1'],
    ['event.data.action', null],
    ['event.data.action.id', 1],
    ['event.data.action.meta', 1],
  ])('a completed quest with %s: %j', (path, value) => {
    const whole = withField(TEST_MESSAGE, 'event.type', 'quest_completed')
    expect(parse(whole).kind).toBe('quest_completed')
    expect(parse(withField(whole, path as string, value))).toMatchObject({ kind: 'unknown', type: 'quest_completed' })
  })

  test.each<[string, Fields, Fields]>([
    ['another scope', { scope: 'user_reward' }, { scope: 'user_reward', type: 'action_completed' }],
    ['no scope', { scope: undefined }, { type: 'action_completed' }],
    ['a scope that is not a string', { scope: 7 }, { type: 'action_completed' }],
    ['no event', { event: undefined }, { scope: 'user_activity' }],
    ['an event that is null', { event: null }, { scope: 'user_activity' }],
    ['an event that is a list', { event: [] }, { scope: 'user_activity' }],
    [
      'an event without data',
      { event: { type: 'quest_completed' } },
      { scope: 'user_activity', type: 'quest_completed' },
    ],
    ['a future type', { event: { type: 'level_up', data: {} } }, { scope: 'user_activity', type: 'level_up' }],
    [
      'a future type with the data of a completed task',
      { event: { ...(TEST_MESSAGE.event as Fields), type: 'action_reverted' } },
      { scope: 'user_activity', type: 'action_reverted' },
    ],
    ['a type that is not a string', { event: { type: 7, data: {} } }, { scope: 'user_activity' }],
    ['a type named like a method', { event: { type: 'toString' } }, { scope: 'user_activity', type: 'toString' }],
  ])('%s', (_, changed, expected) => {
    const message = JSON.parse(JSON.stringify(activity(changed)))
    expect(parse(message)).toEqual({ kind: 'unknown', id: message.id, ...expected, payload: message })
  })

  test.each(['xp', 'total_xp', 'xp_mul', 'rank'])('a known type whose %s is not finite', (field) => {
    const text = JSON.stringify(activity()).replace(new RegExp(`"${field}":[^,}]+`), `"${field}":1e400`)
    expect(text).toContain('1e400')
    expect(parseText(text)).toMatchObject({ kind: 'unknown', scope: 'user_activity', type: 'action_completed' })
  })

  test('a message with only an id', () => {
    expect(parse({ id: 'x' })).toEqual({ kind: 'unknown', id: 'x', payload: { id: 'x' } })
  })

  test('any JSON object with an id parses, and keeps all its fields', () => {
    const json = fc.jsonValue()
    const shape = fc.record(
      { scope: fc.oneof(json, fc.constant('user_activity')), event: json, campaign: json, user: json },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), shape, (id, fields) => {
        const message = JSON.parse(JSON.stringify({ ...fields, id }))
        // A test below covers the name __proto__.
        fc.pre(!JSON.stringify(message).includes('"__proto__":'))
        const event = parse(message)
        expect(event.id).toBe(id)
        expect(JSON.stringify(event.payload)).toBe(JSON.stringify(message))
      }),
    )
  })
})

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
    expect(wordsOf(error)).toBe('an unknown campaign')
    expect(new DiscardEvent().message).not.toBe('')
    expect(new DiscardEvent()).not.toHaveProperty('cause')
  })

  test('WebhookError has its message, and can be serialized', () => {
    const error = new WebhookError('body_not_raw', 'express.json() has parsed it')
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'WebhookError',
      message: 'express.json() has parsed it (docs/error-codes.md#body_not_raw)',
      code: 'body_not_raw',
      status: 500,
    })
    expect(error).not.toBeInstanceOf(DiscardEvent)
  })
})
