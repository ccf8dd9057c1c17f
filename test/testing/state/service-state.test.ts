import { CampaignClient } from 'campaign-client'
import { type CampaignSeed, createCampaignService } from 'campaign-client/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const linus = { account: 'linus', platform: 'discord', pid: 'demo' }
const HOOK = 'https://partner.example/hook'

describe('completeTask', () => {
  test('completes a task without a quest, unlike the API, records no value, and returns the entry', () => {
    const campaign: CampaignSeed = {
      id: 'c',
      actions: [{ id: 'alone', xp: 4 }],
      users: [{ account: 'ada', platform: 'discord' }],
    }
    const service = createCampaignService({ campaigns: [campaign] })
    const after = service.completeTask({ account: 'ada', platform: 'discord', pid: 'c', aid: 'alone' })
    expect(after).toMatchObject({ account: 'ada', xp: 4, completed: ['alone'] })
    expect(service.state).toMatchObject({ entries: [after], values: [] })
  })

  test('completes each quest and challenge once and after its dependencies, for random campaigns', () => {
    const randomItem = fc.record({ isQuest: fc.boolean(), needs: fc.array(fc.nat(), { maxLength: 3 }), rank: fc.nat() })
    fc.assert(
      fc.property(fc.array(randomItem, { maxLength: 12 }), (all) => {
        const ids = ['a', 'b', ...all.map((_, index) => `i${index}`)]
        const items = all.map(({ isQuest, needs, rank }, index) => {
          const deps = needs.map((need) => ids[need % (index + 2)] as string)
          return { isQuest, rank, item: { id: `i${index}`, deps } }
        })
        const listed = items.toSorted((a, b) => a.rank - b.rank)
        const service = createCampaignService({
          campaigns: [
            {
              id: 'c',
              actions: [{ id: 'a' }, { id: 'b' }],
              quests: listed.filter(({ isQuest }) => isQuest).map(({ item }) => ({ ...item, actions: ['a'] })),
              challenges: listed.filter(({ isQuest }) => !isQuest).map(({ item }) => item),
              users: [{ account: 'ada', platform: 'discord' }],
            },
          ],
        })
        const { completed } = service.completeTask({ account: 'ada', platform: 'discord', pid: 'c', aid: 'a' })
        // Items depend only on earlier items, so one pass finds all that are completed.
        const expected = new Set(['a'])
        for (const { isQuest, item } of items) {
          if ((isQuest || item.deps.length > 0) && item.deps.every((id) => expected.has(id))) expected.add(item.id)
        }
        expect([...completed].sort()).toEqual([...expected].sort())
        for (const { item } of items) {
          const position = completed.indexOf(item.id)
          if (position !== -1) for (const id of item.deps) expect(completed.indexOf(id)).toBeLessThan(position)
        }
      }),
    )
  })

  test('limits XP to finite numbers', async () => {
    const MAX = Number.MAX_VALUE
    const user = { platform: 'discord', xp: MAX, ref_xp: MAX, ugc_xp: MAX }
    const campaign: CampaignSeed = {
      id: 'c',
      actions: [
        { id: 'a', xp: MAX, xp_mul: MAX, ref_xp: MAX, recurrence: 'daily' },
        { id: 'b', xp: -MAX, xp_mul: MAX, recurrence: 'daily' },
        { id: 'none', xp: MAX, xp_mul: MAX },
      ],
      quests: [{ id: 'q', xp: MAX, actions: ['a'] }],
      users: [
        { ...user, account: 'ada' },
        { ...user, account: 'bob', referrer: 'ada' },
        { platform: 'discord', account: 'zero', xp_mul: 0 },
      ],
    }
    const service = createCampaignService({ campaigns: [campaign], deliver: () => new Response() })
    service.registerWebhook({ url: HOOK })
    const client = new CampaignClient({ baseUrl: 'http://localhost/api/v1', accessToken: 'any', fetch: service.fetch })
    const bob = { account: 'bob', platform: 'discord', pid: 'c' }
    await client.recordActionValue({ ...bob, cid: 'q', aid: 'a', value: MAX })
    expect(await client.getUserProgress(bob)).toMatchObject({ xp: MAX, total: MAX })
    service.completeTask({ ...bob, aid: 'b' })
    service.completeTask({ ...bob, aid: 'b' })
    expect(await client.getUserProgress(bob)).toMatchObject({ xp: -MAX })
    expect(service.completeTask({ ...bob, account: 'zero', aid: 'none' }).xp).toBe(0)
    expect(await client.getUserProgress({ ...bob, account: 'ada' })).toMatchObject({ ref_xp: MAX, total: MAX })
    expect(await client.getCampaignPoints({ pid: 'c' })).toMatchObject({ total_points: MAX })
    for (const { body } of service.deliveries) expect(body).not.toContain('null')
    await service.settle()
  })

  test.each([
    [{ ...linus, aid: 'follow' }, 'aid: the dependencies of "follow" are not completed: connect-wallet'],
    [{ ...linus, aid: 'nothing' }, 'aid: there is no task "nothing" in "demo"'],
    [{ ...linus, pid: 'x', aid: 'follow' }, 'pid: there is no campaign "x"'],
    [{ ...linus, account: 'nobody', aid: 'follow' }, 'account: there is no user "nobody" on "discord" in "demo"'],
    [{ ...linus }, 'aid: expected string, received undefined'],
  ])('refuses %j', (options, message) => {
    const service = createCampaignService()
    const { state } = service
    expect(() => service.completeTask(options as never)).toThrow(`completeTask: ${message}`)
    expect(service.state).toEqual(state)
  })
})
