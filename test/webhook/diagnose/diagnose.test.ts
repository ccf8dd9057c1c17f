import { diagnoseWebhook, type FindingCode, verifyWebhook } from 'campaign-client/webhook'
import fc from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { BUILDS, loadWebhook, type Webhook } from '../builds.ts'
import { sign as signature } from '../signed-message.ts'

const SECRET = 'whsec_3Vf9qkT0a1'
const MESSAGE = { id: 'm-1', user: 'Zoë <z&z>', url: 'https://example.com/a', rank: 1, tags: ['a', {}], none: null }
const BODY = JSON.stringify(MESSAGE)

const sign = (body: string | Uint8Array, secret: string | Uint8Array = SECRET): string =>
  signature(body, secret as string)

const codes = (secret: unknown, body: unknown, header: unknown): FindingCode[] =>
  diagnoseWebhook(secret as string, body as string, header as string).map(({ code }) => code)

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
})

describe('a message that verifies', () => {
  test('has no finding', () => {
    expect(codes(SECRET, BODY, sign(BODY))).toEqual([])
    expect(codes([SECRET, 'old'], Buffer.from(BODY), [sign(BODY)])).toEqual([])
  })

  test('has other_secret_matches when a later secret of the list signed it', () => {
    expect(codes(['new', SECRET], BODY, sign(BODY))).toEqual(['other_secret_matches'])
    expect(codes(['new', 'old'], BODY, sign(BODY))).toEqual(['unexplained'])
  })
})

describe('the header', () => {
  const correct = sign(BODY)
  const base64 = Buffer.from(correct, 'hex').toString('base64')

  test.each<[string, unknown, FindingCode[]]>([
    ['undefined', undefined, ['missing_signature']],
    ['null', null, ['missing_signature']],
    ['empty', '', ['missing_signature']],
    ['an empty list', [], ['missing_signature']],
    ['upper case', correct.toUpperCase(), ['uppercase_signature']],
    ['a prefix', `sha256=${correct}`, ['prefixed_signature']],
    ['a prefix with a colon', `HMAC-SHA256: ${correct}`, ['prefixed_signature']],
    ['0x', `0x${correct}`, ['prefixed_signature']],
    ['base64', base64, ['base64_signature']],
    ['base64url without padding', Buffer.from(correct, 'hex').toString('base64url'), ['base64_signature']],
    ['a prefix and base64', `sha256=${base64}`, ['prefixed_signature', 'base64_signature']],
    ['a prefix and upper case', `SHA256=${correct.toUpperCase()}`, ['prefixed_signature', 'uppercase_signature']],
    ['two values', [correct, correct], ['malformed_signature']],
    ['white space and quotation marks', ` "${correct}"`, ['malformed_signature']],
    ['two joined values', `${correct}, ${sign('x')}`, ['malformed_signature']],
    ['one digit short', correct.slice(0, 63), ['malformed_signature']],
    ['the value of another header', 'application/json', ['malformed_signature']],
    ['a number', 7, ['malformed_signature']],
    ['an object', { 0: correct }, ['malformed_signature']],
  ])('(%s) has the expected findings', (_, header, expected) => {
    expect(codes(SECRET, BODY, header)).toEqual(expected)
  })

  test('a signature of another message is unexplained', () => {
    expect(codes(SECRET, BODY, `sha256=${sign('x')}`)).toEqual(['prefixed_signature', 'unexplained'])
    expect(codes(SECRET, BODY, sign('x'))).toEqual(['unexplained'])
  })
})

