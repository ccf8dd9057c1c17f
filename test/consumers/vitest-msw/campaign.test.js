import { ApiError, CampaignClient, NetworkError } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { campaignHandlers } from 'campaign-client/testing/msw'
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
