const { CampaignClient } = require('campaign-client')
const { createCampaignService } = require('campaign-client/testing')
const { campaignHandlers } = require('campaign-client/testing/msw')
const { setupServer } = require('msw/node')

const baseUrl = 'https://campaign.example/api/v1'
const service = createCampaignService()
const server = setupServer(...campaignHandlers(service, { baseUrl }))

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterEach(() => service.reset())
afterAll(() => server.close())

test('makes an award in the local service', async () => {
  // msw intercepts this client, although it was created after server.listen().
  const client = new CampaignClient({ baseUrl, accessToken: 'token' })
  await client.rewardWallet({
    address: `0x${'a'.repeat(40)}`,
    pid: 'demo',
    id: 'reward-1',
    xp: 10,
  })
  expect(service.state.awards).toEqual([
    expect.objectContaining({ id: 'reward-1', xp: 10 }),
  ])
  await expect(
    client.getCampaignInfo({ pid: 'elsewhere' }),
  ).rejects.toMatchObject({ code: 'access_denied' })
})
