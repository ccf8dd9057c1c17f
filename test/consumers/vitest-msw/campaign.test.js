import { ApiError, CampaignClient, CampaignError, NetworkError, WebhookError } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { campaignHandlers } from 'campaign-client/testing/msw'
import * as webhook from 'campaign-client/webhook'
import { http, passthrough } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

const baseUrl = 'https://campaign.example/api/v1'
const service = createCampaignService()
const server = setupServer(
  ...campaignHandlers(service, { baseUrl }),
  http.all('https://elsewhere.example/*', passthrough),
)
// Without the option `fetch`, the client uses the global fetch, which msw intercepts.
const client = new CampaignClient({ baseUrl, accessToken: 'token' })

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => server.close())

test('makes an award in the local service', async () => {
  await client.rewardWallet({ address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'reward-1', xp: 10 })
  expect(service.state.awards).toEqual([expect.objectContaining({ id: 'reward-1', xp: 10 })])
  await expect(client.getCampaignInfo({ pid: 'elsewhere' })).rejects.toBeInstanceOf(ApiError)
})

test('receives injected faults', async () => {
  service.fail({ on: 'getCampaignInfo', kind: 'reset' })
  await expect(client.getCampaignInfo({ pid: 'demo' }, { maxRetries: 0 })).rejects.toBeInstanceOf(NetworkError)
  await expect(client.getCampaignInfo({ pid: 'demo' })).resolves.toMatchObject({ id: 'demo' })
})

test('verifies a delivered message, and refuses a forged message', async () => {
  const delivered = []
  const signingService = createCampaignService({
    deliver: async (request) => {
      delivered.push({ body: await request.text(), signature: request.headers.get('x-service-signature') })
      return new Response(null, { status: 200 })
    },
  })
  signingService.registerWebhook({ url: 'https://partner.example/hook', secret: 'secret' })
  signingService.emit({ kind: 'action_completed', account: 'ada', platform: 'discord', pid: 'demo', aid: 'follow' })
  await signingService.settle()
  const [{ body, signature }] = delivered
  expect(webhook.verifyWebhook('secret', body, signature)).toBe(true)
  expect(webhook.verifyWebhook('secret', `${body} `, signature)).toBe(false)
  expect(webhook.parseWebhook('secret', body, signature).kind).toBe('action_completed')
})

test('all entry points export the same error classes', () => {
  expect(webhook.WebhookError).toBe(WebhookError)
  expect(() => webhook.parseWebhook('secret', '{}', null)).toThrow(CampaignError)
})
