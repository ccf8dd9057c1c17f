import { createCampaignService } from 'campaign-client/testing'
import { expect, test } from 'vitest'
import { caller } from '../rest.ts'

const newUserId = async (seed?: number | string): Promise<string | undefined> => {
  const service = createCampaignService({ campaigns: [{ id: 'c' }], idSeed: seed })
  await caller(service.fetch).post('/user', { account: 'ada', platform: 'discord', pid: 'c' })
  return service.state.entries[0]?.id
}

test('generated IDs contain the kind, the seed and a counter', async () => {
  expect(await newUserId(7)).toBe('entry_7_1')
  expect(await newUserId('nightly run')).toBe('entry_nightly run_1')
  const service = createCampaignService({ campaigns: [{ id: 'c' }], idSeed: 7, deliver: () => new Response() })
  expect(service.registerWebhook({ url: 'https://partner.example' }).hook_id).toBe('hook_7_1')
  expect(service.emit({ kind: 'custom', payload: {} }).id).toBe('message_7_2')
  const first = service.deliveries[0]?.deliveryId ?? ''
  expect([first, service.redeliver(first).deliveryId]).toEqual(['delivery_7_3', 'delivery_7_4'])
})

test('services without a seed generate different IDs', async () => {
  const ids = await Promise.all(Array.from({ length: 200 }, () => newUserId()))
  expect(new Set(ids).size).toBe(200)
})

test('reset generates new IDs without a seed', () => {
  const service = createCampaignService()
  const before = service.state.entries[0]?.id
  service.reset()
  expect(service.state.entries[0]?.id).not.toBe(before)
})

test('an ID that is already used is not generated', async () => {
  const service = createCampaignService({ campaigns: [{ id: 'c' }], idSeed: 's' })
  service.registerWebhook({ url: 'https://partner.example', hook_id: 'hook_s_1' })
  expect(service.registerWebhook({ url: 'https://partner.example' }).hook_id).toBe('hook_s_2')
})

test.each([Number.NaN, Infinity, {}, null, '\ud800'])('the seed %s is refused', (seed) => {
  expect(() => createCampaignService({ idSeed: seed as never })).toThrow(/^createCampaignService: idSeed must be/)
})
