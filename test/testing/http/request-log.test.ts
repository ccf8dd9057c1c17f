import { CampaignClient } from 'campaign-client'
import { createCampaignService, type RequestRecord } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { caller } from '../rest.ts'

const progressOfAda = { account: 'ada', platform: 'discord', pid: 'demo' }

describe('the log of requests', () => {
  test('contains each request and its result, without tokens and secrets', async () => {
    const service = createCampaignService()
    const { get, post, raw } = caller(service.fetch, { token: 'the-token-itself' })
    await get('/user/progress', progressOfAda, {
      headers: { 'x-trace': '1', cookie: 'session=the-cookie', 'proxy-authorization': 'Basic the-proxy' },
    })
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
    for (const secret of ['the-token-itself', 'the-secret-itself', 'the-cookie', 'the-proxy'])
      expect(printed).not.toContain(secret)
  })

  test('contains all data to send a request again, except the token', async () => {
    const service = createCampaignService()
    const { post } = caller(service.fetch, { token: 'the-token-itself' })
    const sent = JSON.stringify({ ...progressOfAda, name: 'Ada “the” Countess' }, undefined, 2)
    await post('/user', undefined, { body: sent })
    const { method, url, headers, bodyText } = service.requests[0] ?? {}
    expect([method, url, bodyText]).toEqual(['POST', 'https://campaign.example/api/v1/user', sent])
    expect(headers).toEqual({ 'content-type': 'application/json' })
    const again = { ...headers, authorization: 'Bearer other' }
    const body = bodyText ?? null
    expect((await service.fetch(url ?? '', { method: method ?? '', headers: again, body })).status).toBe(200)
  })

  test.each([
    ['truncated', '{"secret":"the-secret-itself'],
    ['truncated after the secret', '{"scope":"x","secret" : "the-secret-itself","url'],
    ['truncated after an escaped quote', '{"secret":"the-\\"secret-itself","url'],
    ['complete', '{"secret":"the-secret-itself","a":[{"secret":"the-secret-itself"}]}'],
  ])('does not contain the secret of a body that is %s', async (_, body) => {
    const service = createCampaignService()
    await caller(service.fetch).raw('/webhook', { method: 'POST', body })
    const printed = JSON.stringify(service.requests)
    expect(printed).not.toContain('secret-itself')
    expect(printed).toContain('[redacted]')
  })

  test('continues its IDs after a reset', async () => {
    const service = createCampaignService()
    const { raw } = caller(service.fetch)
    for (let times = 0; times < 2; times++) await raw('/x')
    service.reset()
    await raw('/x')
    expect(service.requests.map(({ id }) => id)).toEqual([3])
  })

  test.each([
    [255_990, false],
    [300_000, true],
    [1_040_000, true],
  ])('contains at most 256 kB of a body: %i bytes, isBodyCut %s', async (length, isCut) => {
    const service = createCampaignService()
    const body = JSON.stringify({ name: 'x'.repeat(length - 20) })
    await caller(service.fetch).raw('/user', { method: 'POST', body })
    const [request] = service.requests
    expect(request).toMatchObject({ bodySize: body.length, isBodyCut: isCut })
    expect(request?.bodyText).toBe(body.slice(0, 256_000))
    expect(request?.body).toEqual(isCut ? body.slice(0, 256_000) : JSON.parse(body))
  })

  test('has bodySize 0 for a request without a body', async () => {
    const service = createCampaignService()
    await caller(service.fetch).raw('/x')
    expect(service.requests[0]).toMatchObject({ bodySize: 0, isBodyCut: false })
    expect(service.requests[0]).not.toHaveProperty('body')
    expect(service.requests[0]).not.toHaveProperty('bodyText')
  })

  test('redacts a secret before the body is cut', async () => {
    const service = createCampaignService()
    const body = JSON.stringify({
      a: 'x'.repeat(255_970),
      secret: 'the-secret-itself-'.repeat(100),
      b: 'y'.repeat(9999),
    })
    await caller(service.fetch).raw('/webhook', { method: 'POST', body })
    expect(service.requests[0]).toMatchObject({ isBodyCut: true, bodySize: body.length })
    expect(service.requests[0]?.bodyText).not.toContain('the-secret')
  })
})

test('requests returns copies', async () => {
  const service = createCampaignService()
  const client = new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'any',
    fetch: service.fetch,
  })
  const reported: RequestRecord[] = []
  service.subscribe((event) => {
    if (event.kind === 'request_answered') reported.push(event.request)
  })
  await client.rewardWallet({ address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'r1', xp: 5 })
  for (const record of [...reported, ...service.requests]) Object.assign(record.body as object, { xp: 999 })
  Object.assign(service.requests[0] as object, { method: 'GET', headers: {} })
  expect(service.requests).toMatchObject([{ method: 'POST', body: { xp: 5 }, headers: { accept: 'application/json' } }])
})

test('the error of the client contains the reason of a refusal in a header', async () => {
  const service = createCampaignService()
  const client = new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'any',
    fetch: service.fetch,
  })
  const award = { address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'zoë-1', xp: 5 }
  await client.rewardWallet(award)
  const error = await client.rewardWallet(award).catch((reason: unknown) => reason)
  expect(error).toMatchObject({
    code: 'bad_request',
    headers: { 'x-refusal-reason': 'the reward id "zo?-1" has been used before' },
  })
  expect(service.requests.at(-1)?.reason).toBe('the reward id "zoë-1" has been used before')
})
