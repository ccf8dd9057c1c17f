import type { ClientRequest } from 'node:http'
import { Agent } from 'node:https'
import { format, inspect } from 'node:util'
import {
  AccessTokenError,
  type AccessTokenSource,
  CampaignClient,
  type CampaignClientOptions,
  CampaignError,
  type ClientHooks,
  NetworkError,
  TransportError,
} from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Failure } from '../../src/call/failure.ts'
import { excerpt, partsOf, redact, safeCause } from '../../src/call/redact.ts'
import { AccessTokens } from '../../src/call/tokens.ts'
import { BASE_URL, clientWith, json, rejection } from '../client/stub-service.ts'
import { lost, respond, type Step, scriptedFetch } from './scripted-fetch.ts'
import { scriptedTransports } from './scripted-transports.ts'

const part = (value: object) => Buffer.from(json(value)).toString('base64url')
const OPAQUE = 'opaque+token/8f2c41=='
const JWT = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: 'partner', exp: 4_000_000_000 })}.c2lnbmF0dXJl-_x`
/** Contains characters that JSON escapes. */
const SECRET = 'hook"secret\\with/odd\u007fcharacters'
/** Texts that must not appear: the secrets, and the first 12 characters of each. */
const HIDDEN_TEXTS = [OPAQUE, SECRET, JSON.stringify(SECRET).slice(1, -1), JWT, JWT.slice(22)].flatMap((text) => [
  text,
  text.slice(0, 12),
])

const tokens: [string, string | AccessTokenSource][] = [
  ['an opaque token', OPAQUE],
  ['a JWT', JWT],
  ['a source of opaque tokens', () => OPAQUE],
  ['a source of JWTs', async () => ` ${JWT}\n`],
]

/** Returns all text that a logger or a debugger can get from a value. */
function everythingOf(value: unknown): string {
  const texts: string[] = [
    inspect(value, { showHidden: true, depth: Infinity, getters: true, maxStringLength: null, maxArrayLength: null }),
    inspect(value, { depth: Infinity, showProxy: true }),
    format('%s %o %O %j', value, value, value, value),
    String(JSON.stringify(value)),
  ]
  const seen = new Set<unknown>()
  const visit = (at: unknown): void => {
    if (typeof at === 'string' || typeof at === 'symbol') texts.push(String(at))
    if ((typeof at !== 'object' && typeof at !== 'function') || at === null || seen.has(at)) return
    seen.add(at)
    texts.push(Object.prototype.toString.call(at))
    for (const key of Reflect.ownKeys(at)) {
      texts.push(String(key))
      visit(Reflect.get(at, key))
    }
    // Skip the prototypes: they contain code.
    if (at instanceof Error) texts.push(String(at), `${at.stack}`)
  }
  visit(value)
  return texts.join('\n')
}

function expectNoSecretIn(value: unknown): void {
  const shown = everythingOf(value)
  for (const hidden of HIDDEN_TEXTS) expect(shown.includes(hidden), `${hidden} in ${shown}`).toBe(false)
}

const WEBHOOK = { scope: 'user_activity', url: 'https://partner.example/hook', secret: SECRET }
const register = (options: Partial<CampaignClientOptions>) => rejection(clientWith(options).registerWebhook(WEBHOOK))

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.restoreAllMocks()
})

describe('the test helper everythingOf', () => {
  it.each([
    ['a field', { token: OPAQUE }],
    ['a hidden field', Object.defineProperty({}, 'token', { value: OPAQUE })],
    ['a symbol', { [Symbol('t')]: { deep: [OPAQUE] } }],
    ['a getter', Object.defineProperty({}, 'token', { get: () => OPAQUE, enumerable: true })],
    ['a cause', new Error('a', { cause: new Error('b', { cause: new Error(OPAQUE) }) })],
    ['a header', new Headers({ authorization: OPAQUE })],
  ])('includes %s', (_, value) => {
    expect(everythingOf(value)).toContain(OPAQUE)
  })
})

describe.each(scriptedTransports())('over $name', ({ name, script }) => {
  const isFetch = name === 'fetch'
  /** Removes the headers that a Node server refuses and a `Response` accepts. */
  const sendable = (headers: Record<string, string>): Record<string, string> =>
    isFetch ? headers : Object.fromEntries(Object.entries(headers).filter(([, value]) => /^[ -~]*$/.test(value)))

  describe.each(tokens)('with %s', (_, accessToken) => {
    it('a client does not contain the token, before or after use', async () => {
      const { via, sent } = script(respond(200, { success: true, data: { used_by: [] } }))
      class Mine extends CampaignClient {}
      for (const Class of [CampaignClient, Mine]) {
        const client = new Class({ baseUrl: BASE_URL, accessToken, ...via })
        expectNoSecretIn(client)
        await client.getInviteCode({ code: 'c', pid: 'demo' })
        expectNoSecretIn(client)
        expect(Reflect.ownKeys(client)).toEqual([])
      }
      expect(HIDDEN_TEXTS).toContain(sent[0]?.authorization.slice('Bearer '.length))
    })

    const quotes = ({ authorization, body }: Parameters<Step>[0]): string[] => [
      authorization,
      authorization.slice('Bearer '.length),
      `you sent ${authorization}, and ${body}`,
      `Authorization%3A%20${authorization}`,
      `token=${authorization.slice('Bearer '.length)}&x`,
      `secret is ${SECRET}.`,
      `${body}`,
      `${'x'.repeat(280)} ${authorization.slice('Bearer '.length)}`,
    ]

    it.each([200, 400, 401, 500])('the error of a %i that quotes the request shows no secret', async (status) => {
      for (let index = 0; index < 8; index++) {
        const bodies = [
          (text: string) => ({ success: true, error: { code: status === 200 ? 400 : status, message: text } }),
          (text: string) => ({ success: false, error: text }),
          (text: string) => ({ success: false, error: { code: text, message: { text } }, [text]: text }),
          (text: string) => ({ success: text, data: { [text]: text } }),
        ]
        for (const body of bodies) {
          const { via, sent } = script((request) => {
            const text = quotes(request)[index] as string
            const headers = { 'x-request-id': text, server: text, 'retry-after': text, 'x-token': text }
            return Response.json(body(text), { status, headers: sendable(headers) })
          })
          const error = await register({ accessToken, ...via })
          expect(error).toBeInstanceOf(CampaignError)
          expectNoSecretIn(error)
          expect(sent).toHaveLength(1)
        }
      }
    })

    it('the error of a response that contains the token does not show it', async () => {
      for (const text of [`<h1>${JWT} ${OPAQUE} ${SECRET}</h1>`, json({ success: true, data: OPAQUE })]) {
        const { via } = script(() => new Response(text))
        const client = clientWith({ accessToken, ...via })
        expectNoSecretIn(await rejection(client.updateUser({ account: 'a', platform: 'p', pid: 'd' })))
      }
    })

    it('hooks do not get the token', async () => {
      const events: unknown[] = []
      const collect = (event: unknown) => events.push(event)
      const hooks: ClientHooks = {
        onRequest: collect,
        onResponse: collect,
        onRetry: collect,
        onInvalidResponse: collect,
      }
      const quoting =
        (status: number, body: (text: string) => unknown): Step =>
        (request) => {
          const text = quotes(request)[2] as string
          return Response.json(body(text), { status, headers: sendable({ 'x-request-id': text, 'set-cookie': text }) })
        }
      const failing: Step = ({ authorization }) => {
        throw Object.assign(new Error(authorization, { cause: new Error(authorization) }), { authorization })
      }
      const { via } = script(
        quoting(503, (message) => ({ success: true, error: { code: 503, message } })),
        isFetch ? failing : lost,
        quoting(200, (text) => ({ success: true, data: { used_by: text } })),
      )
      const client = clientWith({ accessToken, ...via, hooks, maxRetries: 2, responseValidation: 'report' })
      await client.getInviteCode({ code: 'c', pid: 'demo' })
      // Three onRequest, two onResponse, two onRetry and one onInvalidResponse.
      expect(events).toHaveLength(3 + 2 + 2 + 1)
      for (const event of events) expectNoSecretIn(event)
    })
  })
})

type Thrower = (request: Request, text: string) => unknown
const throwers: [string, Thrower][] = [
  [
    'an error with the request in its fields',
    (request) => Object.assign(new Error('failed'), { request, response: { request } }),
  ],
  ['an error with the secrets in its message', (_, text) => new TypeError(`could not send ${text}`)],
  ['an error with the secrets in its name', (_, text) => Object.assign(new Error('failed'), { name: text })],
  [
    'an error with the secrets in its code',
    (_, text) => Object.assign(new Error('failed'), { code: text, syscall: text }),
  ],
  [
    'an error whose code is the token',
    (request) => Object.assign(new Error('failed'), { code: request.headers.get('authorization')?.slice(7) }),
  ],
  [
    'an error with the secrets in its stack',
    (_, text) => Object.assign(new Error('failed'), { stack: `Error: failed\n    at ${text}` }),
  ],
  [
    'a chain of causes with the secrets',
    (request, text) =>
      new Error('a', { cause: new Error(text, { cause: Object.assign(new Error(text), { request }) }) }),
  ],
  ['an AggregateError with the secrets', (request, text) => new AggregateError([new Error(text), request], text)],
  [
    'an error with the secrets in its property names',
    (_, text) => Object.assign(new Error('failed'), { [text]: 1, [Symbol(text)]: text, toJSON: () => text }),
  ],
  [
    'an error whose getters return the secrets',
    (_, text) =>
      Object.defineProperties(new Error('failed'), {
        message: { get: () => text },
        note: { get: () => text, enumerable: true },
      }),
  ],
  ['an object', (request, text) => ({ message: text, request })],
  ['the request', (request) => request],
  ['a string', (_, text) => text],
  ['a symbol', (_, text) => Symbol(text)],
  ['an object that cannot be converted to a string', (_, text) => ({ toString: () => ({}), message: { text } })],
]

function expectCopiesOnly(error: unknown): void {
  // The causes are copies of the thrown errors with these fields only.
  for (let cause = (error as Error).cause; cause !== undefined; cause = (cause as Error).cause) {
    expect(Object.getPrototypeOf(cause)).toBe(Error.prototype)
    for (const key of Reflect.ownKeys(cause as Error)) {
      expect(['name', 'message', 'stack', 'code', 'cause', 'errors']).toContain(key)
    }
  }
}

/** What a thrower is called with: the request, and a text with all its secrets. */
const thrownFor = async (thrower: Thrower, input: Parameters<typeof fetch>[0], init: RequestInit | undefined) => {
  const request = new Request(input, init)
  const body = await request.clone().text()
  return thrower(request, `${request.headers.get('authorization')} ${body} ${SECRET}`)
}

/** The places at which a foreign value is thrown. */
const places: [string, (thrower: Thrower) => Partial<CampaignClientOptions>, object][] = [
  [
    'fetch throws',
    (thrower) => ({
      fetch: async (input, init) => {
        throw await thrownFor(thrower, input, init)
      },
    }),
    { outcome: 'unknown' },
  ],
  [
    'the body of a response fails',
    (thrower) => ({
      fetch: async (input, init) => {
        const thrown = await thrownFor(thrower, input, init)
        return new Response(new ReadableStream({ start: (controller) => controller.error(thrown) }))
      },
    }),
    { outcome: 'unknown' },
  ],
  [
    'an agent throws',
    (thrower) => {
      const addRequest = (outgoing: ClientRequest): never => {
        const authorization = String(outgoing.getHeader('authorization'))
        const request = new Request(BASE_URL, { headers: { authorization } })
        throw thrower(request, `${authorization} ${json(WEBHOOK)} ${SECRET}`)
      }
      return { transport: nodeTransport({ agent: Object.assign(new Agent(), { addRequest }) }) }
    },
    { outcome: 'not_applied' },
  ],
]

describe.each(places)('if %s, the error shows no secret', (_, via, fields) => {
  it.each(
    tokens.flatMap(([token, accessToken]) =>
      throwers.map(([what, thrower]) => [what, token, accessToken, thrower] as const),
    ),
  )('after %s, with %s', async (_, __, accessToken, thrower) => {
    const error = await register({ accessToken, ...via(thrower) })
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject(fields)
    expectNoSecretIn(error)
    expectCopiesOnly(error)
  })
})

describe('a token source that fails', () => {
  const errorOf = (accessToken: unknown) =>
    rejection(
      clientWith({
        accessToken: accessToken as AccessTokenSource,
        fetch: scriptedFetch(respond(200, {})).fetch,
      }).updateUser({
        account: 'a',
        platform: 'p',
        pid: 'd',
      }),
    )
  const throwing = (thrown: unknown) => () => {
    throw thrown
  }

  it.each<[string, unknown]>([
    ['an error that quotes a JWT', throwing(new Error(`401 for ${JWT}`))],
    ['an error that quotes a header', throwing(new Error(`Authorization: Bearer ${OPAQUE} was refused`))],
    [
      'an error with a JWT in its fields',
      throwing(Object.assign(new Error('no'), { config: { headers: { authorization: JWT } } })),
    ],
    ['an error whose cause quotes a JWT', throwing(new Error('no', { cause: new Error(JWT) }))],
    ['a JWT', throwing(JWT)],
    ['an error with a JWT directly after other text', throwing(new Error(`got%20${JWT}%0A and x_${JWT}`))],
    ['a rejection', () => Promise.reject(new Error(JWT))],
  ])('with %s causes an error without the token', async (_, source) => {
    const error = await errorOf(source)
    expect(error).toBeInstanceOf(AccessTokenError)
    expect(error).toMatchObject({ code: 'access_token', operation: 'updateUser', outcome: 'not_applied' })
    expectNoSecretIn(error)
  })

  it('causes an error without recent tokens, of which the client keeps a limited number', async () => {
    const opaque = (index: number) => `token number ${index}`.replaceAll(' ', '-')
    const given = [
      opaque(0),
      ...Array.from({ length: 20 }, (_, index) => opaque(1 + (index % 2))),
      ...[2, 3, 4, 5, 6].map(opaque),
    ]
    const vault = (accessToken: () => string) => {
      const tokens = new AccessTokens({ accessToken, baseUrl: 'https://service.example/api/v1/', fetch: undefined })
      const limits = { totalTimeoutMs: 1_000, signal: undefined }
      return { tokens, next: () => tokens.get('updateUser', limits) }
    }
    const { tokens, next } = vault(() => given.shift() ?? expect.unreachable(`the vault has no ${opaque(0)}`))
    while (given.length > 0) tokens.refuse((await next()) as string)
    expect(inspect(((await next()) as Failure).error)).toMatch(/the vault has no \[redacted\]/)
    const many = Array.from({ length: 1_000 }, (_, index) => opaque(index))
    const { tokens: busy, next: nextOfMany } = vault(() => many.pop() as string)
    expect(busy.secrets).toEqual([])
    for (let call = 0; call < 1_000; call++) busy.refuse((await nextOfMany()) as string)
    expect(busy.secrets.length).toBeLessThan(100)
  })
})

it('a timeout error does not show the request', async () => {
  const fetch = () => new Promise<never>(() => undefined)
  const error = await register({ accessToken: JWT, fetch, timeoutMs: 1 })
  expect(error).toMatchObject({ code: 'timeout', scope: 'attempt' })
  expectNoSecretIn(error)
})

it('text without a secret does not change, unless it looks like a JWT', async () => {
  const message = 'campaign "demo.v1.2" of bear.example: keyJoin.a.b? see https://docs.example/errors#400'
  const { fetch } = scriptedFetch(respond(400, { success: false, error: { code: 400, message } }))
  expect((await register({ fetch })).message).toBe(
    `registerWebhook: the service responded with HTTP 400, ${message.replace('keyJoin.a.b', 'k[redacted]')}`,
  )
})

describe('an encoded secret', () => {
  const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)
  const slashed = (text: string): string => inJson(text).replaceAll('/', '\\/')
  const url = encodeURIComponent
  const form = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
  const lower = (text: string): string => text.replace(/%../g, (byte) => byte.toLowerCase())
  const percent = (character: string): string => `%${character.charCodeAt(0).toString(16)}`
  const escaped =
    (characters: RegExp, letters = (code: string) => code) =>
    (text: string): string => {
      const spell = (unit: string): string => `\\u${letters(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`
      const rest = text.split(characters).map(inJson)
      return (text.match(characters) ?? []).reduce(
        (json, each, at) => `${json}${spell(each)}${rest[at + 1]}`,
        rest[0] ?? '',
      )
    }
  const spellings: readonly [string, (text: string) => string][] = [
    ['plain text', (text) => text],
    ['JSON', inJson],
    ['JSON with escaped slashes', slashed],
    ['JSON in JSON', (text) => inJson(inJson(text))],
    ['JSON in JSON with escaped slashes', (text) => slashed(inJson(text))],
    ['JSON with escaped slashes in JSON', (text) => inJson(slashed(text))],
    ['JSON with escaped slashes in JSON with escaped slashes', (text) => slashed(slashed(text))],
    ['percent encoding', url],
    ['percent encoding in lower case', (text) => lower(url(text))],
    ['form encoding', form],
    ['form encoding in lower case', (text) => lower(form(text))],
    ['JSON with escaped HTML characters', escaped(/[<>&]/g)],
    ['JSON with escaped HTML characters, in upper case', escaped(/[<>&'"+`]/g, (code) => code.toUpperCase())],
    ['JSON with escaped HTML characters in JSON', (text) => inJson(escaped(/[<>&'"+`]/g)(text))],
    ['JSON with all non-word characters escaped', escaped(/[^\w-]/g)],
    ['percent encoding of all special characters', (text) => url(text).replace(/[!'()*.~]/g, percent)],
    ['percent encoding of all but slashes', (text) => url(text).replaceAll('%2F', '/')],
    ['percent encoding of a whole URL', encodeURI],
  ]
  const secrets = [
    SECRET,
    OPAQUE,
    'a b+c%41/d',
    'line\nbreak\ttab',
    'zoë/🚀"\\xyz',
    'C:\\new\\table',
    'plain-and-simple',
    `<it's>&"a+b"=(x)*~!.$^[y]{z}|?`,
  ]
  const clean = (text: string, secret: string): string => redact(text, partsOf(secret))

  it.each(spellings)('is hidden in the form: %s', (_, spell) => {
    for (const secret of secrets) {
      expect(clean(`before ${spell(secret)} after`, secret)).toBe('before [redacted] after')
      expect(clean(`{"sent":"${spell(secret)}"}`, secret)).toBe('{"sent":"[redacted]"}')
      expect(clean(`${spell(secret)}${spell(secret)}`, secret)).toBe('[redacted][redacted]')
    }
  })

  it('is hidden in any text', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 })
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 8, maxLength: 30 }),
        fc.constantFrom(...spellings),
        text,
        text,
        (secret, [, spell], before, after) => {
          expect(clean(`${before} ${spell(secret)} ${after}`, secret)).not.toContain(spell(secret))
        },
      ),
    )
  })

  it.each(['\\', '\\"', '%', '%25', '+ '])('that repeats %j is hidden, and searched for in linear time', (unit) => {
    for (const secret of [`a${unit.repeat(40)}x`, unit.repeat(1_000)]) {
      for (const [, spell] of spellings) expect(clean(`"${spell(secret)}"`, secret)).toBe('"[redacted]"')
      for (const text of [unit, inJson(inJson(unit)), url(unit)]) {
        expect(excerpt(`${text.repeat(70_000)}y`, partsOf(secret), 300).length).toBeLessThanOrEqual(300)
      }
    }
  })

  it('is hidden if it has eight characters or more', () => {
    expect(clean('a token: secret12', 'secret12')).toBe('a token: [redacted]')
    expect(clean('a token: secret1', 'secret1')).toBe('a token: secret1')
  })

  it('is hidden at any length', () => {
    for (const length of [500, 513, 5_000, 10_000]) {
      const numbers = Array.from({ length }, (_, at) => `n${at}+/"`).join('')
      const secret = numbers.slice(0, length)
      expect(clean(secret, secret)).toMatch(/^(?:\[redacted\])+.{0,7}$/)
      expect(clean(encodeURIComponent(secret), secret)).toMatch(/^(?:\[redacted\])+.{0,21}$/)
    }
  })

  it('does not change the text around it', () => {
    expect(clean('50%25 of \\"C:\\\\" and a+b%2Fc: hook%2Fsecret', 'hook/secret')).toBe(
      '50%25 of \\"C:\\\\" and a+b%2Fc: [redacted]',
    )
  })
})

