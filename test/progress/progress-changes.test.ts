import { CampaignClient, InvalidRequestError, progressChanges, type UserProgress } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describedState, kindAndId, reading, stateAfter } from './readings.ts'

const empty: UserProgress = {
  id: 'entry-1',
  user_id: 'ada',
  name: 'Ada',
  actions: [],
  quests: [],
  challenges: [],
  rewards: [],
  total: 0,
  xp: 0,
  ref_xp: 0,
  ugc_xp: 0,
  xp_mul: 1,
  rank: 7,
  team: '',
}
const task = (id: string, status: string, name = id) => ({ id, name, xp: 10, xp_mul: 1.5, status })

/** Freezes a value deeply. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}

/** Returns the `InvalidRequestError` of the call. */
function refusal(before: unknown, after: unknown): InvalidRequestError {
  try {
    progressChanges(before as UserProgress, after as UserProgress)
  } catch (error) {
    if (error instanceof InvalidRequestError) return error
    throw error
  }
  return expect.unreachable('the readings were accepted')
}

describe('for any two readings of a user', () => {
  test('the changes turn the earlier state into the later one, and remove no completion', () => {
    fc.assert(
      fc.property(reading, reading, (before, after) => {
        const [earlier, later] = [describedState(before), describedState(after)]
        expect(stateAfter(progressChanges(before, after), earlier)).toEqual({
          ...later,
          completed: new Set([...earlier.completed, ...later.completed]),
        })
      }),
    )
  })

  test('no change appears twice or reports a completion of the earlier reading', () => {
    fc.assert(
      fc.property(reading, reading, (before, after) => {
        const earlier = describedState(before)
        const found = progressChanges(before, after).map(kindAndId)
        expect(new Set(found).size).toBe(found.length)
        expect(found.filter((change) => earlier.completed.has(change))).toEqual([])
      }),
    )
  })

  test('a value that is equal in both readings is no change', () => {
    fc.assert(
      fc.property(reading, reading, (before, after) => {
        for (const change of progressChanges(before, after)) {
          if ('before' in change) expect(change.before).not.toEqual(change.after)
        }
      }),
    )
  })

  test('a reading compared with itself or with nothing has no changes', () => {
    fc.assert(
      fc.property(reading, (only) => {
        expect(progressChanges(only, structuredClone(only))).toEqual([])
        expect(progressChanges(undefined, only)).toEqual([])
        expect(progressChanges(null, only)).toEqual([])
      }),
    )
  })

  test('neither reading is modified, and a stored copy gives the same changes', () => {
    fc.assert(
      fc.property(reading, reading, (before, after) => {
        const stored = JSON.parse(JSON.stringify(before)) as UserProgress
        expect(progressChanges(stored, after)).toEqual(progressChanges(frozen(before), frozen(after)))
      }),
    )
  })

  test('comparing in two steps reports the same completions as comparing at once, if none is revoked', () => {
    fc.assert(
      fc.property(reading, reading, reading, (first, second, third) => {
        const grown = (earlier: UserProgress, later: UserProgress): UserProgress => ({
          ...later,
          actions: [...earlier.actions, ...later.actions],
          quests: [...earlier.quests, ...later.quests],
          challenges: [...earlier.challenges, ...later.challenges],
          rewards: [...earlier.rewards, ...later.rewards],
        })
        const between = grown(first, second)
        const last = grown(between, third)
        const completions = (before: UserProgress, after: UserProgress) =>
          progressChanges(before, after)
            .filter((change) => 'id' in change)
            .map(kindAndId)
        expect([...completions(first, between), ...completions(between, last)].sort()).toEqual(
          completions(first, last).sort(),
        )
      }),
    )
  })
})

test('changes of all kinds are in the documented order, with ids, names and amounts', () => {
  const before: UserProgress = { ...empty, actions: [task('follow', 'none'), task('share', 'completed')] }
  const after: UserProgress = {
    ...empty,
    actions: [task('follow', 'completed', 'Follow us'), task('share', 'completed')],
    quests: [{ ...task('welcome', 'completed', 'Welcome'), actions: ['follow'] }],
    challenges: [task('regular', 'completed', 'Regular')],
    rewards: [{ id: 'reward-1', reward: '1000', type: 'xp' }],
    total: 35,
    xp: 30,
    ref_xp: 5,
    rank: 3,
    team: 'analysts',
  }
  expect(progressChanges(before, after)).toEqual([
    { kind: 'task_completed', id: 'follow', name: 'Follow us', xp: 10, xp_mul: 1.5 },
    { kind: 'quest_completed', id: 'welcome', name: 'Welcome', xp: 10, xp_mul: 1.5 },
    { kind: 'challenge_completed', id: 'regular', name: 'Regular', xp: 10, xp_mul: 1.5 },
    { kind: 'reward_earned', id: 'reward-1', reward: '1000', type: 'xp' },
    {
      kind: 'xp_changed',
      before: { total: 0, xp: 0, ref_xp: 0, ugc_xp: 0 },
      after: { total: 35, xp: 30, ref_xp: 5, ugc_xp: 0 },
    },
    { kind: 'rank_changed', before: 7, after: 3 },
    { kind: 'team_changed', before: '', after: 'analysts' },
  ])
})

