import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import {
  CampaignClient,
  type CampaignClientOptions,
  type Cancellation,
  ConfigurationError,
  NetworkError,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
  UnexpectedResponseError,
} from 'campaign-client'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { operation } from '../contract/operations.ts'
import { unreadableValues } from '../support/unreadable-values.ts'
import { withFailingConnections } from './failing-connection.ts'
import { rejection } from './fake-time.ts'
import { closedAddress } from './loopback-server.ts'
import { failing, refused, scriptedFetch, systemError } from './scripted-fetch.ts'

const TOKEN = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJwYXJ0bmVyIn0.c2lnbmF0dXJl'
const read = operation('getCampaignPoints')
const award = operation('rewardWallet')
const record = operation('recordActionValue')
const envelope = { success: true, data: read.data }

function clientOf(options: Partial<CampaignClientOptions> = {}): CampaignClient {
  return new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: TOKEN, ...options })
}

async function errorOf(promise: Promise<unknown>): Promise<NetworkError> {
  return promise.then(
    () => expect.unreachable('expected a rejection, but the call resolved'),
    (reason: NetworkError) => reason,
  )
}

const unhandled = vi.fn()

beforeEach(() => {
  unhandled.mockReset()
  process.on('unhandledRejection', unhandled)
  vi.spyOn(Math, 'random').mockReturnValue(0)
})

afterEach(async () => {
  vi.restoreAllMocks()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})

const throwing = (): never => {
  throw new Error('cannot')
}

