import { type CallOptions, ConfigurationError, InvalidRequestError, type OperationName } from 'campaign-client'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { prepareRequest } from '../../src/call/request.ts'
import getCampaignInfo from '../../src/endpoints/get-campaign-info.ts'
import { clientSettings } from '../../src/settings.ts'
import { contract, type FieldKind, invoke, operation, operations } from '../contract/operations.ts'
import { ACCESS_TOKEN, addressOf, BASE_URL, clientWith, json, rejection, stubService } from './stub-service.ts'

const service = stubService()

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const USER = { account: 'alice', platform: 'web', pid: 'demo' }

/** All operations with their example requests. */
const table = operations.map(({ name, request, sent, writes, ...row }) => {
  const expected = { url: `${addressOf(name)}${writes ? '' : sent}`, body: writes ? sent : '' }
  return [name, { ...row, argument: request, ...expected }] as const
})

/** Calls an operation of a stub and returns the request that arrived. */
async function sentBy(name: OperationName, argument: unknown, client = clientWith(), options?: CallOptions) {
  service.respond(name, { body: json({ success: true, data: operation(name).data }) })
  await invoke(client, name, argument, options)
  expect(service.received).toHaveLength(1)
  return service.received[0] as Request
}

describe.each(table)('%s sends', (name, { argument, method, url, body }) => {
  it('its method, address and arguments', async () => {
    const request = await sentBy(name, argument)
    expect(request.method).toBe(method)
    expect(request.url).toBe(url)
    expect(await request.text()).toBe(body)
  })

  it('the token, and the headers accept and content-type', async () => {
    const { headers } = await sentBy(name, argument)
    expect(headers.get('authorization')).toBe(`Bearer ${ACCESS_TOKEN}`)
    expect(headers.get('accept')).toBe('application/json')
    expect(headers.get('content-type')).toBe(method === 'POST' ? 'application/json' : null)
  })

  it('only the fields it declares', async () => {
    const extra = JSON.parse('{"is_admin":true,"__proto__":{"pid":"other"},"constructor":1,"toString":2}')
    const request = await sentBy(name, { ...extra, ...argument })
    expect(request.url).toBe(url)
    expect(await request.text()).toBe(body)
  })
})

describe('optional fields', () => {
  it.each([{}, { name: undefined, alias: undefined, team: undefined }])(
    'are not sent if they are absent or undefined (%j)',
    async (more) => {
      const request = await sentBy('updateUser', { ...USER, ...more })
      expect(await request.text()).toBe('{"account":"alice","platform":"web","pid":"demo"}')
    },
  )

  it('are sent when they are empty strings', async () => {
    const request = await sentBy('updateUser', { ...USER, name: '', alias: '', team: '' })
    expect(await request.json()).toEqual({ ...USER, name: '', alias: '', team: '' })
  })

  it('of a read are not sent if they are undefined', () => {
    const request = z.object({ pid: z.string(), season: z.optional(z.string()) })
    const settings = clientSettings({ baseUrl: BASE_URL, accessToken: ACCESS_TOKEN })
    const argument = { pid: 'demo', season: undefined }
    const { url } = prepareRequest('getCampaignInfo', { ...getCampaignInfo, request }, argument, undefined, settings)
    expect(url).toBe(`${BASE_URL}/campaign/info?pid=demo`)
  })

  it('of a webhook are not sent if they are undefined', async () => {
    const request = await sentBy('registerWebhook', {
      scope: 'custom',
      url: 'http://partner.example',
      secret: undefined,
    })
    expect(await request.text()).toBe('{"scope":"custom","url":"http://partner.example"}')
  })
})

