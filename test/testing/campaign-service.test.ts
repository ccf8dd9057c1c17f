import { createCampaignService, createManualClock } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { caller, ok } from './rest.ts'

const ada = { account: 'ada', platform: 'discord', pid: 'demo' }
const reward = { address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'r', xp: 1 }

test('reset restores the initial state and does not change earlier snapshots', async () => {
  const service = createCampaignService({ idSeed: 7 })
  const { get, post } = caller(service.fetch)
  const before = service.state
  await post('/wallet/reward', reward)
  service.registerWebhook({ url: 'https://partner.example' })
  const fault = service.fail({ kind: 'reset', times: 5 })
  expect(service.state).not.toEqual(before)
  service.reset()
  expect(service.state).toEqual(before)
  expect(service.webhooks).toEqual([])
  expect([service.requests, service.faults, fault.remaining]).toEqual([[], [], 0])
  expect((await get('/user/progress', ada)).body).toMatchObject({ data: { total: 1215 } })
  expect(await post('/wallet/reward', reward)).toMatchObject(ok())
})

test('reset restores the time and removes deliveries and waiting retries', async () => {
  const clock = createManualClock({ startMs: 1000 })
  let requests = 0
  const deliver = () => {
    requests++
    return new Response(null, { status: 503 })
  }
  const webhooks = [{ url: 'https://partner.example/hook' }]
  const service = createCampaignService({ clock, deliver, webhooks })
  service.emit({ kind: 'custom', payload: {} })
  await clock.advance(6_000)
  expect([requests, service.deliveries.length]).toEqual([2, 1])
  service.reset()
  expect(clock.now()).toBe(1000)
  expect(service.deliveries).toEqual([])
  expect([service.nextRetryAt, clock.pending]).toEqual([undefined, 0])
  await clock.advance(3_600_000)
  expect(requests).toBe(2)
})

test('reset aborts a running attempt and ignores its response', async () => {
  const signals: AbortSignal[] = []
  const deliver = (request: Request) => {
    signals.push(request.signal)
    return new Promise<Response>(() => {})
  }
  const service = createCampaignService({ clock: createManualClock(), deliver })
  service.registerWebhook({ url: 'https://partner.example/hook' })
  service.emit({ kind: 'custom', payload: {} })
  await new Promise((resolve) => setTimeout(resolve, 0))
  service.reset()
  await service.settle()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  expect(service.deliveries).toEqual([])
})

describe('a later change of the seed', () => {
  const HOOK = 'https://partner.example'
  const seedOf = () => ({
    campaigns: [
      {
        id: 'demo',
        name: 'Demo',
        actions: [{ id: 'task', meta: { tags: ['a'] } }],
        users: [
          {
            account: 'ada',
            platform: 'discord',
            xp: 1,
            completed: ['task'],
            rewards: [{ id: 'badge', reward: 'gold', type: 'nft', traits: ['shiny'] }],
          },
        ],
        invite_codes: [{ code: 'in', used_by: ['ada'] }],
      },
    ],
    webhooks: [{ url: [HOOK], campaigns: ['demo'], hook_id: 'h' }],
    awards: [{ ...reward, at: 0 }],
    values: [{ ...ada, cid: 'q', aid: 'task', value: 1, at: 0 }],
  })

  const change = ({ campaigns, webhooks, awards, values }: ReturnType<typeof seedOf>) => {
    for (const { users, actions, invite_codes } of campaigns) {
      for (const user of users) user.completed.length = 0
      for (const user of users) for (const { traits } of user.rewards) traits.push('more')
      for (const user of users) Object.assign(user, { xp: 99, rewards: [] })
      for (const { meta } of actions) meta.tags.push('b')
      for (const { used_by } of invite_codes) used_by.push('eve')
    }
    for (const webhook of webhooks) {
      webhook.url.push(`${HOOK}/more`)
      webhook.campaigns.length = 0
    }
    for (const award of awards) award.xp = 99
    values.length = 0
    Object.assign(campaigns[0] ?? {}, { name: 5 })
  }

  test('does not change the state that reset restores', () => {
    const seed = seedOf()
    const service = createCampaignService({ ...seed, idSeed: 7 })
    const before = service.exportSeed()
    change(seed)
    expect(service.exportSeed()).toEqual(before)
    service.reset()
    expect(service.exportSeed()).toEqual(before)
    const [badge] = service.state.entries[0]?.rewards ?? []
    Object.assign((badge as unknown as { traits: string[] }).traits, ['changed'])
    expect(service.exportSeed()).toEqual(before)
    for (const entry of service.exportSeed().campaigns?.[0]?.users ?? [])
      Object.assign(entry.rewards?.[0] ?? {}, { id: 1 })
    service.reset()
    expect(service.exportSeed()).toEqual(before)
  })

  test('does not change a service that loaded it by reset', () => {
    const seed = seedOf()
    const service = createCampaignService({ idSeed: 7 })
    service.reset(seed)
    const before = service.exportSeed()
    change(seed)
    expect(service.exportSeed()).toEqual(before)
  })
})