test.each([
  ['a new completed entry', [], [task('a', 'completed')]],
  ['a completed entry with an unknown status in the earlier reading', [task('a', 'expired')], [task('a', 'completed')]],
  [
    'an ID that is listed and completed twice',
    [task('a', 'none')],
    [task('a', 'completed'), task('a', 'completed', 'again')],
  ],
])('%s is one change', (_, before, after) => {
  expect(progressChanges({ ...empty, actions: before }, { ...empty, actions: after })).toEqual([
    { kind: 'task_completed', id: 'a', name: 'a', xp: 10, xp_mul: 1.5 },
  ])
})

test('the same ID as a task and as a quest is two completions', () => {
  const after = { ...empty, actions: [task('a', 'completed')], quests: [{ ...task('a', 'completed'), actions: [] }] }
  expect(progressChanges(empty, after).map(({ kind }) => kind)).toEqual(['task_completed', 'quest_completed'])
})

test('a __proto__ key in stored JSON does not affect the changes', () => {
  const text = JSON.stringify({ ...empty, actions: [task('__proto__', 'completed')] })
  const hostile = text.replace('"id":', '"__proto__":{"total":5,"rewards":[{"id":"free"}]},"id":')
  const changes = progressChanges(empty, JSON.parse(hostile))
  expect(changes).toEqual([{ kind: 'task_completed', id: '__proto__', name: '__proto__', xp: 10, xp_mul: 1.5 }])
  expect(Object.hasOwn(Object.prototype, 'total')).toBe(false)
})

test('progressChanges accepts readings of two accounts of one user', () => {
  expect(progressChanges(empty, { ...empty, user_id: 'ada@campaign.example' })).toEqual([])
})

describe('an invalid reading is refused', () => {
  test.each([
    ['JSON text', JSON.stringify(empty), 'expected object, received string', []],
    ['the envelope', { success: true, data: empty }, 'expected string, received undefined', ['id']],
    ['undefined', undefined, 'expected object, received undefined', []],
    ['a rank that is NaN', { ...empty, rank: Number.NaN }, 'expected a finite number, received NaN', ['rank']],
    ['infinite XP', { ...empty, total: Infinity }, 'expected a finite number, received Infinity', ['total']],
    ['XP as text', { ...empty, xp: '12' }, 'expected a finite number, received string', ['xp']],
    [
      'a task without a status',
      { ...empty, actions: [task('a', 'none'), { ...task('b', 'none'), status: undefined }] },
      'expected string, received undefined',
      ['actions', 1, 'status'],
    ],
    ['a hole in a list', { ...empty, rewards: new Array(1) }, 'expected object, received undefined', ['rewards', 0]],
    [
      'an object instead of a list of tasks',
      { ...empty, actions: { a: task('a', 'none') } },
      'expected array, received object',
      ['actions'],
    ],
  ])('%s', (_, reading, message, path) => {
    expect(refusal(empty, reading).issues).toContainEqual({ path: ['after', ...path], message })
    expect(refusal(undefined, reading).issues).toContainEqual({ path: ['after', ...path], message })
    if (reading === undefined) return
    const before = refusal(reading, empty)
    expect(before.issues).toContainEqual({ path: ['before', ...path], message })
    expect(before.message).toContain(['before', ...path].join('.'))
  })

  test('readings with different ids, which belong to two users or two campaigns', () => {
    const error = refusal(empty, { ...empty, id: 'entry-2' })
    expect(error.message).toBe(
      'progressChanges: after.id must equal the id of before; the readings belong to two users or two campaigns',
    )
    expect(error.issues.map(({ path }) => path)).toEqual([['after', 'id']])
    expect(error.code).toBe('invalid_request')
  })

  test('the message and the issues are short for a long invalid list', () => {
    const error = refusal(empty, { ...empty, actions: Array.from({ length: 5000 }, () => ({})) })
    expect(error.issues).toHaveLength(20)
    expect(error.moreIssues).toBe(5000 * 5 - 20)
    expect(error.message.length).toBeLessThan(500)
    expect(error.message).toMatch(/; and 24995 more$/)
  })

  test('the error never shows a value of the reading', () => {
    const error = refusal({ ...empty, team: { secret: 'a-secret' }, name: 5 }, empty)
    expect(JSON.stringify(error)).not.toContain('a-secret')
  })

  test('any input gives changes or an InvalidRequestError', () => {
    const malformed = fc
      .tuple(reading, fc.constantFrom(...Object.keys(empty)), fc.anything({ withNullPrototype: true }))
      .map(([whole, key, value]) => ({ ...whole, [key]: value }))
    const anything = fc.oneof(reading, malformed, fc.anything({ withNullPrototype: true, withSparseArray: true }))
    let refused = 0
    fc.assert(
      fc.property(anything, anything, (before, after) => {
        try {
          expect(Array.isArray(progressChanges(before as UserProgress, after as UserProgress))).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidRequestError)
          refused += 1
        }
      }),
      { numRuns: 500 },
    )
    expect(refused).toBeGreaterThan(100)
  })
})

test("progressChanges returns a user's changes between two responses", async () => {
  const service = createCampaignService()
  const client = new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'any',
    fetch: service.fetch,
  })
  const linus = { account: 'linus', platform: 'discord', pid: 'demo' }
  const before = await client.getUserProgress(linus)
  await client.updateUser({ ...linus, team: 'kernel' })
  for (const aid of ['connect-wallet', 'follow']) {
    await client.recordActionValue({ ...linus, cid: 'welcome', aid, value: 1 })
  }
  const after = await client.getUserProgress(linus)
  expect(progressChanges(before, after).map(kindAndId)).toEqual([
    'task_completed connect-wallet',
    'task_completed follow',
    'quest_completed welcome',
    'xp_changed',
    'rank_changed',
    'team_changed',
  ])
})