describe('a service that cannot be reached', () => {
  test.each([
    ['127.0.0.1', (address: string) => address],
    ['localhost, which may resolve to two addresses', (address: string) => address.replace('127.0.0.1', 'localhost')],
  ])(
    'a closed port of %s: a guarded write is retried, an unsafe one is not, and both outcomes are unknown',
    async (_, host) => {
      const baseUrl = host(await closedAddress())
      for (const [method, attempts] of [
        [award, 3],
        [record, 1],
      ] as const) {
        const onRequest = vi.fn()
        const error = await errorOf(method.run(clientOf({ baseUrl, hooks: { onRequest } })))
        expect(error).toBeInstanceOf(NetworkError)
        expect(error).toMatchObject({ systemCode: 'ECONNREFUSED', outcome: 'unknown' })
        expect(onRequest).toHaveBeenCalledTimes(attempts)
      }
    },
  )

  const codes = [
    ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ECONNRESET', 'EPIPE'],
    ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'CERT_HAS_EXPIRED'],
  ]
  const error = fc
    .record({
      code: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...codes) }, fc.string()),
      syscall: fc.constantFrom(undefined, 'connect', 'getaddrinfo', 'queryA', 'read', 'write'),
    })
    .map(({ code, syscall }) => systemError(code, `${syscall} ${code}`, { errno: -1, syscall }))
  const severalErrors = fc
    .tuple(fc.constantFrom(...codes), fc.array(error))
    .map(([code, errors]) => Object.assign(new AggregateError(errors), { code }))
  const anything = fc.constantFrom<unknown>(
    ...[undefined, 'ECONNREFUSED', new Error('something'), new DOMException('gone', 'AbortError'), selfCaused()],
    ...[
      new TransportError('lost', { kind: 'network', sent: true }),
      { kind: 'network', sent: false, name: 'TransportError' },
    ],
  )
  /** Anything that `fetch` may throw: an error with a cause, as the built-in one does, or without. */
  const failure = fc
    .tuple(fc.oneof(error, severalErrors, anything), fc.boolean())
    .map(([cause, isBare]) => ({ cause, thrown: isBare ? cause : new TypeError('fetch failed', { cause }) }))

  // A wrapper around fetch may fail on a connection of its own, or retry, after the service has responded. The client cannot
  // detect wrappers.
  test("no failure of a partner's fetch or a replaced global fetch proves that nothing was sent", async () => {
    await fc.assert(
      fc.asyncProperty(failure, fc.boolean(), async ({ thrown }, isGlobal) => {
        const { fetch, sent } = scriptedFetch(() => {
          throw thrown
        })
        if (isGlobal) vi.stubGlobal('fetch', fetch)
        const client = clientOf(isGlobal ? {} : { fetch })
        const failed = await errorOf(record.run(client)).finally(() => vi.unstubAllGlobals())
        expect(failed).toBeInstanceOf(NetworkError)
        expect(failed).toHaveProperty('outcome', 'unknown')
        expect(sent).toHaveLength(1)
      }),
    )
  })

  test('a failed connection of the global fetch leaves the outcome unknown, and systemCode has its code', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(error, severalErrors, anything), async (cause) => {
        await withFailingConnections(cause, async (attempts) => {
          const failed = await errorOf(record.run(clientOf()))
          expect(failed).toBeInstanceOf(NetworkError)
          expect(failed).toHaveProperty('outcome', 'unknown')
          const code = cause instanceof Error && 'errno' in cause ? Reflect.get(cause, 'code') : undefined
          if (codes.includes(code)) expect(failed).toHaveProperty('systemCode', code)
          expect(attempts()).toBe(1)
        })
      }),
    )
  })

  test('the systemCode of failed connections to several addresses is the code of their AggregateError', async () => {
    const refusals = ['::1', '127.0.0.1'].map((address) =>
      systemError('ETIMEDOUT', 'connect', { errno: -1, syscall: 'connect', address, port: 443 }),
    )
    const cause = Object.assign(new AggregateError(refusals), { code: 'ENETUNREACH' })
    const { fetch } = scriptedFetch(failing(cause))
    const failed = await errorOf(record.run(clientOf({ fetch })))
    expect(failed).toMatchObject({ code: 'network', systemCode: 'ENETUNREACH' })
  })

  describe.each(unreadableValues)('$name', ({ create }) => {
    const thrower = async () => {
      throw create()
    }

    test.each([
      ['fetch', { fetch: thrower }],
      ['transport', { transport: { send: thrower } }],
    ])('thrown by a %s: the outcome of a write is unknown', async (_, options) => {
      const error = await errorOf(record.run(clientOf(options)))
      expect(error).toBeInstanceOf(NetworkError)
      expect(error).toHaveProperty('outcome', 'unknown')
    })
  })

  test('a fetch that rejects with a TransportError with sent: false is called again', async () => {
    const { fetch, sent } = scriptedFetch(refused)
    const error = await errorOf(record.run(clientOf({ fetch })))
    expect(error).toMatchObject({ code: 'network', systemCode: 'ECONNREFUSED', outcome: 'not_applied' })
    expect(error.message).toContain('could not be reached (ECONNREFUSED, connect ECONNREFUSED 127.0.0.1:9)')
    expect(sent).toHaveLength(3)
  })
})

