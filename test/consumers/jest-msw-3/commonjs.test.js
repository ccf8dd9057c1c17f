const { CampaignClient } = require('campaign-client')
const { createCampaignService } = require('campaign-client/testing')
const { campaignHandlers } = require('campaign-client/testing/msw')
const { setupServer } = require('msw/node')

const baseUrl = 'https://service.example/api/v1'
const service = createCampaignService()
const server = setupServer(...campaignHandlers(service, { baseUrl }))

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterAll(() => server.close())

test('requires msw in a CommonJS file, from Node.js 24.9', async () => {
  const client = new CampaignClient({
    baseUrl,
    accessToken: 'a-token-for-tests',
  })
  await expect(
    client.getCampaignPoints({ pid: 'demo' }),
  ).resolves.toMatchObject({ id: 'demo' })
})