describe('the body', () => {
  test.each<[string, signed: string | Uint8Array, received: unknown, FindingCode[]]>([
    ['parsed', BODY, MESSAGE, ['parsed_body']],
    ['parsed, of a message with unusual spaces', '{ "id" :"m-1"}', { id: 'm-1' }, ['parsed_body']],
    ['an array', '[1]', [1], ['parsed_body']],
    ['an object that was converted to text', BODY, '[object Object]', ['parsed_body']],
    ['a number', '7', 7, ['parsed_body']],
    ['undefined', BODY, undefined, ['missing_body']],
    ['null', BODY, null, ['missing_body']],
    ['empty text', BODY, '', ['missing_body']],
    ['empty bytes', BODY, new Uint8Array(), ['missing_body']],
    ['with two spaces, parsed and serialized again', JSON.stringify(MESSAGE, null, 2), BODY, ['reserialized_body']],
    [
      'written by Python',
      '{"id": "m-1", "tags": ["a", {}], "name": "Zo\\u00eb", "x": null}',
      '{"id":"m-1","tags":["a",{}],"name":"Zoë","x":null}',
      ['reserialized_body'],
    ],
    ['written by PHP', '{"id":"m-1","url":"https:\\/\\/x"}', '{"id":"m-1","url":"https://x"}', ['reserialized_body']],
    [
      'written by Go',
      '{"id":"m-1","name":"\\u003ca\\u0026b\\u003e"}\n',
      '{"id":"m-1","name":"<a&b>"}',
      ['reserialized_body'],
    ],
    ['indented after signing', BODY, JSON.stringify(MESSAGE, null, 2), ['reserialized_body']],
    ['base64', BODY, Buffer.from(BODY).toString('base64'), ['base64_body']],
    ['read as Latin-1', BODY, Buffer.from(BODY).toString('latin1'), ['wrong_charset']],
    ['with replacement characters', BODY, Buffer.from(BODY, 'latin1').toString('utf8'), ['wrong_charset']],
    [
      'read as Latin-1 and written as UTF-8',
      BODY,
      Buffer.from(Buffer.from(BODY).toString('latin1')),
      ['wrong_charset'],
    ],
    ['without its line break', `${BODY}\n`, BODY, ['stripped_newline']],
    ['without its CR LF', `${BODY}\r\n`, Buffer.from(BODY), ['stripped_newline']],
    ['with a line break', BODY, `${BODY}\n`, ['added_newline']],
    ['without its byte order mark', `\ufeff${BODY}`, BODY, ['stripped_bom']],
    ['with a byte order mark', BODY, `\ufeff${BODY}`, ['added_bom']],
    ['with the bytes of a byte order mark', BODY, Buffer.from(`\ufeff${BODY}`), ['added_bom']],
    [
      'saved on Windows, with a byte order mark and a line break',
      BODY,
      `\ufeff${BODY}\r\n`,
      ['added_bom', 'added_newline'],
    ],
    [
      'indented, with a byte order mark',
      BODY,
      `\ufeff${JSON.stringify(MESSAGE, null, 2)}`,
      ['added_bom', 'reserialized_body'],
    ],
    ['altered', BODY, BODY.replace('m-1', 'm-2'), ['unexplained']],
    ['altered, and not UTF-8', BODY, new Uint8Array([0xff, 0xfe]), ['unexplained']],
    ['altered, and not JSON', BODY, 'not JSON', ['unexplained']],
  ])('(%s) has the expected findings', (_, signed, received, expected) => {
    expect(verifyWebhook(SECRET, signed, sign(signed))).toBe(true)
    expect(verifyWebhook(SECRET, received as string, sign(signed))).toBe(false)
    expect(codes(SECRET, received, sign(signed))).toEqual(expected)
  })

  test('a body of many byte order marks is unexplained', () => {
    expect(codes(SECRET, '\ufeff'.repeat(20_000), sign(BODY))).toEqual(['unexplained'])
  })

  test('signed replacement characters are not a finding', () => {
    const body = '{"id":"\ufffd"}'
    expect(codes(` ${SECRET}`, body, sign(body))).toEqual(['secret_whitespace'])
  })

  test('a parsed body that JSON cannot represent is a finding', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    for (const body of [cycle, { id: 1n }, () => BODY, Symbol('body')]) {
      expect(codes(SECRET, body, sign(BODY))).toEqual(['parsed_body'])
    }
  })
})

describe('the secret', () => {
  test.each<[string, real: string | Uint8Array, received: unknown, FindingCode[]]>([
    ['a line break after it', SECRET, `${SECRET}\n`, ['secret_whitespace']],
    ['spaces around it', SECRET, `  ${SECRET}\t`, ['secret_whitespace']],
    ['quotation marks', SECRET, `"${SECRET}"`, ['quoted_secret']],
    ['single quotation marks and a line break', SECRET, `'${SECRET}'\n`, ['secret_whitespace', 'quoted_secret']],
    ['bytes of a file that ends with a line break', SECRET, Buffer.from(`${SECRET}\n`), ['secret_whitespace']],
    ['bytes of a Windows file', SECRET, Buffer.from(`\ufeff${SECRET}\r\n`), ['secret_whitespace']],
    ['bytes of a text in quotation marks', SECRET, Buffer.from(`"${SECRET}"`), ['quoted_secret']],
    [
      'bytes of a text in quotation marks with a line break',
      SECRET,
      Buffer.from(`'${SECRET}'\n`),
      ['secret_whitespace', 'quoted_secret'],
    ],
    [
      'the second secret of a list, with a line break',
      SECRET,
      ['new', `${SECRET}\n`],
      ['secret_whitespace', 'other_secret_matches'],
    ],
    ['a comment of an env file', SECRET, `${SECRET} # production`, ['secret_comment']],
    ['quotation marks and a comment', SECRET, `"${SECRET}" # old`, ['secret_comment', 'quoted_secret']],
    ['the name of its variable', SECRET, `CAMPAIGN_WEBHOOK_SECRET=${SECRET}`, ['secret_assignment']],
    ['a line of YAML', SECRET, `secret: ${SECRET}\n`, ['secret_whitespace', 'secret_assignment']],
    [
      'a line of a shell script',
      SECRET,
      `export CAMPAIGN_WEBHOOK_SECRET='${SECRET}' # old`,
      ['secret_assignment', 'secret_comment', 'quoted_secret'],
    ],
    ['a zero-width space', SECRET, `${SECRET}\u200b`, ['invisible_characters']],
    [
      'invisible characters and a line break',
      SECRET,
      `\u2060${SECRET.slice(0, 4)}\u00ad${SECRET.slice(4)}\n`,
      ['secret_whitespace', 'invisible_characters'],
    ],
    ['base64 of it', SECRET, Buffer.from(SECRET).toString('base64'), ['base64_secret']],
    [
      'base64 of it and of a line break',
      SECRET,
      `${Buffer.from(`${SECRET}\n`).toString('base64')}\n`,
      ['secret_whitespace', 'base64_secret'],
    ],
    ['decoded hexadecimal digits', '00ff10', Buffer.from('00ff10', 'hex'), ['decoded_secret']],
    ['decoded base64', 'c2VjcmV0', 'secret', ['decoded_secret']],
    ["a line break in the sender's secret", `${SECRET}\n`, SECRET, ['sender_secret_newline']],
    ["a CR LF in the sender's secret", `${SECRET}\r\n`, Buffer.from(SECRET), ['sender_secret_newline']],
    ['another secret', SECRET, 'other', ['unexplained']],
    ['only white space', SECRET, ' \n', ['unexplained']],
    ['only quotation marks', SECRET, '""', ['unexplained']],
  ])('(%s) has the expected findings', (_, real, received, expected) => {
    expect(verifyWebhook(real, BODY, sign(BODY, real))).toBe(true)
    expect(codes(received, BODY, sign(BODY, real))).toEqual(expected)
  })

  test('white space inside the registered secret is not a finding', () => {
    const secret = ' spaced '
    expect(codes(secret, BODY, sign(BODY, secret))).toEqual([])
  })
})

