const { ApiError, CampaignClient, CampaignError, WebhookError } = require('campaign-client')
const { nodeTransport } = require('campaign-client/node')
const { createCampaignService } = require('campaign-client/testing')
const webhook = require('campaign-client/webhook')

const baseUrl = 'https://campaign.example/api/v1'

test('makes an award once, even after a retry', async () => {
  const service = createCampaignService()
  const client = new CampaignClient({ baseUrl, accessToken: 'token', fetch: service.fetch })
  service.fail({ on: 'rewardWallet', kind: 'status', status: 503, headers: { 'retry-after': '0' } })
  await client.rewardWallet({ address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'reward-1', xp: 10 })
  expect(service.state.awards).toEqual([expect.objectContaining({ id: 'reward-1', xp: 10 })])
  expect(service.requests.map(({ status }) => status)).toEqual([503, 200])
})

test.each([
  ['fetch', undefined],
  ['nodeTransport', nodeTransport()],
])('sends requests over HTTP with %s', async (_, transport) => {
  const service = await createCampaignService().listen()
  try {
    const client = new CampaignClient({ baseUrl: service.url, accessToken: 'token', transport })
    await expect(client.getCampaignInfo({ pid: 'demo' })).resolves.toMatchObject({ id: 'demo' })
    await expect(client.getCampaignInfo({ pid: 'elsewhere' })).rejects.toBeInstanceOf(ApiError)
  } finally {
    transport?.close()
    await service.close()
  }
})

test('instanceof works across entry points, and after jest.resetModules()', () => {
  expect(webhook.WebhookError).toBe(WebhookError)
  expect(() => webhook.parseWebhook('secret', '{}', null)).toThrow(CampaignError)
  jest.resetModules()
  const copy = require('campaign-client/webhook')
  expect(copy.WebhookError).not.toBe(WebhookError)
  expect(new copy.WebhookError('invalid_json')).toBeInstanceOf(WebhookError)
})
