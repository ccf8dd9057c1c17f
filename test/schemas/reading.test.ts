import type { CampaignInfo, UserProgress } from 'campaign-client'
import * as schemas from 'campaign-client/schemas'
import { describe, expect, it } from 'vitest'
import { scriptedFetch } from '../call/scripted-fetch.ts'
import { clientWith, json } from '../client/stub-service.ts'
import { operations } from '../contract/operations.ts'

const task = { id: 't1', name: 'Follow', xp: 10, xp_mul: 1, status: 'none' }
const progress = {
  id: 'e1',
  user_id: 'ada',
  name: 'Ada',
  actions: [task],
  quests: [{ ...task, actions: ['t1'] }],
  challenges: [task],
  rewards: [{ id: 'r1', reward: 'badge', type: 'nft' }],
  total: 5,
  xp: 5,
  ref_xp: 0,
  ugc_xp: 0,
  xp_mul: 1,
  rank: 1,
  team: '',
}
const definition = {
  id: 't1',
  name: 'Follow',
  type: 'social',
  recurrence: 'once',
  ref_xp: '5',
  xp: 10,
  xp_mul: '1.5',
  meta: {},
  deps: [],
  is_optional: false,
}
const quest = { id: 'q1', name: 'Welcome', actions: ['t1'], xp: 10, xp_mul: '2', meta: {}, deps: ['q0'] }
const info = { id: 'demo', name: 'Demo', actions: [definition], quests: [quest] }

/** Returns the result of a client for a response with this body. */
const readProgress = (text: string): Promise<UserProgress> =>
  clientWith({ fetch: scriptedFetch(() => new Response(text)).fetch }).getUserProgress({
    account: 'ada',
    platform: 'web',
    pid: 'demo',
  })
const readInfo = (text: string): Promise<CampaignInfo> =>
  clientWith({ fetch: scriptedFetch(() => new Response(text)).fetch }).getCampaignInfo({ pid: 'demo' })
const envelope = (data: unknown) => json({ success: true, data })

describe('unknown fields', () => {
  it('are kept at every level', async () => {
    const extra = { badge: { colors: ['red', null], since: 2026 }, flag: false }
    const data = {
      ...progress,
      ...extra,
      actions: [{ ...task, ...extra, meta: { ...extra } }],
      quests: [{ ...task, actions: [], ...extra }],
      challenges: [{ ...task, ...extra }],
      rewards: [{ id: 'r', reward: 'b', type: 't', ...extra }],
    }
    expect(await readProgress(envelope(data))).toEqual(data)
    const campaign = { ...info, ...extra, actions: [{ ...definition, ...extra }], quests: [{ ...quest, ...extra }] }
    expect(await readInfo(envelope(campaign))).toEqual({
      ...campaign,
      actions: [{ ...definition, ...extra, ref_xp: 5, xp_mul: 1.5 }],
      quests: [{ ...quest, ...extra, xp_mul: 2 }],
    })
  })

  it.each(
    operations.filter(({ data }) => typeof data === 'object').map((operation) => [operation.name, operation] as const),
  )('of %s are kept', async (_, { data, result, run }) => {
    const more = { later: [1, { deep: true }] }
    const { fetch } = scriptedFetch(() => new Response(envelope({ ...(data as object), ...more })))
    expect(await run(clientWith({ fetch }))).toEqual({ ...(result as object), ...more })
  })

  it('next to the data are ignored', async () => {
    expect(await readProgress(json({ success: true, data: progress, meta: { page: 1 }, version: 2 }))).toEqual(progress)
  })
})

describe('unknown values', () => {
  it.each(['none', 'completed', 'in_progress', '', 'NONE', '__proto__'])(
    'of a status are kept as strings: %j',
    async (status) => {
      const data = { ...progress, actions: [{ ...task, status }], challenges: [{ ...task, status }] }
      expect((await readProgress(envelope(data))).actions[0]?.status).toBe(status)
    },
  )

  it('of type and recurrence are kept as strings', async () => {
    const data = { ...info, actions: [{ ...definition, type: 'quantum', recurrence: 'every leap year' }] }
    expect((await readInfo(envelope(data))).actions[0]).toMatchObject({
      type: 'quantum',
      recurrence: 'every leap year',
    })
  })
})

