import { type ApiError, type CampaignClient, InvalidRequestError, UnexpectedResponseError } from 'campaign-client'
import { describe, expect, it, vi } from 'vitest'
import { addressOf, clientWith, rejection } from '../client/stub-service.ts'
import { invoke, operations } from '../contract/operations.ts'
import { testResponses } from './response-tests.ts'

let fetchStub: ReturnType<typeof vi.fn<typeof fetch>>

testResponses({
  respond(name, { status = 200, body = null, headers = {} }) {
    fetchStub = vi.fn(async (url) => {
      if (!String(url).startsWith(addressOf(name))) throw new Error(`${url} is not the URL of ${name}`)
      return new Response(body, { status, headers })
    })
  },
  client: (options) => clientWith({ fetch: fetchStub, ...options }),
  received: () => fetchStub.mock.calls.length,
})

describe("responses that only a partner's fetch or transport returns", () => {
  it.each([100, 103, 199])('reports %i as a status without a final response', async (status) => {
    const fetch = (async () => ({ status, headers: new Headers(), text: async () => '' })) as never
    const error = (await rejection(clientWith({ fetch }).getCampaignInfo({ pid: 'demo' }))) as Error
    expect(error).toMatchObject({ code: 'unexpected_response', status })
    expect(error.message).toMatch(/^(?!.*redirect).*a 1xx status/)
  })

  const clientReturning = (given: object) => {
    const send = async () => ({ status: 200, header: () => null, text: '', complete: true, ...given })
    return clientWith({ transport: { send } })
  }

  it.each(['', '\uFEFF'])('removes a byte order mark before the JSON only: %j', async (mark) => {
    const text = `${mark}{"success":true,"data":{"used_by":["\uFEFFada"]}}`
    expect(await clientReturning({ text }).getInviteCode({ code: 'c', pid: 'd' })).toEqual({ used_by: ['\uFEFFada'] })
  })

  it.each([600, 777])('%i is an ApiError, not a ServiceError', async (status) => {
    expect(await rejection(clientReturning({ status }).getCampaignInfo({ pid: 'demo' }))).toMatchObject({
      code: 'api_error',
      status,
    })
  })

  it.each([
    [0, 'status 0 means'],
    [101, 'a 1xx status'],
    [302, 'redirects are not followed'],
    [304, 'conditional request'],
  ])('explains an unexpected status %i, even if the body is incomplete', async (status, why) => {
    expect(
      await rejection(clientReturning({ status, complete: false }).getCampaignInfo({ pid: 'demo' })),
    ).toMatchObject({
      code: 'unexpected_response',
      status,
      message: expect.stringContaining(why),
    })
  })

  it('ignores headers that are not strings', async () => {
    const error = await rejection(clientReturning({ status: 400, header: () => 7 }).getCampaignInfo({ pid: 'demo' }))
    expect(error).toMatchObject({ code: 'bad_request', headers: {} })
    expect(error).not.toHaveProperty('retryAfterMs')
  })

  it.each([
    ['that cannot be read', () => Object.assign({} as never).missing.value],
    ['that is not a string', () => ['text/html']],
    ['that contains the token', () => 'text/opaque-token-1234567890'],
  ])('does not name a content type %s', async (_, header) => {
    const send = async () => ({ status: 200, header: header as never, text: '<html>', complete: true })
    const client = clientWith({ transport: { send }, accessToken: 'opaque-token-1234567890' })
    const error = await rejection(client.updateUser({ account: 'a', platform: 'p', pid: 'd' }))
    expect(error).toMatchObject({
      code: 'unexpected_response',
      outcome: 'unknown',
      issues: [{ path: [], message: 'expected JSON' }],
    })
    expect((error as Error).message).not.toContain('text/')
  })

  it('shortens long headers', async () => {
    const transport = {
      send: async () => ({ status: 400, header: () => 'long '.repeat(100_000), text: '', complete: true }),
    }
    const error = await rejection(clientWith({ transport }).getCampaignInfo({ pid: 'demo' }))
    expect(JSON.stringify(error).length).toBeLessThan(20_000)
  })
})

