import { CampaignClient } from 'campaign-client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startLocalService } from './local-service.mjs'

let service
beforeAll(async () => {
  service = await startLocalService()
})
afterAll(() => service.stop())

afterEach(async () => {
  const { faults } = await service.control('faults')
  await service.control('reset', {})
  expect(faults).toEqual([])
})

test('the shop sends an award again after a 503', async () => {
  const fault = { on: 'rewardWallet', kind: 'status', status: 503 }
  await service.control('addFault', fault)
  // In your test: start the shop with service.baseUrl, and buy something.
  const client = new CampaignClient({
    baseUrl: service.baseUrl,
    accessToken: 'a-token-for-tests',
  })
  const address = '0x52908400098527886E0F7030069857D2E4169EE7'
  await client.rewardWallet({ address, pid: 'demo', id: 'order-7', xp: 50 })
  const { awards } = await service.control('state')
  expect(awards).toMatchObject([{ id: 'order-7', xp: 50 }])
})
