import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { CampaignClient } from 'campaign-client'
import { startLocalService } from './local-service.mjs'

let service
before(async () => {
  service = await startLocalService()
})
after(() => service.stop())

afterEach(async () => {
  const { faults } = await service.control('faults')
  await service.control('reset', {})
  assert.deepEqual(faults, [])
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
  assert.deepEqual(
    awards.map(({ id, xp }) => [id, xp]),
    [['order-7', 50]],
  )
})