describe('the result of fetch', () => {
  const wrong: readonly [string, unknown, string][] = [
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a string', `OK ${TOKEN}`, 'string'],
    ['an empty object', {}, 'object'],
    ['the parsed body', envelope, 'object'],
    ['a stub without a status', { headers: new Headers(), text: async () => JSON.stringify(envelope) }, 'object'],
    ['a stub whose status is a string', { status: '200', headers: new Headers(), text: async () => '{}' }, 'object'],
    ['a stub whose status is NaN', { status: Number.NaN, headers: new Headers(), text: async () => '{}' }, 'object'],
    ['a stub without headers', { status: 500, text: async () => '{}' }, 'object'],
    ['a stub that reads JSON only', { status: 200, headers: new Headers(), json: async () => envelope }, 'object'],
  ]
  const returning = (response: unknown) => vi.fn(async () => response) as unknown as typeof globalThis.fetch

  test.each(wrong)('is %s: the call fails without a retry', async (_, response, got) => {
    for (const method of [read, award, record]) {
      const fetch = returning(response)
      const error = await errorOf(method.run(clientOf({ fetch })))
      expect(error).toBeInstanceOf(NetworkError)
      expect(error.message).toBe(`${method.name}: fetch must return a Response, got ${got}`)
      // It may have sent the request.
      expect(error.outcome).toBe(method.writes ? 'unknown' : undefined)
      expect(inspect(error, { showHidden: true, depth: 20 })).not.toContain(TOKEN)
      expect(fetch).toHaveBeenCalledTimes(1)
    }
  })

  test('is undefined from the global fetch: the call fails', async () => {
    vi.stubGlobal('fetch', returning(undefined))
    const error = await errorOf(record.run(clientOf()))
    vi.unstubAllGlobals()
    expect(error.message).toContain('fetch must return a Response, got undefined')
  })

  test('has the status 0, such as Response.error(): the call fails, and the outcome of a write is unknown', async () => {
    const hidden = { type: 'opaqueredirect', status: 0, headers: new Headers(), text: async () => '' }
    for (const method of [read, record]) {
      for (const given of [hidden, Response.error()]) {
        const fetch = returning(given)
        const error = await errorOf(method.run(clientOf({ fetch })))
        expect(error).toBeInstanceOf(UnexpectedResponseError)
        expect(error).toMatchObject({ status: 0, message: expect.stringContaining('Response.error()') })
        expect(error.outcome).toBe(method.writes ? 'unknown' : undefined)
        expect(fetch).toHaveBeenCalledOnce()
      }
    }
  })

  test.each<[string, object]>([
    ['a stream of Node', { pipe() {} }],
    ['a stream whose cancel throws', { cancel: throwing }],
    ['a stream whose cancel returns undefined', { cancel() {} }],
    ['a stream whose cancel rejects', { cancel: () => Promise.reject(new Error('cannot')) }],
  ])('has a body that is %s: a redirect fails the call', async (_, body) => {
    const fetch = returning({ status: 302, headers: new Headers(), text: async () => '', body })
    const error = await errorOf(read.run(clientOf({ fetch })))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect(fetch).toHaveBeenCalledTimes(1)
  })

  test.each([42, { success: true }, Symbol('text'), undefined])(
    'has a text that is not a string (%#): a write is sent once, and its outcome is unknown',
    async (text) => {
      const fetch = returning({ status: 200, headers: new Headers(), text: async () => text })
      const error = await errorOf(record.run(clientOf({ fetch })))
      expect(error).toMatchObject({ code: 'network', outcome: 'unknown' })
      expect(fetch).toHaveBeenCalledTimes(1)
    },
  )

  test('is an object with the members of a Response: the call succeeds', async () => {
    const fetch = returning({ status: 200, headers: new Headers(), text: async () => JSON.stringify(envelope) })
    expect(await read.run(clientOf({ fetch }))).toEqual(read.data)
  })
})