describe('encoding', () => {
  it.each([
    ['a b', 'a+b'],
    ['a+b', 'a%2Bb'],
    ['a&pid=x', 'a%26pid%3Dx'],
    ['a/b?c#d', 'a%2Fb%3Fc%23d'],
    ['100%', '100%25'],
    ['%20', '%2520'],
    ['Zoë', 'Zo%C3%AB'],
    ['日本', '%E6%97%A5%E6%9C%AC'],
    ['👩‍🚀', '%F0%9F%91%A9%E2%80%8D%F0%9F%9A%80'],
    ['a\nb', 'a%0Ab'],
    ['\u0000', '%00'],
    ['../..', '..%2F..'],
    [' ', '+'],
  ])('converts %j in a query to %s', async (account, encoded) => {
    const request = await sentBy('getUserProgress', { ...USER, account })
    expect(request.url).toBe(`${BASE_URL}/user/progress?account=${encoded}&platform=web&pid=demo`)
    expect(new URL(request.url).searchParams.get('account')).toBe(account)
  })
})

it("rejects with the error of an argument's getter, and sends nothing", async () => {
  const thrown = new Error('no')
  const argument = {
    ...USER,
    get name(): never {
      throw thrown
    },
  }
  await expect(clientWith().updateUser(argument)).rejects.toBe(thrown)
  expect(service.received).toHaveLength(0)
})

it('reads each declared field of an argument once and no other field', async () => {
  const reads: string[] = []
  const fields = { ...USER, name: 'Ada', alias: undefined, team: 'red' }
  const argument = { ...fields, secret: 'undeclared' }
  for (const [name, value] of Object.entries(argument)) {
    const get = (): unknown => {
      reads.push(name)
      return value
    }
    Object.defineProperty(argument, name, { enumerable: true, get })
  }
  const request = await sentBy('updateUser', argument)
  expect(await request.json()).toEqual({ ...USER, name: 'Ada', team: 'red' })
  expect(reads.sort()).toEqual(Object.keys(fields).sort())
})

it('reads inherited fields of an argument', async () => {
  class Account {
    get account() {
      return 'alice'
    }
    platform = 'web'
    pid = 'demo'
  }
  expect(await (await sentBy('updateUser', new Account())).json()).toEqual(USER)
})

describe('the query of a write', () => {
  it.each(['pid', 'PID', 'pid[]', 'pid[0]', ' pid ', 'xp', 'address', 'id'])(
    'must not contain a field of the body: %s',
    async (name) => {
      const { request } = operation('rewardWallet')
      const error = await rejection(invoke(clientWith(), 'rewardWallet', request, { query: { [name]: 'x' } }))
      expect(error).toBeInstanceOf(InvalidRequestError)
      expect(error).toMatchObject({
        outcome: 'not_applied',
        issues: [{ path: ['options', 'query', name], message: 'is a parameter of the call itself' }],
      })
      expect(service.received).toHaveLength(0)
    },
  )
})

it('does not check for self-referral: the service does', async () => {
  const argument = { referrer: 'alice', referral: 'alice', platform: 'web', pid: 'demo' }
  expect(JSON.parse(await (await sentBy('setReferrer', argument)).text())).toEqual(argument)
})

describe('the base URL', () => {
  it.each([
    BASE_URL,
    `${BASE_URL}/`,
    new URL(BASE_URL),
    new URL(`${BASE_URL}/`),
    'HTTPS://SERVICE.example:443/api/v1',
    '  https://service.example/api/./v1  ',
  ])('is normalised: %s', async (baseUrl) => {
    const request = await sentBy('getCampaignInfo', { pid: 'demo' }, clientWith({ baseUrl }))
    expect(request.url).toBe(`${BASE_URL}/campaign/info?pid=demo`)
  })

  it('is copied: a later change has no effect', async () => {
    const baseUrl = new URL(BASE_URL)
    const client = clientWith({ baseUrl })
    baseUrl.hostname = 'elsewhere.example'
    expect((await sentBy('getCampaignInfo', { pid: 'demo' }, client)).url).toBe(`${BASE_URL}/campaign/info?pid=demo`)
  })
})