describe('the password of a proxy', () => {
  it.each([
    ['connect to http://user:p4ss@proxy.example:8080 failed', 'connect to http://[redacted]@proxy.example:8080 failed'],
    ['Invalid URL "http://user:p@ss@proxy"', 'Invalid URL "http://[redacted]@proxy"'],
    ['https://:p4ss%20word@proxy/', 'https://[redacted]@proxy/'],
    ['Proxy-Authorization: Basic dXNlcjpwNHNz', 'Proxy-Authorization: Basic [redacted]'],
    ['proxy-authorization: basic  dXNlcjpwNHNz', 'proxy-authorization: basic  [redacted]'],
  ])('is hidden in: %s', (text, expected) => {
    expect(redact(text, [])).toBe(expected)
  })

  it.each(['https://service.example:8080/a@b', 'mail to ada:grace@service.example', 'https://ada@service.example/'])(
    'is not found in: %s',
    (text) => {
      expect(redact(text, [])).toBe(text)
    },
  )

  it('is not in the errors of a transport', async () => {
    const cause = new Error('connect ECONNREFUSED http://user:p4ssw0rd@proxy.example')
    const send = () => Promise.reject(new TransportError('', { kind: 'network', sent: false, cause }))
    const error = await register({ transport: { send }, maxRetries: 0 })
    expect(error.message).toContain('http://[redacted]@proxy.example')
    expect(everythingOf(error)).not.toContain('p4ssw0rd')
  })

  it.each(['://a:', '://', ':', '@', '://a:@', '//:'])('is searched quickly in a long text of %j', (text) => {
    expect(redact(text.repeat(20_000), [])).toBeDefined()
  })
})