describe('several causes', () => {
  test('are all found, in the order header, body, secret', () => {
    const header = `sha256=${sign(`${BODY}\n`).toUpperCase()}`
    expect(codes(`${SECRET}\n`, BODY, header)).toEqual([
      'prefixed_signature',
      'uppercase_signature',
      'stripped_newline',
      'secret_whitespace',
    ])
    expect(codes([`${SECRET} `], MESSAGE, sign(BODY))).toEqual(['parsed_body', 'secret_whitespace'])
  })

  test('are not found when one cause explains the signature', () => {
    // A reserialized body would also explain the signature.
    expect(codes(SECRET, `${BODY}\n`, sign(BODY))).toEqual(['added_newline'])
  })
})

describe('any input', () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })

  test('never throws, and has a finding whenever verifyWebhook returns false', () => {
    fc.assert(
      fc.property(anything, anything, (body, header) => {
        expect(verifyWebhook(SECRET, body as string, header as string)).toBe(false)
        expect(codes(SECRET, body, header)).not.toEqual([])
        expect(codes(SECRET, body, sign('another body'))).not.toEqual([])
        expect(codes(SECRET, BODY, header)).not.toEqual([])
      }),
    )
  })

  test.each([
    ['text', 'k'.repeat(200_000)],
    ['bytes', new Uint8Array(200_000).fill(65)],
    ['white space', `${' '.repeat(200_000)}x`],
    ['quotes', '"'.repeat(200_000)],
    ['assignments', 'x=\n'.repeat(70_000)],
  ])('a secret of 200 kB of %s is checked in linear time', (_, secret) => {
    const header = sign(BODY, Buffer.concat([Buffer.from(secret as string), Buffer.from('\n')]))
    expect(codes(secret, BODY, header)).toEqual(['sender_secret_newline'])
    expect(codes(secret, BODY, sign(BODY))).toEqual(['unexplained'])
  })

  test('a finding suggests a fix, and contains no secret, signature or body', () => {
    const seen = new Map<string, string>()
    const bodies = [BODY, MESSAGE, `${BODY}\n`, `\ufeff${BODY}`, undefined, 'zoe@example.com']
    const headers = [sign(BODY), sign(BODY).toUpperCase(), `sha256=${sign(BODY)}`, undefined, 'nonsense']
    const encoded = Buffer.from(SECRET).toString('base64')
    const secrets = [`${SECRET}\n`, `${SECRET} # old`, `KEY=${SECRET}`, `${SECRET}\u200b`, encoded, 'other']
    for (const secret of [SECRET, ...secrets]) {
      for (const body of bodies) {
        for (const header of headers) {
          for (const { code, message } of diagnoseWebhook(secret, body as string, header)) seen.set(code, message)
        }
      }
    }
    expect(seen.size).toBeGreaterThan(8)
    for (const [code, message] of seen) {
      expect(message, code).toMatch(/\b(?:pass|check|find|read|remove|decode|use|do not|was it replaced)\b/i)
      expect(message, code).not.toMatch(/3Vf9|m-1|Zoë|zoe@|[0-9a-f]{64}/i)
    }
  })
})

describe.each(BUILDS)('%s build', (build) => {
  let webhook: Webhook
  beforeEach(async () => {
    webhook = await loadWebhook(build)
  })

  test('finds the same causes', () => {
    expect(webhook.diagnoseWebhook(`${SECRET}\n`, MESSAGE as never, sign(BODY)).map(({ code }) => code)).toEqual([
      'parsed_body',
      'secret_whitespace',
    ])
  })
})
