import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { campaignHandlers } from 'campaign-client/testing/msw'
import { setupServer } from 'msw/node'

const baseUrl = 'https://service.example/api/v1'
const service = createCampaignService()
const server = setupServer(...campaignHandlers(service, { baseUrl }))

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterEach(() => service.reset())
afterAll(() => server.close())

test('awards XP', async () => {
  const accessToken = 'a-token-for-tests'
  const client = new CampaignClient({ baseUrl, accessToken })
  const address = '0x52908400098527886E0F7030069857D2E4169EE7'
  await client.rewardWallet({ address, pid: 'demo', id: 'order-7', xp: 50 })
  expect(service.state.awards).toMatchObject([{ id: 'order-7', xp: 50 }])
})