describe('many issues', () => {
  const HUGE = 50_000
  const invite = { code: 'c', pid: 'd' }
  const used_by = Array.from({ length: HUGE }, (_, index) => index)
  const huge = () => ({ fetch: async () => Response.json({ success: true, data: { used_by } }) })

  it('of a response are limited to 20 in the error, which counts the others', async () => {
    const error = await rejection(clientWith(huge()).getInviteCode(invite))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect(error).toMatchObject({ moreIssues: HUGE - 20 })
    expect(error.message).toMatch(/; and 49995 more\)$/)
    expect((error as UnexpectedResponseError).issues).toHaveLength(20)
    expect(JSON.stringify(error).length).toBeLessThan(4_000)
  })

  it('of a response are limited to 20 for onInvalidResponse, and the call returns the data', async () => {
    const onInvalidResponse = vi.fn()
    const client = clientWith({ ...huge(), responseValidation: 'report', hooks: { onInvalidResponse } })
    expect((await client.getInviteCode(invite)).used_by).toHaveLength(HUGE)
    expect(onInvalidResponse).toHaveBeenCalledOnce()
    const [event] = onInvalidResponse.mock.calls[0] as [{ issues: unknown[]; moreIssues: number }]
    expect(event).toMatchObject({ operation: 'getInviteCode', status: 200, moreIssues: HUGE - 20 })
    expect(event.issues).toHaveLength(20)
  })

  it('of nested data are counted', async () => {
    const tasks = Array.from({ length: 3_000 }, () => ({}))
    const data = { id: 'demo', name: 'Demo', actions: tasks, quests: [] }
    const error = await rejection(
      clientWith({ fetch: async () => Response.json({ success: true, data }) }).getCampaignInfo({ pid: 'demo' }),
    )
    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect((error as UnexpectedResponseError).moreIssues).toBe(3_000 * 9 - 20)
  })

  it('of a response that are too many to be listed fail the call, too', async () => {
    const used_by = Array.from({ length: 300_000 }, (_, index) => index)
    const fetch = async () => Response.json({ success: true, data: { used_by } })
    expect(await rejection(clientWith({ fetch }).getInviteCode(invite))).toMatchObject({
      code: 'unexpected_response',
      issues: [{ path: ['data'], message: 'expected the documented shape, received too many wrong fields to list' }],
    })
  })

  it('of call options are limited to 20', async () => {
    const query = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`q${index}`, Number.NaN]))
    const error = await rejection(clientWith().getInviteCode(invite, { query }))
    expect(error).toBeInstanceOf(InvalidRequestError)
    expect((error as InvalidRequestError).issues).toHaveLength(20)
    expect(error).toHaveProperty('moreIssues', 980)
    expect(error.message).toMatch(/; and 980 more; nothing was sent$/)
  })
})

describe('a number out of range', () => {
  const definition = {
    id: 't',
    name: 't',
    type: 's',
    recurrence: 'o',
    xp: 1,
    xp_mul: '1',
    deps: [],
    is_optional: false,
  }
  it.each([
    ['"1e400"', 'expected a finite number, received one out of range'],
    ['"-1e400"', 'expected a finite number, received one out of range'],
    ['1e400', 'expected a finite number or string, received Infinity'],
    ['"1,5"', 'expected a number or a numeric string'],
    ['true', 'expected a finite number or string, received boolean'],
  ])('%s: %s', async (ref_xp, message) => {
    const task = JSON.stringify({ ...definition, ref_xp: 0 }).replace('"ref_xp":0', `"ref_xp":${ref_xp}`)
    const text = `{"success":true,"data":{"id":"d","name":"d","quests":[],"actions":[${task}]}}`
    const error = await rejection(
      clientWith({ fetch: async () => new Response(text) }).getCampaignInfo({ pid: 'demo' }),
    )
    expect((error as UnexpectedResponseError).issues).toEqual([{ path: ['data', 'actions', 0, 'ref_xp'], message }])
  })
})

