import { CampaignClient, type CampaignClientOptions, CampaignError, ConfigurationError } from 'campaign-client'
import { describe, expect, it, vi } from 'vitest'
import { BASE_URL, clientWith } from './stub-service.ts'

/** Returns the words of an error message for a wrong value: a number itself, or the type of any other value. */
const got = (value: unknown): string =>
  typeof value === 'number' ? `${value}` : value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

/** Returns the error of the constructor. Fails if the constructor accepts the options. */
function refusal(options: unknown): ConfigurationError {
  try {
    new CampaignClient(options as CampaignClientOptions)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(error).toBeInstanceOf(CampaignError)
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'configuration' })
    expect(error).not.toHaveProperty('operation')
    expect(error).not.toHaveProperty('outcome')
    return error as ConfigurationError
  }
  throw new Error('the options were accepted')
}

const refusalOf = (options: object) => refusal({ baseUrl: BASE_URL, accessToken: 'token', ...options }).message

const MILLISECONDS = 'must be a number of milliseconds above 0 and at most 2147483647'
const NO_TOKEN =
  'accessToken must be a non-empty token without white space, line breaks or the prefix "Bearer "; a function may return the token'

describe('a wrong option', () => {
  it.each<[string, unknown, string]>([
    ...[undefined, null, 5, '', 'service.example/api/v1', '/api/v1', 'https://', 'https://a b/', {}, ['https://a']].map(
      (value): [string, unknown, string] => [
        'baseUrl',
        value,
        'baseUrl must be an absolute URL such as https://host/api/v1',
      ],
    ),
    ['baseUrl', 'ftp://service.example/', 'baseUrl must be an https URL'],
    ['baseUrl', 'file:///etc/passwd', 'baseUrl must be an https URL'],
    ['baseUrl', 'https://user:pass@service.example', 'baseUrl must not contain credentials; pass accessToken'],
    ['baseUrl', 'https://user@service.example', 'baseUrl must not contain credentials; pass accessToken'],
    ['baseUrl', 'https://:pass@service.example', 'baseUrl must not contain credentials; pass accessToken'],
    ['baseUrl', `${BASE_URL}?env=dev`, 'baseUrl must not contain a query; pass query with a call'],
    ['baseUrl', `${BASE_URL}?`, 'baseUrl must not contain a query; pass query with a call'],
    ['baseUrl', `${BASE_URL}#top`, 'baseUrl must not contain a fragment'],
    ['baseUrl', `${BASE_URL}/#`, 'baseUrl must not contain a fragment'],
    ...[null, 5, '  ', '\n', 'a b', 'a\nb', 'Bearer token', 'tökén', {}, Promise.resolve('token')].map(
      (value): [string, unknown, string] => ['accessToken', value, NO_TOKEN],
    ),
    ['accessToken', undefined, NO_TOKEN.replace(';', ', got undefined. Is it set?;')],
    ['accessToken', '', NO_TOKEN.replace(';', ', got an empty value. Is it set?;')],
    ...['timeoutMs', 'totalTimeoutMs'].flatMap((name) =>
      [0, -1, Number.NaN, Infinity, 2 ** 31, '5', null].map((value): [string, unknown, string] => [
        name,
        value,
        `${name} ${MILLISECONDS}, got ${got(value)}`,
      ]),
    ),
    ...[-1, 0.5, Number.NaN, Infinity, '2', null].map((value): [string, unknown, string] => [
      'maxRetries',
      value,
      `maxRetries must be a whole number, 0 or more, got ${got(value)}`,
    ]),
    ...[null, {}, 'fetch'].map((value): [string, unknown, string] => [
      'fetch',
      value,
      `fetch must be a function, got ${got(value)}`,
    ]),
    ...[null, 'x-a: b', [['x-a', 'b']], new Headers()].map((value): [string, unknown, string] => [
      'headers',
      value,
      'headers must be a plain object of header names and values',
    ]),
    ['headers', { Authorization: 'Bearer x' }, 'headers.Authorization is set by the client or the connection'],
    ['headers', { 'X-Rewrite-URL': 'x' }, 'headers.X-Rewrite-URL would replace the method or the URL of the request'],
    ['headers', { 'x a': 'x' }, 'headers.x a is not a header name'],
    ['headers', { 'x-a': 'a\r\nx-b: b' }, 'headers.x-a must be one line of Latin-1 text'],
    ...[null, 'yes', 1].map((value): [string, unknown, string] => [
      'allowInsecureHttp',
      value,
      `allowInsecureHttp must be true or false, got ${value === null ? 'null' : typeof value}`,
    ]),
    ...[null, 'warn', true].map((value): [string, unknown, string] => [
      'responseValidation',
      value,
      "responseValidation must be 'throw' or 'report'",
    ]),
    ...[null, 'log', [], () => undefined].map((value): [string, unknown, string] => [
      'hooks',
      value,
      `hooks must be an object, got ${got(value)}`,
    ]),
    ['hooks', { onRequest: 'log' }, 'hooks.onRequest must be a function, got string'],
    ['hooks', { onRetry: null }, 'hooks.onRetry must be a function, got null'],
  ])('%s: %o is reported with the expected value', (name, value, problem) => {
    expect(refusalOf({ [name]: value })).toBe(`CampaignClient: ${problem}`)
  })

  it.each([undefined, null, BASE_URL, 5, []])('object, such as %j, is refused', (options) => {
    expect(refusal(options).message).toMatch(/^CampaignClient: the options must be an object, got /)
  })

  it.each<[object]>([
    [{ baseUrl: 'https://user:s3cret@service.example' }],
    [{ baseUrl: 'https://s3cret@service.example?s3cret#s3cret' }],
    [{ baseUrl: 's3cret' }],
    [{ baseUrl: 'http://s3cret.example' }],
    [{ accessToken: 's3cret s3cret' }],
    [{ accessToken: { token: 's3cret' } }],
    [{ headers: { authorization: 'Bearer s3cret' } }],
    [{ headers: { 'x-key': 's3cret\n' } }],
    [{ webhookRegistrationPath: '?s3cret' }],
    [{ queryNames: 's3cret' }],
    [{ responseValidation: 's3cret' }],
    [{ timeoutMs: 's3cret', maxRetries: 's3cret', fetch: 's3cret', hooks: 's3cret', allowInsecureHttp: 's3cret' }],
  ])('is reported without its value: %j', (options) => {
    expect(refusalOf(options)).not.toContain('s3cret')
  })
})