describe('control characters in text from outside', () => {
  const forged = 'bad\r\nINFO award paid\u001b[2K\u2028\u202e'

  it('are escaped in the message of a response', async () => {
    for (const error of [forged, { code: 400, message: forged }, [{ message: forged }]]) {
      const thrown = await register({ fetch: async () => Response.json({ success: false, error }, { status: 400 }) })
      expect(thrown.message).toContain('bad\\u000d\\u000aINFO award paid\\u001b[2K\\u2028\\u202e')
      expect((thrown as Error).message).not.toMatch(/[\p{Cc}\u2028\u202e]/u)
    }
  })

  it('are escaped in the message and the causes of a transport error', async () => {
    const thrown = new Error(forged, { cause: new Error(forged) })
    for (const reason of [thrown, forged, new TransportError(forged, { kind: 'too_large', sent: true })]) {
      const error = await register({ transport: { send: () => Promise.reject(reason) }, maxRetries: 0 })
      for (let at = error as Error | undefined; at !== undefined; at = at.cause as Error | undefined) {
        expect(at.message).toContain('bad\\u000d\\u000a')
        expect(at.message).not.toMatch(/[\p{Cc}\u2028\u202e]/u)
        expect(at.stack?.split('\n')[1]).not.toMatch(/^INFO/)
      }
    }
  })

  it('are escaped in the message of a token source', async () => {
    const error = await register({ accessToken: () => Promise.reject(new Error(forged)) })
    expect((error as Error).message).not.toMatch(/[\p{Cc}\u2028\u202e]/u)
  })
})

