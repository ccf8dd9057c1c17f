import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { caller, ok, refused } from '../rest.ts'

const progressOfAda = { account: 'ada', platform: 'discord', pid: 'demo' }

describe('the router', () => {
  test('serves /api/v1 of every host', async () => {
    const service = createCampaignService()
    for (const host of ['https://campaign.example', 'http://127.0.0.1:1']) {
      const { get } = caller(service.fetch, { baseUrl: `${host}/api/v1` })
      expect((await get('/user/progress', progressOfAda)).status).toBe(200)
    }
    const { get } = caller(service.fetch, { baseUrl: 'https://campaign.example/api/v2' })
    expect((await get('/user/progress', progressOfAda)).status).toBe(404)
  })

  test('responds with 404 to an unknown path, and logs the path', async () => {
    const service = createCampaignService()
    expect(await caller(service.fetch).get('/user/nothing')).toMatchObject({
      status: 404,
      body: { success: true, error: { code: 404, message: 'not found' } },
    })
    expect(service.requests).toMatchObject([{ status: 404, reason: 'unknown path /api/v1/user/nothing' }])
    expect(service.requests[0]).not.toHaveProperty('operation')
  })

  test('limits the reason in the header to 300 characters', async () => {
    const { headers } = await caller(createCampaignService().fetch).get(`/${'x'.repeat(1_000)}`)
    expect(headers.get('x-refusal-reason')).toBe(`unknown path /api/v1/${'x'.repeat(279)}`)
  })

  test('responds with 405 to a wrong method, with the allowed one', async () => {
    const { get, post } = caller(createCampaignService().fetch)
    const wrongGet = await get('/wallet/reward')
    expect(wrongGet).toMatchObject({ status: 405, body: { error: { code: 405, message: 'method not allowed' } } })
    expect(wrongGet.headers.get('allow')).toBe('POST')
    const wrongPost = await post('/user/progress', {})
    expect(wrongPost.status).toBe(405)
    expect(wrongPost.headers.get('allow')).toBe('GET')
  })
})

describe('arguments', () => {
  test.each([
    ['a missing query parameter', { account: 'ada', platform: 'discord' }],
    ['an empty query parameter', { account: '', platform: 'discord', pid: 'demo' }],
  ])('are refused with 400 for %s', async (_, query) => {
    expect(await caller(createCampaignService().fetch).get('/user/progress', query)).toMatchObject(refused(400))
  })

  test('may contain an unknown query parameter, but not a repeated one', async () => {
    const service = createCampaignService()
    const { raw } = caller(service.fetch)
    const headers = { authorization: 'Bearer t' }
    expect((await raw('/campaign/info?pid=demo&pid=demo', { headers })).status).toBe(400)
    expect((await raw('/campaign/info?pid=demo&environment=a&environment=b', { headers })).status).toBe(200)
    expect(service.requests[0]?.reason).toMatch(/^pid: expected string/)
  })

  const award = JSON.stringify({ address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'r', xp: 1 })
  const bytes = (text: string) => new TextEncoder().encode(text)

  test.each([
    ['absent', undefined, '', 'the Content-Type of a body must be application/json'],
    ['of another type', award, 'text/plain', 'the Content-Type of a body must be application/json'],
    ['not JSON', award.slice(0, -1), 'application/json', 'the body is not JSON in UTF-8'],
    [
      'not UTF-8',
      bytes(award).map((byte) => (byte === 0x72 ? 0xff : byte)),
      'application/json',
      'the body is not JSON in UTF-8',
    ],
    ['an array', `[${award}]`, 'application/json', 'request: expected object, received array'],
    ['larger than 1 MiB', award.padEnd(1_048_577), 'application/json', 'the body is larger than 1048576 bytes'],
  ])('are refused with 400 for a body that is %s', async (_, body, type, reason) => {
    const service = createCampaignService()
    const headers = { authorization: 'Bearer t', 'content-type': type }
    const response = await caller(service.fetch).raw('/wallet/reward', { method: 'POST', body: body ?? null, headers })
    expect({ status: response.status, body: await response.json() }).toEqual(refused(400))
    expect(service.requests).toMatchObject([{ reason }])
    expect(service.state.awards).toEqual([])
  })

  test('may be a body of 1 MiB, with parameters in its content type', async () => {
    const { raw } = caller(createCampaignService().fetch)
    const headers = { authorization: 'Bearer t', 'content-type': 'Application/JSON ; charset=utf-8' }
    expect((await raw('/wallet/reward', { method: 'POST', body: award.padEnd(1_048_576), headers })).status).toBe(200)
  })

  test('are refused with a reason in the log, but not in the body', async () => {
    const service = createCampaignService()
    const { post } = caller(service.fetch)
    expect(await post('/wallet/reward', { address: '0x1', pid: 'demo', id: '', xp: '5' })).toMatchObject(refused(400))
    expect(service.requests[0]?.reason).toBe(
      'address: must be 0x and 40 hex digits; id: must not be empty; xp: expected a finite number, received string',
    )
  })

  test('have the names of queryNames', async () => {
    const service = createCampaignService({
      queryNames: {
        getCampaignInfo: { pid: 'id' },
        getInviteCode: { code: 'invite', pid: 'campaign' },
        // The two parameters swap their names.
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

  test('webhookRegistrationPath is the path of webhook registration', async () => {
    const service = createCampaignService({ webhookRegistrationPath: '/hooks/register', idSeed: 1 })
    const { post } = caller(service.fetch)
    const body = { scope: 'user_activity', url: 'https://partner.example/hook', secret: 's3cret-of-the-hook' }
    expect(await post('/hooks/register', body)).toMatchObject(ok({ hook_id: 'hook_1_4' }))
    expect((await post('/webhook', body)).status).toBe(404)
    expect(service.webhooks).toMatchObject([{ urls: ['https://partner.example/hook'], signed: true, campaigns: [] }])
  })
})
