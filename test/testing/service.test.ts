import { createCampaignService, createManualClock } from 'campaign-client/testing'
import { expect, test } from 'vitest'
import { caller, ok } from './rest.ts'

const ada = { account: 'ada', platform: 'discord', pid: 'demo' }
const reward = { address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'r', xp: 1 }

test('one seed, one run: all identifiers are the same; without a seed they differ', async () => {
  const run = async (seed?: string) => {
    const service = createCampaignService({ seed, clock: createManualClock() })
    await caller(service.fetch).post('/user', { ...ada, account: 'new' })
    return service.state
  }
  expect(await run('a')).toEqual(await run('a'))
  expect(await run('a')).not.toEqual(await run('b'))
  expect(await run()).not.toEqual(await run())
})

test('reset goes back to the start; a snapshot taken before stays as it was', async () => {
  const service = createCampaignService({ seed: 7 })
  const { get, post } = caller(service.fetch)
  const before = service.state
  await post('/wallet/reward', reward)
  service.registerWebhook({ url: 'https://partner.example' })
  service.fail({ kind: 'reset' })
  expect(service.state).not.toEqual(before)
  service.reset()
  expect(service.state).toEqual(before)
  expect(service.webhooks).toEqual([])
  expect(service.requests).toEqual([])
  expect((await get('/user/progress', ada)).body).toMatchObject({ data: { total: 1215 } })
  expect(await post('/wallet/reward', reward)).toMatchObject(ok())
})