describe('a token or a secret of fewer than eight characters', () => {
  const topic = Symbol.for('campaign-client.short-secret')
  const fetch = async () => Response.json({ success: true, data: {} })
  let warnings: string[]

  beforeEach(() => {
    Reflect.deleteProperty(globalThis, topic)
    warnings = []
    vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)))
  })
  afterEach(() => {
    Reflect.deleteProperty(globalThis, topic)
  })
  const clientOf = (options: object) => new CampaignClient({ baseUrl: BASE_URL, accessToken: 'short', ...options })

  it('causes one warning', () => {
    clientOf({})
    clientOf({})
    expect(warnings).toEqual([expect.stringMatching(/fewer than 8 characters.*not redacted/)])
    expect(warnings[0]).not.toContain('short.')
  })

  it('causes a warning if it comes from a token source or is passed to registerWebhook', async () => {
    const transport = {
      send: async () => ({ status: 200, header: () => null, text: '{"success":true}', complete: true }),
    }
    await clientOf({ transport, accessToken: () => 'short' })
      .getCampaignInfo({ pid: 'demo' })
      .catch(() => undefined)
    expect(warnings).toHaveLength(1)
    Reflect.deleteProperty(globalThis, topic)
    const client = clientOf({ transport, accessToken: OPAQUE, webhookRegistrationPath: 'hooks' })
    await client.registerWebhook({ ...WEBHOOK, secret: '1234567' })
    expect(warnings).toHaveLength(2)
  })

  it.each([
    ['a loopback address', { baseUrl: 'http://127.0.0.1:8080/api/v1' }],
    ['a fetch option', { fetch }],
    ['a token of eight characters', { accessToken: '12345678' }],
  ])('causes no warning with %s', (_, options) => {
    clientOf(options)
    expect(warnings).toEqual([])
  })
})