describe('a getter that throws', () => {
  const thrown = new Error('no')
  const throwing = {
    get timeoutMs(): number {
      throw thrown
    },
  }

  it('fails the constructor and `with` with the error of the getter', () => {
    // Object.assign or a spread would call the getter here.
    const options = Object.defineProperties(
      { baseUrl: BASE_URL, accessToken: 'token' },
      Object.getOwnPropertyDescriptors(throwing),
    )
    expect(() => new CampaignClient(options)).toThrow(thrown)
    expect(() => clientWith().with(throwing)).toThrow(thrown)
  })

  it('rejects the call with the error of the getter, and nothing is sent', async () => {
    const fetch = vi.fn()
    const client = clientWith({ fetch })
    await expect(client.getInviteCode({ code: 'c', pid: 'demo' }, throwing)).rejects.toBe(thrown)
    expect(fetch).not.toHaveBeenCalled()
  })
})

describe('plain http', () => {
  const creating = (options: object) => () => clientWith(options)

  it.each([
    'http://localhost/api/v1',
    'http://localhost:8080',
    'http://127.0.0.1:8080/api/v1',
    'http://127.1.2.3',
    'http://2130706433',
    'http://[::1]:8080',
  ])('is accepted for the loopback host of %s', (baseUrl) => {
    expect(creating({ baseUrl })).not.toThrow()
  })

  it.each([
    'http://service.example/api/v1',
    'http://192.168.0.1',
    'http://10.0.0.1',
    'http://0.0.0.0',
    'http://128.0.0.1',
    'http://localhost.example',
    'http://api.localhost',
    'http://127.evil.example',
    'http://127.0.0.1.evil.example',
    'http://notlocalhost',
    'http://127.0.0.1.example',
    'http://[::2]',
    'http://[::ffff:127.0.0.2]',
  ])('is refused for %s without allowInsecureHttp', (baseUrl) => {
    expect(refusalOf({ baseUrl })).toBe(
      'CampaignClient: baseUrl must be https, because http sends the token unencrypted; allowInsecureHttp: true accepts it',
    )
    expect(refusalOf({ baseUrl, allowInsecureHttp: false })).toContain('must be https')
    expect(creating({ baseUrl, allowInsecureHttp: true })).not.toThrow()
  })
})

it('accepts undefined for every option but baseUrl and accessToken', () => {
  expect(() =>
    clientWith({
      timeoutMs: undefined,
      totalTimeoutMs: undefined,
      maxRetries: undefined,
      fetch: undefined,
      headers: undefined,
      allowInsecureHttp: undefined,
      queryNames: undefined,
      webhookRegistrationPath: undefined,
      responseValidation: undefined,
      hooks: undefined,
    }),
  ).not.toThrow()
})

it('accepts the smallest and largest value of every number', () => {
  expect(() => clientWith({ timeoutMs: 0.5, totalTimeoutMs: 2 ** 31 - 1, maxRetries: 0 })).not.toThrow()
})

it('does not read environment variables', () => {
  const reads: PropertyKey[] = []
  const { env } = process
  process.env = new Proxy(env, {
    get: (target, name) => {
      reads.push(name)
      return Reflect.get(target, name)
    },
  })
  try {
    clientWith()
    expect(refusal({}).message).toMatch(/baseUrl must be an absolute URL/)
  } finally {
    process.env = env
  }
  expect(reads).toEqual([])
})

describe('baseUrlProblem of a transport', () => {
  const send = vi.fn()

  it('returns the error message', () => {
    const transport = {
      send,
      baseUrlProblem(baseUrl: string) {
        return this === transport ? `${baseUrl} is out of reach` : 'called without its object'
      },
    }
    expect(refusalOf({ transport })).toBe(
      `CampaignClient: baseUrl is refused by the transport: ${BASE_URL}/ is out of reach`,
    )
  })

  it('may return undefined or be absent', () => {
    for (const baseUrlProblem of [() => undefined, undefined]) {
      expect(() => clientWith({ transport: { send, baseUrlProblem } })).not.toThrow()
    }
  })

  it('must be a function', () => {
    expect(refusalOf({ transport: { send, baseUrlProblem: 'none' } })).toBe(
      'CampaignClient: transport has a baseUrlProblem that is not a function',
    )
  })
})