describe('headers', () => {
  it('of the client are sent with every request; headers of the call override them in any letter case', async () => {
    const client = clientWith({ headers: { 'X-Tenant': 'one', 'X-Trace': 'a' } })
    const { headers } = await sentBy('getCampaignInfo', { pid: 'demo' }, client, { headers: { 'x-tenant': 'two' } })
    expect(headers.get('x-tenant')).toBe('two')
    expect(headers.get('x-trace')).toBe('a')
    expect(headers.get('authorization')).toBe(`Bearer ${ACCESS_TOKEN}`)
  })

  it('may override accept', async () => {
    const options = { headers: { Accept: 'application/json;v=1' } }
    const { headers } = await sentBy('getCampaignInfo', { pid: 'demo' }, clientWith(), options)
    expect(headers.get('accept')).toBe('application/json;v=1')
  })
})

describe('query parameters of a call', () => {
  it('are added to the URL of a read', async () => {
    const query = { env: 'development', page: 2, draft: true, empty: '', off: undefined, 'a b': 'c&d' }
    const request = await sentBy('getCampaignInfo', { pid: 'demo' }, clientWith(), { query })
    expect(request.url).toBe(`${BASE_URL}/campaign/info?pid=demo&env=development&page=2&draft=true&empty=&a+b=c%26d`)
  })

  it('are added to the URL of a write', async () => {
    const request = await sentBy('updateUser', USER, clientWith(), { query: { env: 'development' } })
    expect(request.url).toBe(`${BASE_URL}/user?env=development`)
    expect(await request.json()).toEqual(USER)
  })

  it('are not sent if they are undefined', async () => {
    const request = await sentBy('updateUser', USER, clientWith(), { query: { env: undefined } })
    expect(request.url).toBe(`${BASE_URL}/user`)
  })

  it('may have names such as __proto__', async () => {
    const query = JSON.parse('{"__proto__":"p","constructor":"c"}')
    const request = await sentBy('getCampaignInfo', { pid: 'demo' }, clientWith(), { query })
    expect(request.url).toBe(`${BASE_URL}/campaign/info?pid=demo&__proto__=p&constructor=c`)
  })

  it('cannot replace fields of the argument', async () => {
    const error = await rejection(clientWith().getCampaignInfo({ pid: 'demo' }, { query: { pid: 'other' } }))
    expect(error).toBeInstanceOf(InvalidRequestError)
    expect(error).toMatchObject({ issues: [{ path: ['options', 'query', 'pid'] }] })
    expect(error.message).toBe('getCampaignInfo: options.query.pid is a parameter of the call itself; nothing was sent')
    const renamed = clientWith({ queryNames: { getCampaignInfo: { pid: 'id' } } })
    expect(await rejection(renamed.getCampaignInfo({ pid: 'demo' }, { query: { id: 'other' } }))).toMatchObject({
      issues: [{ path: ['options', 'query', 'id'] }],
    })
  })
})

describe('queryNames', () => {
  const open = operations.filter(({ queryNames }) => queryNames === 'assumed')

  it.each(open)('rename each argument of $name', async ({ name, fields, request }) => {
    const names = Object.fromEntries(Object.keys(fields).map((field) => [field, `my ${field}`]))
    const { url } = await sentBy(name, request, clientWith({ queryNames: { [name]: names } }))
    const expected = Object.entries(request).map(([field, value]) => [`my ${field}`, `${value}`])
    expect([...new URL(url).searchParams]).toEqual(expected)
  })

  it('do not change other arguments', async () => {
    const client = clientWith({ queryNames: { getUserProfiles: { account: 'user' }, getCampaignInfo: undefined } })
    const { url } = await sentBy('getUserProfiles', USER, client)
    expect(url).toBe(`${BASE_URL}/user/profiles?user=alice&platform=web&pid=demo`)
  })

  it('may swap two names', async () => {
    const client = clientWith({ queryNames: { getInviteCode: { code: 'pid', pid: 'code' } } })
    const { url } = await sentBy('getInviteCode', { code: 'WELCOME', pid: 'demo' }, client)
    expect(url).toBe(`${BASE_URL}/code?pid=WELCOME&code=demo`)
  })

  it('is copied: a later change has no effect', async () => {
    const names = { pid: 'id' }
    const client = clientWith({ queryNames: { getCampaignInfo: names } })
    names.pid = 'other'
    expect((await sentBy('getCampaignInfo', { pid: 'demo' }, client)).url).toBe(`${BASE_URL}/campaign/info?id=demo`)
  })
})