describe('fields with numeric strings', () => {
  it.each([
    [1e21, 1e21],
    ['0', 0],
    ['5', 5],
    ['1.5', 1.5],
    ['-2', -2],
    ['+2', 2],
    ['.5', 0.5],
    ['5.', 5],
    ['007', 7],
    ['1e3', 1000],
    ['1.5E-3', 0.0015],
    ['12345678901234567890', 1.2345678901234567e19],
  ])('convert %j to %d', async (text, number) => {
    const data = {
      ...info,
      actions: [{ ...definition, ref_xp: text, xp_mul: text }],
      quests: [{ ...quest, xp_mul: text }],
    }
    const { actions, quests } = await readInfo(envelope(data))
    expect([actions[0]?.ref_xp, actions[0]?.xp_mul, quests[0]?.xp_mul]).toEqual([number, number, number])
  })

  it('quickly refuse an invalid string of 2 million digits', () => {
    const text = `${'1'.repeat(2_000_000)}x`
    expect(schemas.questDefinition.safeParse({ ...quest, xp_mul: text }).success).toBe(false)
  })
})

describe('meta', () => {
  it.each([{}, { link: 'https://example.org', nested: { deep: [1] } }, null])('may be %j', async (meta) => {
    const data = { ...progress, actions: [{ ...task, meta }], quests: [{ ...task, actions: [], meta }] }
    const { actions, quests } = await readProgress(envelope(data))
    expect(actions[0]?.meta).toEqual(meta)
    expect(quests[0]?.meta).toEqual(meta)
    expect((await readInfo(envelope({ ...info, quests: [{ ...quest, meta }] }))).quests[0]?.meta).toEqual(meta)
  })

  it('that is absent stays absent', async () => {
    const { meta: _, ...bare } = definition
    expect((await readProgress(envelope(progress))).actions[0]).not.toHaveProperty('meta')
    expect((await readInfo(envelope({ ...info, actions: [bare] }))).actions[0]).not.toHaveProperty('meta')
  })
})

describe('the field name __proto__', () => {
  const spellings = [
    '__proto__',
    '\\u005f_proto__',
    '__\\u0070roto__',
    '__p\\u0072oto__',
    '__pr\\u006Fto__',
    '__pro\\u0074o__',
    '__proto\\u005F\\u005f',
    '\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f',
  ]
  const pollution = (name: string) => `"${name}":{"polluted":true,"status":"completed"}`

  it.each(spellings)('is removed at every level: %s', async (name) => {
    expect(Object.keys(JSON.parse(`{${pollution(name)}}`))).toEqual(['__proto__'])
    const text = (value: object) =>
      json(value)
        .replaceAll('{', `{${pollution(name)},`)
        .replaceAll(',}', '}')
    const polluted = await readProgress(
      text({ success: true, data: { ...progress, actions: [{ ...task, meta: { a: { b: 1 } } }] } }),
    )
    const task0 = polluted.actions[0] as (typeof polluted.actions)[0]
    const meta = task0.meta as { a: object }
    for (const object of [polluted, task0, meta, meta.a, polluted.quests[0], polluted.rewards[0]]) {
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
      expect(Object.hasOwn(object as object, '__proto__')).toBe(false)
      // A partner may copy the data into another object.
      expect(Object.assign({}, object)).not.toHaveProperty('polluted')
    }
    expect(task0.status).toBe('none')
    const campaign = await readInfo(text({ success: true, data: info }))
    for (const object of [campaign, campaign.actions[0], campaign.quests[0]]) {
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
      expect(Object.hasOwn(object as object, '__proto__')).toBe(false)
    }
    expect({}).not.toHaveProperty('polluted')
  })

  it('cannot replace missing fields', async () => {
    const inherited = `{"success":true,"data":{"__proto__":${json(progress)}}}`
    await expect(readProgress(inherited)).rejects.toHaveProperty('code', 'unexpected_response')
    await expect(readProgress(`{"__proto__":${envelope(progress)}}`)).rejects.toHaveProperty(
      'code',
      'unexpected_response',
    )
  })

  it('is the only one removed: constructor and prototype are kept', async () => {
    const hostile = { prototype: { polluted: true } }
    const data = {
      ...progress,
      constructor: hostile,
      actions: [{ ...task, constructor: hostile, toString: 1, hasOwnProperty: 2 }],
    }
    const read = await readProgress(envelope(data))
    expect(Object.entries(read)).toContainEqual(['constructor', hostile])
    expect(Object.keys(read.actions[0] as object)).toContain('hasOwnProperty')
    expect({}).not.toHaveProperty('polluted')
  })

  it('has no effect inside a string', async () => {
    expect((await readProgress(envelope({ ...progress, name: '"__proto__":{"a":1}' }))).name).toBe(
      '"__proto__":{"a":1}',
    )
  })
})