describe('1e400 in place of a number', () => {
  /** Yields the path of each number in the data, except in metadata. */
  function* numberPaths(data: unknown, path: readonly (string | number)[] = []): Generator<(string | number)[]> {
    if (typeof data === 'number') yield [...path]
    if (typeof data !== 'object' || data === null) return
    for (const [name, value] of Object.entries(data)) {
      if (name !== 'meta') yield* numberPaths(value, [...path, Array.isArray(data) ? Number(name) : name])
    }
  }
  const cases = operations
    .filter(({ writes }) => !writes)
    .flatMap(({ name, request, data }) => [...numberPaths(data)].map((path) => ({ name, request, data, path })))

  it('is tested for several operations', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBeGreaterThan(1)
  })

  it.each(cases)('is refused: $name, $path', async ({ name, request, data, path }) => {
    const copy = structuredClone(data)
    const parent = path.slice(0, -1).reduce((at, step) => Reflect.get(at as object, step), copy as unknown)
    Reflect.set(parent as object, path.at(-1) as string, 'HERE')
    const text = JSON.stringify({ success: true, data: copy }).replace('"HERE"', '1e400')
    const error = await rejection(invoke(clientWith({ fetch: async () => new Response(text) }), name, request))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect((error as UnexpectedResponseError).issues).toMatchObject([{ path: ['data', ...path] }])
  })
})

describe('a forgotten /api/v1', () => {
  const page = () => new Response('<h1>Not found</h1>', { status: 404 })
  const HINT = /; baseUrl does not end with \/api\/v1/
  const errorOf = (client: CampaignClient) =>
    rejection(client.getInviteCode({ code: 'c', pid: 'd' })) as Promise<ApiError>
  const from = (baseUrl: string, ...responses: (() => Response)[]) =>
    clientWith({
      baseUrl,
      fetch: async () => (responses.length > 1 ? (responses.shift() ?? page) : (responses[0] ?? page))(),
    })

  it.each([
    'https://service.example',
    'https://service.example/',
    'https://service.example/api',
    'https://service.example/api/v2',
  ])('of %s is mentioned in each error', async (baseUrl) => {
    const client = from(baseUrl)
    for (let call = 0; call < 3; call++) {
      const error = await errorOf(client)
      expect(error).toMatchObject({ code: 'api_error', status: 404 })
      expect(error.message).toMatch(HINT)
    }
  })

  it.each(['https://service.example/api/v1', 'https://service.example/api/v1/', 'https://gateway.example/x/api/v1'])(
    'is not mentioned for %s',
    async (baseUrl) => {
      expect((await errorOf(from(baseUrl))).message).not.toMatch(/baseUrl/)
    },
  )

  it.each([
    ['of a gateway', { message: 'no route' }],
    ['with success', { success: false }],
    ['with an error of the service', { error: { code: 404, message: 'not found' } }],
  ])('is mentioned after a 404 %s in JSON', async (_, body) => {
    const client = from('https://service.example', () => Response.json(body, { status: 404 }))
    expect((await errorOf(client)).message).toMatch(HINT)
  })

  it('is not mentioned after another status', async () => {
    const client = from('https://service.example', () => Response.json({}, { status: 403 }))
    expect((await errorOf(client)).message).not.toMatch(HINT)
  })
})

describe('the message of a 403', () => {
  const errorOf403 = (body: string, type: string, status = 403) =>
    rejection(
      clientWith({
        fetch: async () => new Response(body, { status, headers: { 'content-type': type } }),
      }).getCampaignInfo({ pid: 'demo' }),
    )

  it.each([
    ['<html><h1>Forbidden</h1>', 'text/html; charset=utf-8', 403, true],
    ['', 'text/html', 403, true],
    [' <!DOCTYPE html><p>no', 'text/plain', 403, true],
    ['{"success":false,"error":{"code":403,"message":"<html>"}}', 'application/json', 403, false],
    ['Forbidden', 'text/plain', 403, false],
    ['<html>', 'text/html', 400, false],
  ])('names a gateway if the body is HTML: %j, %s, %d', async (body, type, status, isNamed) => {
    expect(((await errorOf403(body, type, status)) as Error).message.includes('probably a gateway')).toBe(isNamed)
  })
})