describe('the body of an abandoned attempt', () => {
  /** A response that never ends, and whether its body was cancelled. */
  function endless() {
    const cancelled = vi.fn()
    const body = new ReadableStream<Uint8Array>({ cancel: cancelled })
    return { cancelled, respond: () => new Response(body) }
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  test('is cancelled after a timeout, even if fetch ignores its signal', async () => {
    const { cancelled, respond } = endless()
    const client = clientOf({ fetch: async () => respond(), timeoutMs: 200 })
    vi.useFakeTimers()
    const error = await rejection(record.run(client))
    vi.useRealTimers()
    expect(error).toMatchObject({ code: 'timeout', outcome: 'unknown' })
    await turn()
    expect(cancelled).toHaveBeenCalledOnce()
  })

  test('is cancelled after an abort', async () => {
    const { cancelled, respond } = endless()
    const controller = new AbortController()
    const client = clientOf({ fetch: async () => respond() })
    const call = errorOf(record.run(client, { signal: controller.signal }))
    await turn()
    controller.abort('enough')
    expect(await call).toBe('enough')
    await turn()
    expect(cancelled).toHaveBeenCalledOnce()
  })

  test.each(['cancel', 'destroy'])('is ended by its %s() if it arrives after the abort', async (name) => {
    const controller = new AbortController()
    let arrive: (response: unknown) => void = () => undefined
    const fetch = (() => new Promise((resolve) => (arrive = resolve))) as never
    const call = errorOf(record.run(clientOf({ fetch }), { signal: controller.signal }))
    await turn()
    controller.abort('enough')
    expect(await call).toBe('enough')
    const end = vi.fn()
    arrive({ status: 200, headers: new Headers(), text: () => expect.unreachable(), body: { [name]: end } })
    await turn()
    expect(end).toHaveBeenCalledOnce()
  })

  test.each<[string, () => unknown]>([
    ['throws', throwing],
    ['returns undefined', () => undefined],
  ])('that is too large: the call fails, even if cancelling the body %s', async (_, cancel) => {
    const read = async () => ({ done: false, value: new Uint8Array(2000) })
    const body = { getReader: () => ({ read, cancel }) }
    const fetch = (async () => ({ status: 200, headers: new Headers(), text: async () => '', body })) as never
    const error = await errorOf(record.run(clientOf({ fetch, maxResponseBytes: 1000 })))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect(error.outcome).toBe('unknown')
  })
})

function selfCaused(): Error {
  const error = new Error('again')
  error.cause = error
  return error
}

describe('on a platform without fetch', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  test.each([undefined, null])('(%s), the call fails with a hint, and nothing is sent', async (value) => {
    const client = clientOf()
    vi.stubGlobal('fetch', value)
    const error = await errorOf(record.run(client))
    expect(error).toMatchObject({ code: 'network', outcome: 'not_applied' })
    expect(error.message).toContain('this runtime has no global fetch; pass fetch or a transport')
  })

  test('a client with the fetch option works', async () => {
    vi.stubGlobal('fetch', undefined)
    const { fetch } = scriptedFetch(() => Response.json(envelope))
    expect(await read.run(clientOf({ fetch }))).toEqual(read.data)
  })

  test('a client works after the global fetch has been defined', async () => {
    const { fetch } = scriptedFetch(() => Response.json(envelope))
    vi.stubGlobal('fetch', undefined)
    const client = clientOf()
    vi.stubGlobal('fetch', fetch)
    expect(await read.run(client)).toEqual(read.data)
  })
})

describe('ports that fetch refuses', () => {
  // Some ports of the table in the standard.
  test.each([1, 9, 22, 25, 110, 143, 587, 2049, 5060, 6000, 6665, 6669, 6697, 10080])(
    '%i: the constructor throws',
    (port) => {
      for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
        expect(() => clientOf({ baseUrl: `http://${host}:${port}/api/v1` })).toThrow(ConfigurationError)
        expect(() => clientOf({ baseUrl: `http://${host}:${port}/api/v1` })).toThrow(new RegExp(`port ${port},`))
      }
    },
  )

  test('are also refused by the fetch of Node', async () => {
    const refusedByFetch: number[] = []
    for (const port of [1, 6, 7, 80, 443, 6000, 8080, 10080]) {
      const cause = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(500) }).then(
        () => undefined,
        (error: Error) => error.cause,
      )
      if (cause instanceof Error && cause.message === 'bad port') refusedByFetch.push(port)
    }
    expect(refusedByFetch).toEqual([1, 7, 6000, 10080])
    for (const port of [80, 443, 8080])
      expect(() => clientOf({ baseUrl: `http://127.0.0.1:${port}/api/v1` })).not.toThrow()
  })

  test('are allowed with the fetch option', async () => {
    const { fetch } = scriptedFetch(() => Response.json(envelope))
    expect(await read.run(clientOf({ baseUrl: 'http://127.0.0.1:6000/api/v1', fetch }))).toEqual(read.data)
  })

  test("cause an error with the reason if a partner's fetch refuses them", async () => {
    const error = await errorOf(
      read.run(
        clientOf({ baseUrl: 'http://127.0.0.1:6000/api/v1', fetch: (url, init) => fetch(url, init), maxRetries: 0 }),
      ),
    )
    expect(error.message).toMatch(/fetch failed, bad port\)$/)
  })
})