describe('webhookRegistrationPath', () => {
  it.each(['webhooks', '/webhooks'])('%s is resolved below the base URL', async (webhookRegistrationPath) => {
    const request = await sentBy(
      'registerWebhook',
      operation('registerWebhook').request,
      clientWith({ webhookRegistrationPath }),
    )
    expect(request.url).toBe(`${BASE_URL}/webhooks`)
  })

  it('is required by registerWebhook, which sends nothing without it', async () => {
    const client = clientWith({ webhookRegistrationPath: undefined })
    const error = await rejection(invoke(client, 'registerWebhook', operation('registerWebhook').request))
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(error).toMatchObject({
      code: 'configuration',
      operation: 'registerWebhook',
      outcome: 'not_applied',
      message: expect.stringMatching(/nothing was sent.*webhookRegistrationPath/),
    })
    expect((error as Error).message).not.toContain(contract.registerWebhook.request.secret)
    expect(service.received).toHaveLength(0)
  })
})

describe('wrong arguments', () => {
  const LONE = 'must not contain a lone surrogate'
  const notText: [unknown, string][] = [
    [null, 'expected string, received null'],
    [5, 'expected string, received number'],
    [Number.NaN, 'expected string, received NaN'],
    [true, 'expected string, received boolean'],
    [10n, 'expected string, received bigint'],
    [Symbol('s'), 'expected string, received symbol'],
    [['alice'], 'expected string, received array'],
    [{ toString: () => 'alice' }, 'expected string, received object'],
    [new String('alice'), 'expected string, received object'],
    [(name: string) => name, 'expected string, received function'],
  ]
  const identifier: [unknown, string][] = [
    ...notText,
    [undefined, 'expected string, received undefined'],
    ['', 'must not be empty'],
    ['\ud83d', LONE],
    ['a\ude00b', LONE],
    ['\ude00\ud83d', LONE],
  ]
  const number: [unknown, string][] = [
    [undefined, 'expected a finite number, received undefined'],
    [null, 'expected a finite number, received null'],
    ['5', 'expected a finite number, received string'],
    [5n, 'expected a finite number, received bigint'],
    [Number.NaN, 'expected a finite number, received NaN'],
    [Infinity, 'expected a finite number, received Infinity'],
    [-Infinity, 'expected a finite number, received -Infinity'],
    [new Date(0), 'expected a finite number, received object'],
  ]
  const NO_ADDRESS = 'must be 0x and 40 hex digits'
  const address: [unknown, string][] = [
    ...notText,
    [undefined, 'expected string, received undefined'],
    ['', NO_ADDRESS],
    ['0x', NO_ADDRESS],
    [ADDRESS.slice(2), NO_ADDRESS],
    [`${ADDRESS}0`, NO_ADDRESS],
    [ADDRESS.slice(0, -1), NO_ADDRESS],
    [`${ADDRESS.slice(0, -1)}g`, NO_ADDRESS],
    [`0X${ADDRESS.slice(2)}`, NO_ADDRESS],
    [`${ADDRESS}\n`, NO_ADDRESS],
    [` ${ADDRESS}`, NO_ADDRESS],
    ['vitalik.eth', NO_ADDRESS],
  ]
  const NO_URL = 'must be an absolute http or https URL'
  const url: [unknown, string][] = [
    ...notText,
    [undefined, 'expected string, received undefined'],
    ['', NO_URL],
    ['/hook', NO_URL],
    ['partner.example/hook', NO_URL],
    ['//partner.example/hook', NO_URL],
    ['https:partner.example', NO_URL],
    ['https://', NO_URL],
    ['ftp://partner.example', NO_URL],
    ['javascript:alert(1)', NO_URL],
    ['https://partner .example', NO_URL],
  ]
  const bad: Record<FieldKind, [unknown, string][]> = {
    identifier,
    'identifier?': identifier.filter(([value]) => value !== undefined),
    'text?': notText,
    address,
    number,
    url,
  }

  describe.each(table)('of %s', (name, { argument, fields, method }) => {
    const expectRefusal = async (wrong: unknown, issues: object[]) => {
      const error = await rejection(invoke(clientWith(), name, wrong))
      expect(error).toBeInstanceOf(InvalidRequestError)
      expect((error as InvalidRequestError).issues).toEqual(issues)
      expect(error).toMatchObject({ code: 'invalid_request', operation: name })
      expect(error.message).toMatch(/; nothing was sent$/)
      if (method === 'POST') expect(error).toHaveProperty('outcome', 'not_applied')
      else expect(error).not.toHaveProperty('outcome')
      expect(service.received).toHaveLength(0)
    }

    it('are tested for each field', () => {
      expect(Object.keys(fields)).toEqual(Object.keys(argument))
    })

    it.each(Object.entries(fields))('are reported with path and reason: %s (%s)', async (field, kind) => {
      for (const [value, message] of bad[kind]) {
        await expectRefusal({ ...argument, [field]: value }, [{ path: [field], message }])
      }
    })

    it('are reported together', async () => {
      const wrong = Object.entries(fields).map(
        ([field, kind]) => [field, ...(bad[kind][0] as [unknown, string])] as const,
      )
      await expectRefusal(
        Object.fromEntries(wrong.map(([field, value]) => [field, value])),
        wrong.map(([field, , message]) => ({ path: [field], message })),
      )
    })

    it.each([
      [undefined, 'undefined'],
      [null, 'null'],
      ['alice', 'string'],
      [5, 'number'],
      [[argument], 'array'],
      [() => argument, 'function'],
    ])('include %s in place of the object', async (value, received) => {
      await expectRefusal(value, [{ path: [], message: `expected object, received ${received}` }])
    })

    it('reject the promise and are not thrown synchronously', () => {
      const promise = invoke(clientWith(), name, undefined)
      expect(promise).toBeInstanceOf(Promise)
      return expect(promise).rejects.toBeInstanceOf(InvalidRequestError)
    })
  })

  it('are listed in the message with path and reason', async () => {
    expect(
      (await rejection(invoke(clientWith(), 'rewardWallet', { address: '0x1', pid: '', id: 'r', xp: '5' }))).message,
    ).toBe(
      'rewardWallet: address must be 0x and 40 hex digits; pid must not be empty; ' +
        'xp: expected a finite number, received string; nothing was sent',
    )
  })

  it('without a path are reported as "the argument"', async () => {
    expect((await rejection(invoke(clientWith(), 'getCampaignInfo', 'demo'))).message).toBe(
      'getCampaignInfo: the argument: expected object, received string; nothing was sent',
    )
  })

  it('are reported without their values', async () => {
    const secret = { not: 's3cret' }
    const error = await rejection(invoke(clientWith(), 'registerWebhook', { scope: 's3cret', url: 's3cret', secret }))
    expect((error as Error).message + json(error)).not.toContain('s3cret')
  })
})

