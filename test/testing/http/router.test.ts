import { createCampaignService } from 'campaign-client/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { caller, ok, refused } from '../rest.ts'

const progressOfAda = { account: 'ada', platform: 'discord', pid: 'demo' }

describe('paths and methods', () => {
  test('the API is under /api/v1 of whatever host', async () => {
    const service = createCampaignService()
    for (const host of ['https://campaign.example', 'http://127.0.0.1:1']) {
      const { get } = caller(service.fetch, { baseUrl: `${host}/api/v1` })
      expect((await get('/user/progress', progressOfAda)).status).toBe(200)
    }
    const { get } = caller(service.fetch, { baseUrl: 'https://campaign.example/api/v2' })
    expect((await get('/user/progress', progressOfAda)).status).toBe(404)
  })

  test('an unknown path is 404 in the standard envelope, and says in the log what is not there', async () => {
    const service = createCampaignService()
    expect(await caller(service.fetch).get('/user/nothing')).toMatchObject({
      status: 404,
      body: { success: true, error: { code: 404, message: 'not found' } },
    })
    expect(service.requests).toMatchObject([{ status: 404, reason: 'there is no /api/v1/user/nothing' }])
    expect(service.requests[0]).not.toHaveProperty('operation')
  })

  test('the wrong method is 405 and names the right one', async () => {
    const { get, post } = caller(createCampaignService().fetch)
    const wrongGet = await get('/wallet/reward')
    expect(wrongGet).toMatchObject({ status: 405, body: { error: { code: 405, message: 'method not allowed' } } })
    expect(wrongGet.headers.get('allow')).toBe('POST')
    const wrongPost = await post('/user/progress', {})
    expect(wrongPost.status).toBe(405)
    expect(wrongPost.headers.get('allow')).toBe('GET')
  })
})