describe('the message of a failed connection', () => {
  test.each<[string, unknown, RegExp]>([
    [
      'contains the innermost cause',
      new Error('Proxy response (407) !== 200 when HTTP Tunneling'),
      /\(fetch failed, Proxy response \(407\) !== 200 when HTTP Tunneling\)$/,
    ],
    ['contains equal texts once', new Error('fetch failed'), /\(fetch failed\)$/],
    [
      'starts with the code',
      systemError('ECONNRESET', 'read ECONNRESET'),
      /\(ECONNRESET, fetch failed, read ECONNRESET\)$/,
    ],
    ['is cut if it is long', new Error('x'.repeat(10_000)), /^.{100,400}$/],
  ])('%s', async (_, cause, message) => {
    const { fetch } = scriptedFetch(failing(cause))
    const error = await errorOf(read.run(clientOf({ fetch, maxRetries: 0 })))
    expect(error.message).toMatch(message)
  })
})

describe('the fetch function', () => {
  test('gets the URL as a string', async () => {
    const seen: unknown[] = []
    const spy: typeof globalThis.fetch = async (input) => {
      seen.push(typeof input)
      return Response.json(envelope)
    }
    await read.run(clientOf({ fetch: spy }))
    vi.stubGlobal('fetch', spy)
    await read.run(clientOf())
    vi.unstubAllGlobals()
    expect(seen).toEqual(['string', 'string'])
  })

  const ways: readonly [string, (fetch: typeof globalThis.fetch) => Partial<CampaignClientOptions>][] = [
    ["a partner's", (fetch) => ({ fetch })],
    [
      'the global',
      (fetch) => {
        vi.stubGlobal('fetch', fetch)
        return {}
      },
    ],
  ]

  afterEach(() => {
    vi.unstubAllGlobals()
  })

  test.each(ways)('gets cache: no-store with each request, so that no framework caches it: %s', async (_, via) => {
    const inits: (RequestInit | undefined)[] = []
    const options = via(async (_url, init) => {
      inits.push(init)
      return Response.json(envelope)
    })
    const client = clientOf(options)
    await read.run(client)
    await award.run(client)
    expect(inits.map((init) => init?.cache)).toEqual(['no-store', 'no-store'])
  })

  test.each<[string, unknown]>([
    ['has no cache', class {}],
    ['is missing', undefined],
  ])('gets no cache if the Request of the platform %s', async (_, platformRequest) => {
    const inits: unknown[] = []
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      inits.push(init)
      return Response.json(envelope)
    }
    vi.stubGlobal('Request', platformRequest)
    await read.run(clientOf({ fetch }))
    expect(inits).toHaveLength(1)
    expect(inits[0]).not.toHaveProperty('cache')
  })

  test("of a partner needs no classes of the platform's fetch", async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(envelope))
    for (const name of ['Request', 'Response', 'Headers', 'FormData', 'ReadableStream', 'fetch']) {
      vi.stubGlobal(name, undefined)
    }
    const chunks = [bytes.subarray(0, 9), bytes.subarray(9)].map((value) => ({ done: false, value }))
    const fetch = async () => ({
      status: 200,
      headers: new Map([['content-type', 'application/json']]),
      body: { getReader: () => ({ read: async () => chunks.shift() ?? { done: true } }) },
      text: () => expect.unreachable(),
    })
    expect(await read.run(clientOf({ fetch: fetch as never }))).toEqual(read.data)
  })

  test('of a partner may belong to another realm', async () => {
    const body = JSON.stringify(envelope)
    const fetch = runInNewContext(
      `async () => {
        const chunks = [{ done: false, value: Uint8Array.from(bytes) }]
        const body = { getReader: () => ({ read: async () => chunks.shift() ?? { done: true } }) }
        return { status: 200, headers: new Map(), body, text() { throw new Error('not called') } }
      }`,
      { bytes: [...new TextEncoder().encode(body)] },
    )
    expect(await read.run(clientOf({ fetch }))).toEqual(read.data)
  })
})

