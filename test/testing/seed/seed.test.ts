import { ConfigurationError } from 'campaign-client'
import { type CampaignSeed, createCampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'

describe('createCampaignService', () => {
  const task = { id: 't' }
  test.each<[string, Omit<CampaignSeed, 'id'>, RegExp]>([
    [
      'a quest of unknown tasks',
      { quests: [{ id: 'q', actions: ['t'] }] },
      /campaigns\.0\.quests\.0\.actions\.0 refers to "t", which does not exist/,
    ],
    [
      'a quest without tasks',
      { quests: [{ id: 'q', actions: [] }] },
      /campaigns\.0\.quests\.0\.actions must list at least one/,
    ],
    [
      'a task and a challenge with the same ID',
      { actions: [task], challenges: [task] },
      /campaigns\.0\.challenges\.0\.id is the ID of more than one/,
    ],
    ['an empty ID', { actions: [{ id: '' }] }, /campaigns\.0\.actions\.0\.id must not be empty/],
    [
      'NaN',
      { actions: [{ id: 't', xp: Number.NaN }] },
      /campaigns\.0\.actions\.0\.xp: expected a finite number, received NaN/,
    ],
    [
      'a dependency cycle that another task depends on',
      {
        actions: [
          { id: 'first', deps: ['a'] },
          { id: 'a', deps: ['b'] },
          { id: 'b', deps: ['a'] },
        ],
      },
      /campaigns\.0 has a dependency cycle: a → b → a/,
    ],
    [
      'an unknown dependency of a quest',
      { actions: [task], quests: [{ id: 'q', actions: ['t'], deps: ['x'] }] },
      /campaigns\.0\.quests\.0\.deps\.0 refers to "x"/,
    ],
    [
      'metadata that is not an object',
      { actions: [{ id: 't', meta: ['icon'] as never }] },
      /campaigns\.0\.actions\.0\.meta must be an object, got array/,
    ],
    [
      'metadata that JSON cannot represent',
      { actions: [{ id: 't', meta: { size: 1n } }] },
      /campaigns\.0\.actions\.0\.meta must be a value that JSON can represent/,
    ],
    [
      'a reward that JSON cannot represent',
      {
        users: [{ account: 'a', platform: 'p', rewards: [{ id: 'r', reward: '1', type: 'xp', size: 1n } as never] }],
      },
      /campaigns\.0\.users\.0\.rewards\.0: expected an object that JSON can represent/,
    ],
    [
      'the wallet of another user',
      {
        users: [
          { account: 'a', platform: 'p', wallet: `0x${'a'.repeat(40)}` },
          { account: 'b', platform: 'p', wallet: `0x${'A'.repeat(40)}` },
        ],
      },
      /campaigns\.0\.users\.1\.wallet belongs to another user/,
    ],
    [
      'a required task that depends on its own quest',
      { actions: [{ id: 'a', deps: ['q'] }], quests: [{ id: 'q', actions: ['a'] }] },
      /has a dependency cycle: (?:a → q → a|q → a → q)/,
    ],
    ['an empty list of seasons', { seasons: [] }, /seasons must not be empty/],
    [
      'seasons out of order',
      {
        seasons: [
          { name: 'a', max_xp: 2 },
          { name: 'b', max_xp: 2 },
        ],
      },
      /campaigns\.0\.seasons\.1\.max_xp must be greater/,
    ],
    ['an unknown registration setting', { registration: 'maybe' as never }, /registration must be 'open' or 'closed'/],
    [
      'a user without a platform',
      { users: [{ account: 'a', platform: '' }] },
      /campaigns\.0\.users\.0\.platform must not be empty/,
    ],
    [
      'a duplicate user',
      {
        users: [
          { account: 'a', platform: 'p' },
          { account: 'a', platform: 'p' },
        ],
      },
      /campaigns\.0\.users\.1 is a duplicate/,
    ],
    [
      'an invalid wallet',
      { users: [{ account: 'a', platform: 'p', wallet: '0x1' }] },
      /campaigns\.0\.users\.0\.wallet must be 0x and 40 hex/,
    ],
    [
      'an unknown completed item',
      { users: [{ account: 'a', platform: 'p', completed: ['x'] }] },
      /campaigns\.0\.users\.0\.completed\.0 refers to "x"/,
    ],
    [
      'an unknown referrer',
      { users: [{ account: 'a', platform: 'p', referrer: 'b' }] },
      /campaigns\.0\.users\.0\.referrer must be another user/,
    ],
    [
      'a user as their own referrer',
      { users: [{ account: 'a', platform: 'p', referrer: 'a' }] },
      /campaigns\.0\.users\.0\.referrer must be another user/,
    ],
    [
      'a duplicate referral link',
      {
        users: [
          { account: 'a', platform: 'p', ref_id: 'r' },
          { account: 'b', platform: 'p', ref_id: 'r' },
        ],
      },
      /campaigns\.0\.users\.1\.ref_id is a duplicate/,
    ],
    [
      'an account of two users',
      {
        users: [
          { account: 'a', platform: 'p' },
          { account: 'b', platform: 'p', profiles: [{ account: 'a', platform: 'p' }] },
        ],
      },
      /campaigns\.0\.users\.1\.profiles\.0 belongs to another user/,
    ],
  ])('refuses %s in a seed and names its path', (_, seed, message) => {
    const create = () => createCampaignService({ campaigns: [{ id: 'demo', ...seed }] })
    for (const expected of [ConfigurationError, /^createCampaignService: /, message]) expect(create).toThrow(expected)
  })

  test('refuses a duplicate campaign', () => {
    expect(() => createCampaignService({ campaigns: [{ id: 'a' }, { id: 'a' }] })).toThrow(
      'createCampaignService: campaigns.1.id is a duplicate',
    )
  })

  test('accepts several webhooks without an ID', () => {
    const webhooks = [{ url: 'https://partner.example/1' }, { url: 'https://partner.example/2' }]
    expect(createCampaignService({ webhooks }).webhooks).toHaveLength(2)
  })

  test('accepts a chain of 20 000 dependencies', () => {
    const actions = Array.from({ length: 20_000 }, (_, index) => ({
      id: `t${index}`,
      ...(index > 0 && { deps: [`t${index - 1}`] }),
    }))
    expect(() => createCampaignService({ campaigns: [{ id: 'long', actions }] })).not.toThrow()
  })

  test('accepts an optional task that depends on its own quest', () => {
    const actions = [{ id: 'a' }, { id: 'bonus', is_optional: true, deps: ['q'] }]
    const quests = [{ id: 'q', actions: ['a', 'bonus'] }]
    expect(() => createCampaignService({ campaigns: [{ id: 'c', actions, quests }] })).not.toThrow()
  })
})