describe('a long text from outside', () => {
  const secret = 'a/secret"of\\some+length'

  it.each([
    'eyJ',
    '.',
    'eyJ.',
    'bearer ',
    ' ',
    '\\',
    '%',
    '%25',
    '\\u',
    '+',
    'bearer+',
    'bearer%20',
    '\\u00',
    'eyJ\\',
    '%2',
    '\\ud83d',
    '%5C',
    '%5Cu',
  ])('of %j is redacted quickly', async (text) => {
    const message = text.repeat(70_000)
    const fetch = scriptedFetch(respond(400, { success: false, error: { code: 400, message } })).fetch
    const error = (await register({ fetch })) as Error
    expect(error.message.length).toBeLessThan(400)
  })

  it.each([5, secret.length - 2])('does not end with the first %i characters of a secret', (length) => {
    const text = `${'x'.repeat(65_536 - length)}${secret}`
    expect(excerpt(text, partsOf(secret), 65_536)).toMatch(/^x+$/)
  })

  it('does not show the first half of a secret that fills the text', () => {
    const long = 'key.'.repeat(2_500)
    for (const times of [1, 23, 200]) expect(excerpt(long.repeat(times), partsOf(long), 300)).not.toContain('key')
  })

  it('shows its beginning, even with a long secret', () => {
    expect(excerpt('x'.repeat(100_000), partsOf('key.'.repeat(750)), 5)).toBe('xxxxx')
  })

  it('is not cut inside a surrogate pair', () => {
    expect(excerpt('x😀x😀', [], 5)).toBe('x😀x')
    expect(excerpt('x😀x😀', [], 6)).toBe('x😀x😀')
  })

  it('is cut after redaction', () => {
    expect(excerpt(`${secret} ${'x'.repeat(1000)}`, partsOf(secret), 20)).toBe('[redacted] xxxxxxxxx')
  })
})