describe('tokens', () => {
  test.each([
    ['none', undefined],
    ['an empty one', 'Bearer '],
    ['another scheme', 'Basic YTpi'],
    ['two', 'Bearer a, Bearer b'],
  ])('%s is 401', async (_, authorization) => {
    const { raw } = caller(createCampaignService().fetch)
    const response = await raw(
      '/campaign/info?pid=demo',
      authorization === undefined ? {} : { headers: { authorization } },
    )
    expect({ status: response.status, body: await response.json() }).toEqual(refused(401))
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('without `tokens` any non-empty one will do', async () => {
    const service = createCampaignService()
    expect((await caller(service.fetch, { token: 'whatever' }).get('/campaign/info', { pid: 'demo' })).status).toBe(200)
  })

  test('a list accepts its own and nothing else', async () => {
    const service = createCampaignService({ tokens: ['first', 'second'] })
    const statusWith = async (token: string) =>
      (await caller(service.fetch, { token }).get('/campaign/info', { pid: 'demo' })).status
    expect(await statusWith('first')).toBe(200)
    expect(await statusWith('second')).toBe(200)
    expect(await statusWith('third')).toBe(401)
    expect(await statusWith('constructor')).toBe(401)
  })

  test('grants: expired is 401, another organization, a campaign not granted and an unknown one are 403', async () => {
    const service = createCampaignService({
      campaigns: [
        { id: 'north', organization: 'n' },
        { id: 'north-2', organization: 'n' },
        { id: 'south', organization: 's' },
      ],
      tokens: {
        everything: {},
        'of-n': { organization: 'n' },
        'one-of-n': { organization: 'n', campaigns: ['north'] },
        old: { expired: true },
      },
    })
    const statuses = async (token: string) => {
      const { get } = caller(service.fetch, { token })
      const answers = ['north', 'north-2', 'south', 'unknown'].map((pid) => get('/campaign/info', { pid }))
      return (await Promise.all(answers)).map(({ status }) => status)
    }
    expect(await statuses('everything')).toEqual([200, 200, 200, 403])
    expect(await statuses('of-n')).toEqual([200, 200, 403, 403])
    expect(await statuses('one-of-n')).toEqual([200, 403, 403, 403])
    expect(await statuses('old')).toEqual([401, 401, 401, 401])
    const { get } = caller(service.fetch, { token: 'of-n' })
    expect(await get('/campaign/info', { pid: 'south' })).toMatchObject(refused(403))
  })

  test.each([[['']], [['with space']], [{ '': {} }]])('unusable tokens are refused: %j', (tokens) => {
    expect(() => createCampaignService({ tokens })).toThrow(/^tokens: /)
  })
})

describe('arguments', () => {
  test.each([
    ['a missing query parameter', { account: 'ada', platform: 'discord' }],
    ['an empty one', { account: '', platform: 'discord', pid: 'demo' }],
  ])('%s is 400', async (_, query) => {
    expect(await caller(createCampaignService().fetch).get('/user/progress', query)).toMatchObject(refused(400))
  })

  test('a query parameter that is there twice is 400, an unknown one does not matter', async () => {
    const service = createCampaignService()
    const { raw } = caller(service.fetch)
    const headers = { authorization: 'Bearer t' }
    expect((await raw('/campaign/info?pid=demo&pid=demo', { headers })).status).toBe(400)
    expect((await raw('/campaign/info?pid=demo&environment=a&environment=b', { headers })).status).toBe(200)
    expect(service.requests[0]?.reason).toMatch(/^pid: expected string/)
  })

  test.each([
    ['no body', {}],
    ['not JSON', { body: '{"pid":', headers: { 'content-type': 'application/json' } }],
    ['not UTF-8', { body: new Uint8Array([0x22, 0xff, 0x22]), headers: { 'content-type': 'application/json' } }],
    ['another content type', { body: '{"pid":"demo"}', headers: { 'content-type': 'text/plain' } }],
    ['an array', { body: '[]', headers: { 'content-type': 'application/json' } }],
    [
      'larger than 1 MiB',
      { body: JSON.stringify('x'.repeat(1_048_576)), headers: { 'content-type': 'application/json' } },
    ],
  ])('a body that is %s is 400', async (_, { headers, ...init }: RequestInit) => {
    const service = createCampaignService()
    const response = await caller(service.fetch).raw('/wallet/reward', {
      method: 'POST',
      ...init,
      headers: { ...(headers as Record<string, string>), authorization: 'Bearer t' },
    })
    expect({ status: response.status, body: await response.json() }).toEqual(refused(400))
    expect(service.state.awards).toEqual([])
  })

  test('what is wrong is in the log, not in the answer', async () => {
    const service = createCampaignService()
    const { post } = caller(service.fetch)
    expect(await post('/wallet/reward', { address: '0x1', pid: 'demo', id: '', xp: '5' })).toMatchObject(refused(400))
    expect(service.requests[0]?.reason).toBe(
      'address: must be 0x and 40 hex digits; id: must not be empty; xp: expected a finite number, received string',
    )
  })

  test('queryNames: the open parameters go by other names', async () => {
    const service = createCampaignService({
      queryNames: {
        getCampaignInfo: { pid: 'id' },
        getInviteCode: { code: 'invite', pid: 'campaign' },
        // Two that swap their names.
        getUserProfiles: { account: 'platform', platform: 'account' },
      },
    })
    const { get } = caller(service.fetch)
    expect((await get('/campaign/info', { id: 'demo' })).status).toBe(200)
    expect((await get('/campaign/info', { pid: 'demo' })).status).toBe(400)
    expect((await get('/code', { invite: 'UNUSED-2026', campaign: 'demo' })).status).toBe(200)
    expect((await get('/user/profiles', { platform: 'ada', account: 'discord', pid: 'demo' })).status).toBe(200)
    expect((await get('/campaign/points', { pid: 'demo' })).status).toBe(200)
  })

  test.each([
    [{ getUserProgress: { pid: 'x' } }, /"getUserProgress" is not one of getCampaignInfo/],
    [{ getCampaignInfo: { account: 'x' } }, /getCampaignInfo: "account" is not one of pid/],
    [{ getCampaignInfo: { pid: '' } }, /getCampaignInfo\.pid must be a non-empty string/],
  ])('queryNames that name what is not open are refused: %j', (queryNames, message) => {
    expect(() => createCampaignService({ queryNames } as never)).toThrow(message)
  })

  test.each(['', '/', 'a b', 'hooks?x', 'user'])('a webhook registration path like %j is refused', (path) => {
    expect(() => createCampaignService({ webhookRegistrationPath: path })).toThrow(/^webhookRegistrationPath must/)
  })

  test('webhooks are registered at the path of your choice', async () => {
    const service = createCampaignService({ webhookRegistrationPath: '/hooks/register/', seed: 1 })
    const { post } = caller(service.fetch)
    const body = { scope: 'user_activity', url: 'https://partner.example/hook', secret: 's3cret-of-the-hook' }
    expect(await post('/hooks/register', body)).toMatchObject(
      ok({ hook_id: expect.stringMatching(/^hook_[0-9a-f]{12}$/) }),
    )
    expect((await post('/webhook', body)).status).toBe(404)
    expect(service.webhooks).toMatchObject([{ urls: ['https://partner.example/hook'], signed: true, campaigns: [] }])
  })
})

describe('the log', () => {
  test('tells what came and what became of it, never the token or a secret', async () => {
    const service = createCampaignService()
    const { get, post, raw } = caller(service.fetch, { token: 'the-token-itself' })
    await get('/user/progress', progressOfAda, { headers: { 'x-trace': '1', cookie: 'session=the-cookie' } })
    await post('/webhook', { scope: 'user_activity', url: 'https://partner.example', secret: 'the-secret-itself' })
    await raw('/code?code=a&code=b')
    expect(service.requests).toMatchObject([
      {
        operation: 'getUserProgress',
        method: 'GET',
        path: '/api/v1/user/progress',
        query: { account: ['ada'], platform: ['discord'], pid: ['demo'] },
        headers: { 'x-trace': '1' },
        authorized: true,
        handled: true,
        status: 200,
      },
      { operation: 'registerWebhook', body: { secret: '[redacted]' } },
      { operation: 'getInviteCode', query: { code: ['a', 'b'] }, authorized: false, status: 401 },
    ])
    const printed = JSON.stringify([service.requests, service.webhooks])
    for (const secret of ['the-token-itself', 'the-secret-itself', 'the-cookie']) expect(printed).not.toContain(secret)
  })

  test('keeps the last 10 000', async () => {
    const service = createCampaignService()
    const { raw } = caller(service.fetch)
    for (let index = 0; index < 10_003; index++) await raw(`/x/${index}`)
    expect(service.requests).toHaveLength(10_000)
    expect(service.requests[0]?.path).toBe('/api/v1/x/3')
  }, 60_000)
})

describe('as a fetch', () => {
  test('takes a string, a URL or a Request, and an init over a Request', async () => {
    const { fetch } = createCampaignService()
    const url = 'https://campaign.example/api/v1/campaign/info?pid=demo'
    const init = { headers: { authorization: 'Bearer t' } }
    for (const input of [url, new URL(url), new Request(url)]) {
      expect((await fetch(input, init)).status).toBe(200)
    }
    expect((await fetch(new Request(url, init))).status).toBe(200)
    await expect(fetch('/relative', init)).rejects.toThrow(TypeError)
  })

  test('an aborted signal rejects with its reason and nothing is done', async () => {
    const service = createCampaignService()
    const reason = new Error('changed my mind')
    const award = { address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'r', xp: 1 }
    const { post } = caller(service.fetch)
    await expect(post('/wallet/reward', award, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(service.requests).toEqual([])
    expect(service.state.awards).toEqual([])
  })

  test('obeys `redirect`', async () => {
    const service = createCampaignService()
    const redirect = { kind: 'status', status: 302, headers: { location: '/api/v1/campaign/info?pid=demo' } } as const
    const init = { headers: { authorization: 'Bearer t' } }
    const { raw } = caller(service.fetch)
    service.fail(redirect)
    expect((await raw('/code', { ...init, redirect: 'manual' })).status).toBe(302)
    service.fail(redirect)
    await expect(raw('/code', { ...init, redirect: 'error' })).rejects.toThrow('fetch failed')
    service.fail(redirect)
    expect((await raw('/code', init)).status).toBe(200)
    service.fail({ ...redirect, headers: { location: 'https://other.example/api/v1/campaign/info?pid=demo' } })
    expect((await raw('/code', init)).status, 'the token stays with its host').toBe(401)
    service.fail({ ...redirect, times: Infinity })
    await expect(raw('/code', init)).rejects.toThrow('fetch failed')
  })

  test('a 307 is followed with the body, a 303 as a GET', async () => {
    const service = createCampaignService()
    const init: RequestInit = {
      method: 'POST',
      headers: { authorization: 'Bearer t', 'content-type': 'application/json' },
      body: JSON.stringify({ address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'r', xp: 1 }),
    }
    const { raw } = caller(service.fetch)
    service.fail({ kind: 'status', status: 307, headers: { location: '/api/v1/wallet/reward' } })
    expect((await raw('/user', init)).status).toBe(200)
    service.fail({ kind: 'status', status: 303, headers: { location: '/api/v1/campaign/info?pid=demo' } })
    expect((await raw('/user', init)).status).toBe(200)
    expect(service.requests.at(-1)).toMatchObject({ method: 'GET', operation: 'getCampaignInfo' })
  })

  test('whatever is sent, it answers JSON with a status, and never with one of its own faults', async () => {
    const path = fc.constantFrom(
      '/user/progress',
      '/wallet/reward',
      '/user/referrer',
      '/user',
      '/user/ref_id',
      '/action/value',
      '/campaign/info',
      '/campaign/points',
      '/user/profiles',
      '/code',
      '/webhook',
      '/nothing',
    )
    const text = fc.oneof(
      fc.constantFrom('ada', 'demo', 'discord', 'welcome', 'follow', 'ref-ada', '__proto__'),
      fc.string(),
    )
    const field = fc.constantFrom(
      'account',
      'platform',
      'pid',
      'id',
      'address',
      'referrer',
      'referral',
      'cid',
      'aid',
      'value',
    )
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.dictionary(field, fc.oneof(text, fc.double())).map((o) => JSON.stringify(o)),
    )
    const request = fc.record({ path, query: fc.dictionary(field, text), body, get: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 8 }), async (requests) => {
        const service = createCampaignService()
        const { raw } = caller(service.fetch)
        for (const { path, query, body, get } of requests) {
          const response = await raw(`${path}?${new URLSearchParams(query)}`, {
            headers: { authorization: 'Bearer t', 'content-type': 'application/json' },
            ...(get ? {} : { method: 'POST', body }),
          })
          expect([200, 400, 403, 404, 405]).toContain(response.status)
          expect(await response.json()).toHaveProperty('success')
        }
      }),
      { numRuns: 150 },
    )
  })
})
