import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { caller } from '../rest.ts'

const progressOfAda = { account: 'ada', platform: 'discord', pid: 'demo' }

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