describe("a partner's transport", () => {
  const validResponse = { status: 200, header: () => null, text: JSON.stringify(envelope), complete: true }
  const sending = (send: unknown) => clientOf({ transport: { send } as Transport })

  test('gets each request and returns its response', async () => {
    const send = vi.fn(async (_request: TransportRequest, _cancellation: Cancellation) => validResponse)
    await read.run(sending(send))
    await award.run(sending(send))
    await record.run(sending(send))
    expect(send.mock.calls.map(([request]) => request)).toMatchObject([
      { method: 'GET', body: undefined, idempotent: true, maxResponseBytes: 32 * 1024 * 1024 },
      { method: 'POST', idempotent: true, headers: { authorization: `Bearer ${TOKEN}` } },
      { method: 'POST', idempotent: false, body: expect.stringContaining('"value":1') },
    ])
    expect(send.mock.calls[0]?.[1].signal).toBeInstanceOf(AbortSignal)
  })

  test('is called as a method of its object', async () => {
    class Mine implements Transport {
      readonly #response = validResponse
      async send(): Promise<TransportResponse> {
        return this.#response
      }
    }
    const client = clientOf({ transport: new Mine() })
    expect(await read.run(client)).toEqual(read.data)
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a Response', Response.json(envelope)],
    ['no status', { ...validResponse, status: undefined }],
    ['a text that is not a string', { ...validResponse, text: envelope }],
    ['a header that is not a function', { ...validResponse, header: new Headers() }],
    ['no complete field', { ...validResponse, complete: undefined }],
  ])('that returns %s: the call fails without a retry', async (_, given) => {
    for (const method of [read, award, record]) {
      const send = vi.fn(async () => given)
      const error = await errorOf(method.run(sending(send)))
      expect(error).toBeInstanceOf(NetworkError)
      expect(error.message).toContain('the transport must return a TransportResponse, got ')
      expect(error.outcome).toBe(method.writes ? 'unknown' : undefined)
      expect(send).toHaveBeenCalledOnce()
    }
  })

  test.each(['status', 'header', 'text', 'complete', 'cause'])(
    'that returns a response whose %s throws fails a write with the outcome unknown',
    async (field) => {
      const given = Object.defineProperty({ ...validResponse, complete: field !== 'cause' }, field, {
        get() {
          throw new Error(`no ${field}, with ${TOKEN}`)
        },
      })
      const error = await errorOf(record.run(sending(async () => given)))
      expect(error).toBeInstanceOf(NetworkError)
      expect(error).toHaveProperty('outcome', 'unknown')
      expect(error.message).not.toContain(TOKEN)
    },
  )

  test('that rejects with a very long message does not delay the call', async () => {
    const error = await errorOf(read.run(sending(() => Promise.reject(new Error('a'.repeat(12_000_000))))))
    expect(error).toBeInstanceOf(NetworkError)
    expect(error.cause).toHaveProperty('message.length', 16_384)
  })

  test.each<[string, () => unknown]>([
    [
      'throws synchronously',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects with an error of its own', () => Promise.reject(new Error('broken'))],
    ['rejects with nothing', () => Promise.reject()],
    ['rejects with null', () => Promise.reject(null)],
    [
      'rejects with the fields of a TransportError in another error',
      () => Promise.reject(Object.assign(new Error('broken'), { kind: 'network', sent: false })),
    ],
    ['rejects with a function', () => Promise.reject(() => 'broken')],
    ['rejects with the system error of a refused connection', () => Promise.reject(systemError('ECONNREFUSED', 'x'))],
  ])('that %s fails a write with the outcome unknown', async (_, send) => {
    const error = await errorOf(record.run(sending(vi.fn(send))))
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toHaveProperty('outcome', 'unknown')
  })

  describe('that rejects with a TransportError', () => {
    const failingWith = (message: string, init: ConstructorParameters<typeof TransportError>[1]) =>
      errorOf(record.run(sending(() => Promise.reject(new TransportError(message, init)))))

    test('without a message causes an error with the messages of its causes', async () => {
      const cause = new Error('', { cause: new Error('TLS alert 42') })
      const error = await failingWith('', { kind: 'network', sent: true, cause: new Error('proxy', { cause }) })
      expect(error.message).toBe(
        'recordActionValue: the connection failed before a complete response arrived (proxy, TLS alert 42)',
      )
      expect(error.cause).toHaveProperty('message', 'proxy')
    })

    test('causes an error with its message and the message of its cause', async () => {
      const error = await failingWith('no luck', { kind: 'network', sent: true, cause: new Error('proxy') })
      expect(error.message).toMatch(/ \(no luck, proxy\)$/)
      expect(error.cause).toMatchObject({ message: 'no luck', cause: { message: 'proxy' } })
    })

    test.each(['E BAD', 'EBAD!', 'E'.repeat(65), ''])(
      'causes an error without a malformed system code: %s',
      async (systemCode) => {
        const error = await failingWith('no luck', { kind: 'network', sent: true, systemCode })
        expect(error).toBeInstanceOf(NetworkError)
        expect(error).not.toHaveProperty('systemCode')
      },
    )

    test('of kind too_large causes an UnexpectedResponseError', async () => {
      const error = await failingWith('more than 10 bytes', { kind: 'too_large', sent: true })
      expect(error).toBeInstanceOf(UnexpectedResponseError)
      expect(error).toMatchObject({ status: 0, issues: [{ path: [], message: 'more than 10 bytes' }] })
      expect(error.message).toBe('recordActionValue: more than 10 bytes; raise maxResponseBytes to accept it')
    })
  })

  test('is called again after an error with sent: false', async () => {
    const send = vi.fn(async () => {
      throw new TransportError('no route', { kind: 'network', sent: false, systemCode: 'EHOSTUNREACH' })
    })
    const error = await errorOf(record.run(sending(send)))
    expect(error).toMatchObject({ systemCode: 'EHOSTUNREACH', outcome: 'not_applied' })
    expect(send).toHaveBeenCalledTimes(3)
  })

  test('may reject with a TransportError of another copy of the package', async () => {
    vi.resetModules()
    const other = await import('campaign-client')
    expect(other.TransportError).not.toBe(TransportError)
    const send = vi.fn(async () => {
      throw new other.TransportError('no route', { kind: 'network', sent: false })
    })
    expect(await errorOf(record.run(sending(send)))).toHaveProperty('outcome', 'not_applied')
  })

  test.each([
    [200, 'network', 'unknown'],
    [400, 'bad_request', 'not_applied'],
    [503, 'service_error', 'unknown'],
  ])(
    'that returns an incomplete %i fails a write with the code %s and the outcome %s',
    async (status, code, outcome) => {
      const send = vi.fn(async () => ({ ...validResponse, status, complete: false, cause: new Error('cut') }))
      const error = await errorOf(record.run(sending(send)))
      expect(error).toMatchObject({ code, outcome })
      expect(send).toHaveBeenCalledOnce()
    },
  )

  test('that returns an incomplete response leaves the outcome unknown, even if the cause has sent: false', async () => {
    const cause = new TransportError('not sent', { kind: 'network', sent: false })
    const error = await errorOf(record.run(sending(async () => ({ ...validResponse, complete: false, cause }))))
    expect(error).toMatchObject({ code: 'network', outcome: 'unknown' })
  })

  test('may return a response whose header() throws', async () => {
    const header = (): never => {
      throw new Error('no headers')
    }
    expect(await read.run(sending(async () => ({ ...validResponse, header })))).toEqual(read.data)
    const error = await errorOf(read.run(sending(async () => ({ ...validResponse, header, status: 400 }))))
    expect(error).toMatchObject({ code: 'bad_request', headers: {} })
  })
})

describe('a response that is too large', () => {
  test('is refused from a fetch without body streams, too', async () => {
    const text = JSON.stringify({ ...envelope, note: '€'.repeat(1000) })
    const foreign = { status: 200, headers: new Headers(), text: async () => text }
    const fetch = (async () => foreign) as unknown as typeof globalThis.fetch
    const bytes = Buffer.byteLength(text)
    const limitedTo = (maxResponseBytes: number) => read.run(clientOf({ fetch, maxResponseBytes }))
    expect(await limitedTo(bytes)).toEqual(read.data)
    expect(await errorOf(limitedTo(bytes - 1))).toBeInstanceOf(UnexpectedResponseError)
  })
})
