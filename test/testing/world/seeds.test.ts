import { type CampaignSeed, createCampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'

describe('seeds', () => {
  const task = { id: 't' }
  test.each<[string, Omit<CampaignSeed, 'id'>, RegExp]>([
    ['an unknown dep', { actions: [{ id: 't', deps: ['x'] }] }, /actions "t" depends on "x", which is not there/],
    ['a quest of unknown tasks', { quests: [{ id: 'q', actions: ['t'] }] }, /quest "q" lists the task "t"/],
    ['a quest without tasks', { quests: [{ id: 'q', actions: [] }] }, /quests\[0\]: actions must list/],
    ['a task twice', { actions: [task, task] }, /actions: "t" is there twice/],
    ['one ID for two things', { actions: [task], challenges: [task] }, /"t" is the ID of more than one/],
    ['an empty ID', { actions: [{ id: '' }] }, /actions\[0\]\.id must be a non-empty string/],
    ['a number that is none', { actions: [{ id: 't', xp: Number.NaN }] }, /actions\[0\]: xp must be a finite number/],
    [
      'a circle',
      {
        actions: [
          { id: 'a', deps: ['b'] },
          { id: 'b', deps: ['a'] },
        ],
      },
      /nothing of "a" → "b" → "a" could ever be completed/,
    ],
    [
      'a task that waits for its own quest',
      { actions: [{ id: 'a', deps: ['q'] }], quests: [{ id: 'q', actions: ['a'] }] },
      /could ever be completed/,
    ],
    ['no seasons', { seasons: [] }, /seasons must not be empty/],
    [
      'seasons that fall',
      {
        seasons: [
          { name: 'a', max_xp: 2 },
          { name: 'b', max_xp: 2 },
        ],
      },
      /seasons\[1\]\.max_xp must be greater/,
    ],
    ['registration of another kind', { registration: 'maybe' as never }, /registration must be 'open' or 'closed'/],
    ['a user without platform', { users: [{ account: 'a', platform: '' }] }, /user "a": platform must be/],
    [
      'a user twice',
      {
        users: [
          { account: 'a', platform: 'p' },
          { account: 'a', platform: 'p' },
        ],
      },
      /user "a" is there twice/,
    ],
    ['a wallet that is none', { users: [{ account: 'a', platform: 'p', wallet: '0x1' }] }, /must be 0x and 40 hex/],
    [
      'a completed thing that is not there',
      { users: [{ account: 'a', platform: 'p', completed: ['x'] }] },
      /names "x"/,
    ],
    ['a referrer that is not there', { users: [{ account: 'a', platform: 'p', referrer: 'b' }] }, /referrer "b" must/],
    [
      'a referral link twice',
      {
        users: [
          { account: 'a', platform: 'p', ref_id: 'r' },
          { account: 'b', platform: 'p', ref_id: 'r' },
        ],
      },
      /ref_id "r" is there twice/,
    ],
    [
      'an account of two users',
      {
        users: [
          { account: 'a', platform: 'p' },
          { account: 'b', platform: 'p', profiles: [{ account: 'a', platform: 'p' }] },
        ],
      },
      /belongs to two users/,
    ],
  ])('%s is refused, saying where', (_, seed, message) => {
    expect(() => createCampaignService({ campaigns: [{ id: 'demo', ...seed }] })).toThrow(TypeError)
    expect(() => createCampaignService({ campaigns: [{ id: 'demo', ...seed }] })).toThrow(message)
  })

  test('a campaign twice is refused', () => {
    expect(() => createCampaignService({ campaigns: [{ id: 'a' }, { id: 'a' }] })).toThrow(
      'campaigns: "a" is there twice',
    )
  })

  test('a long chain of dependencies is no circle and no stack overflow', () => {
    const actions = Array.from({ length: 20_000 }, (_, index) => ({
      id: `t${index}`,
      ...(index > 0 && { deps: [`t${index - 1}`] }),
    }))
    expect(() => createCampaignService({ campaigns: [{ id: 'long', actions }] })).not.toThrow()
  })

  test('an optional task may wait for its own quest', () => {
    const actions = [{ id: 'a' }, { id: 'bonus', is_optional: true, deps: ['q'] }]
    const quests = [{ id: 'q', actions: ['a', 'bonus'] }]
    expect(() => createCampaignService({ campaigns: [{ id: 'c', actions, quests }] })).not.toThrow()
  })
})