describe('wrong call options', () => {
  const MILLISECONDS = 'must be a number of milliseconds above 0 and at most 2147483647'
  const WHOLE = 'must be a whole number, 0 or more'
  const SIGNAL = 'must be an AbortSignal'
  const PARAMETER = 'must be a string, a finite number or a boolean'
  const ONE_LINE = 'must be one line of Latin-1 text'
  const OWN = 'is set by the client or the connection'
  const OVERRIDING = 'would replace the method or the URL of the request'
  const HEADERS = 'must be a plain object of header names and values'

  it.each<[unknown, (string | number)[], string]>([
    [null, [], 'must be an object such as { signal }'],
    ['fast', [], 'must be an object such as { signal }'],
    [5, [], 'must be an object such as { signal }'],
    [[], [], 'must be an object such as { signal }'],
    [
      { timeout: 5 },
      ['timeout'],
      'is not an option; the options are signal, timeoutMs, totalTimeoutMs, maxRetries, headers, query',
    ],
    [{ timeoutMs: 0 }, ['timeoutMs'], `${MILLISECONDS}, got 0`],
    [{ totalTimeoutMs: 2 ** 31 }, ['totalTimeoutMs'], `${MILLISECONDS}, got 2147483648`],
    [{ maxRetries: 0.5 }, ['maxRetries'], `${WHOLE}, got 0.5`],
    ...[null, {}, 'abort', new AbortController(), { aborted: false }].map((signal): [unknown, string[], string] => [
      { signal },
      ['signal'],
      SIGNAL,
    ]),
    ...[null, 'a=b', ['a', 'b'], 5, new URLSearchParams('a=b'), new Map([['a', 'b']])].map(
      (query): [unknown, string[], string] => [
        { query },
        ['query'],
        'must be a plain object of parameter names and values',
      ],
    ),
    ...[null, {}, [], Number.NaN, Infinity, 5n, () => 1].map((env): [unknown, string[], string] => [
      { query: { env } },
      ['query', 'env'],
      PARAMETER,
    ]),
    [{ query: { env: '\ud800' } }, ['query', 'env'], 'must not contain a lone surrogate'],
    [{ query: { '\ud800': 'x' } }, ['query', '\ud800'], 'must not contain a lone surrogate'],
    ...[null, 'x-a: b', [['x-a', 'b']], new Headers(), new Map([['x-a', 'b']])].map(
      (headers): [unknown, string[], string] => [{ headers }, ['headers'], HEADERS],
    ),
    ...[
      'Authorization',
      'content-type',
      'Content-Length',
      'HOST',
      'transfer-encoding',
      'Trailer',
      'TE',
      'Connection',
      'proxy-connection',
      'Expect',
      'upgrade',
      'keep-alive',
    ].map((name): [unknown, string[], string] => [{ headers: { [name]: 'x' } }, ['headers', name], OWN]),
    ...[
      'X-HTTP-Method-Override',
      'x-http-method',
      'x-method-override',
      'x-original-url',
      'X_HTTP_Method_Override',
      'x_original-url',
      'X-Rewrite-URL',
    ].map((name): [unknown, string[], string] => [{ headers: { [name]: 'x' } }, ['headers', name], OVERRIDING]),
    ...['', 'x a', 'x:', 'x\n', 'é'].map((name): [unknown, string[], string] => [
      { headers: { [name]: 'x' } },
      ['headers', name],
      'is not a header name',
    ]),
    ...['a\r\nb', 'a\nb', 'a\0', '日本', undefined, null, 5, ['x']].map((value): [unknown, string[], string] => [
      { headers: { 'x-a': value } },
      ['headers', 'x-a'],
      ONE_LINE,
    ]),
  ])('%o: %j %s', async (options, path, message) => {
    const error = await rejection(invoke(clientWith(), 'updateUser', USER, options))
    expect(error).toBeInstanceOf(InvalidRequestError)
    expect((error as InvalidRequestError).issues).toEqual([{ path: ['options', ...path], message }])
    expect(error).toMatchObject({ operation: 'updateUser', outcome: 'not_applied' })
    expect(service.received).toHaveLength(0)
  })

  it('that are an AbortSignal are refused', async () => {
    // An AbortSignal has no enumerable fields, so it would look like empty options.
    const error = await rejection(invoke(clientWith(), 'updateUser', USER, AbortSignal.timeout(1000)))
    expect(error).toMatchObject({ issues: [{ path: ['options'], message: expect.stringContaining('{ signal }') }] })
  })

  it('are reported together with wrong arguments', async () => {
    const error = await rejection(
      invoke(clientWith(), 'getCampaignInfo', {}, { maxRetries: -1, headers: { host: 'x' } }),
    )
    expect(error).toMatchObject({
      issues: [{ path: ['pid'] }, { path: ['options', 'maxRetries'] }, { path: ['options', 'headers', 'host'] }],
    })
  })

  it('are reported without their values', async () => {
    const options = { headers: { 'x-key': 's3cret\n' }, query: { key: ['s3cret'] }, signal: 's3cret' }
    const error = await rejection(invoke(clientWith(), 'updateUser', USER, options))
    expect((error as InvalidRequestError).issues).toHaveLength(3)
    expect((error as Error).message + json(error)).not.toContain('s3cret')
  })
})