describe('the cause of an error', () => {
  const secret = 'hook-secret-1'

  it('has only name, message, code, stack and causes, without secrets', () => {
    const thrown = Object.assign(new TypeError(`no ${secret}`, { cause: new Error('inner') }), {
      code: `E_${secret}`,
      stack: `TypeError: no ${secret}\n    at partner.js:1:1`,
      request: { secret },
    })
    const safe = safeCause(thrown, partsOf(secret)) as Error
    expect(safe).toMatchObject({ message: 'no [redacted]', code: 'E_[redacted]', cause: { message: 'inner' } })
    expect(Object.getOwnPropertyDescriptors(safe)).toMatchObject({
      name: { value: 'TypeError', enumerable: false, configurable: true, writable: true },
      stack: {
        value: 'TypeError: no [redacted]\n    at partner.js:1:1',
        enumerable: false,
        configurable: true,
        writable: true,
      },
    })
    expect(Object.keys(safe)).toEqual(['code'])
  })

  it.each([undefined, null])('is absent if the source is %s', (nothing) => {
    expect(safeCause(nothing, [])).toBeUndefined()
    expect(safeCause(new Error('alone', { cause: nothing }), [])).not.toHaveProperty('cause')
  })

  it.each<[unknown, string]>([
    [`the words ${secret}`, 'the words [redacted]'],
    [Symbol(secret), 'Symbol([redacted])'],
    [5, '5'],
    [{ message: 5 }, ''],
  ])('is an Error even if this was thrown: %s', (thrown, message) => {
    const safe = safeCause(thrown, partsOf(secret))
    expect(safe).toBeInstanceOf(Error)
    expect(safe).toHaveProperty('message', message)
  })

  it('has the errors of an AggregateError, whose messages are in the message of the call', async () => {
    const refused = (address: string): Error =>
      Object.assign(new Error(`connect ECONNREFUSED ${address} ${OPAQUE}`), { code: 'ECONNREFUSED', token: OPAQUE })
    const errors = [refused('::1:443'), refused('127.0.0.1:443')]
    const failed = Object.assign(new AggregateError(errors, ''), { code: 'ECONNREFUSED' })
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: failed }))
    const error = (await register({ accessToken: OPAQUE, fetch })) as NetworkError
    const each = ['connect ECONNREFUSED ::1:443 [redacted]', 'connect ECONNREFUSED 127.0.0.1:443 [redacted]']
    expect(error.message).toContain(`(ECONNREFUSED, fetch failed, ${each.join(', ')})`)
    expect(error.cause).toMatchObject({ cause: { errors: each.map((message) => ({ message })) } })
    expectNoSecretIn(error)
    expect(safeCause(new AggregateError(Array(1_000).fill(failed)), [])).toHaveProperty('errors.length', 8)
  })

  it('has at most six levels', () => {
    const endless = new Error('round')
    endless.cause = endless
    let depth = 0
    for (let safe = safeCause(endless, []); safe; safe = safe.cause as Error | undefined) depth++
    expect(depth).toBe(6)
  })
})

it('hides the whole signature of a JWT', () => {
  expect(redact(`token ${JWT}, expired`, [])).toBe('token [redacted], expired')
})

describe('the word bearer', () => {
  it.each([
    'missing bearer token',
    'use Bearer authentication, please',
    'Bearer realm="campaign"',
    'bearer tokens expire after 300 s',
    'the bearer',
  ])('in prose does not change: %s', (text) => {
    expect(redact(text, [])).toBe(text)
  })

  it.each([
    ['Authorization: Bearer 8f2c41aa9', 'Authorization: Bearer [redacted]'],
    ['authorization: bearer opaque+token/8f2c41==', 'authorization: bearer [redacted]'],
    ['"Bearer abcdefghijklmnopqrstuvwxyz"', '"Bearer [redacted]"'],
    ['Authorization%3A%20Bearer%208f2c41aa9', 'Authorization%3A%20Bearer%20[redacted]'],
    ['BEARER   x-1234567, then', 'BEARER   [redacted], then'],
  ])('hides a token after it: %s', (text, clean) => {
    expect(redact(text, [])).toBe(clean)
  })
})
