import { describe, expect, test } from 'vitest'
import type { DeliveryRow } from '../../src/console/protocol.ts'
import { RecentRows } from '../../src/console/server/recent-rows.ts'
import { requestSize, requestView } from '../../src/console/server/request-view.ts'
import { endpoint, LINUS, openConsole, receiver, WALLET } from './open-console.ts'

test('the campaigns are shown with their items, users and points', async () => {
  const { changes } = await openConsole()
  const [demo, ...others] = (await changes()).state?.campaigns ?? []
  expect(others).toEqual([])
  expect(demo).toMatchObject({ pid: 'demo', name: 'Demo campaign', users: 3, points: 1265 })
  const deps = ['connect-wallet']
  expect(demo?.items.find(({ id }) => id === 'follow')).toEqual({
    ...{ id: 'follow', name: 'Follow the project', kind: 'task', xp: 20, deps, isRecurring: false, isOptional: false },
  })
  expect(demo?.items.find(({ id }) => id === 'welcome')).toEqual({
    ...{ id: 'welcome', name: 'Welcome', kind: 'quest', xp: 100, deps: [] },
    actions: ['connect-wallet', 'follow', 'feedback'],
  })
  expect(demo?.items.find(({ id }) => id === 'regular')).toEqual({
    ...{ id: 'regular', name: 'Regular', kind: 'challenge', xp: 25, deps: ['daily-visit'] },
  })
  expect(demo?.items.filter(({ isRecurring, isOptional }) => isRecurring || isOptional)).toMatchObject([
    { id: 'daily-visit', isRecurring: true, isOptional: false },
    { id: 'feedback', isRecurring: false, isOptional: true },
  ])
})

test('a campaign or item without a name is shown by its ID', async () => {
  const campaigns = [
    { id: 'bare' },
    { id: 'short', actions: [{ id: 'a' }], quests: [{ id: 'q', actions: ['a'] }], challenges: [{ id: 'c' }] },
  ]
  const { act, changes } = await openConsole({ campaigns } as never)
  const item = (id: string, kind: string) => ({ id, name: id, kind, xp: 0, deps: [] })
  const items = [
    { ...item('a', 'task'), isRecurring: false, isOptional: false },
    { ...item('q', 'quest'), actions: ['a'] },
    item('c', 'challenge'),
  ]
  expect((await changes()).state?.campaigns).toEqual([
    { pid: 'bare', name: 'bare', items: [], users: 0, points: 0 },
    { pid: 'short', name: 'short', items, users: 0, points: 0 },
  ])
  expect(await act('listUsers', { pid: 'bare', find: '', limit: 5 })).toEqual({ users: [], found: 0 })
})

test.each([
  ['', 2, ['ada', 'grace'], 3],
  ['  ADA ', 9, ['ada'], 1],
  ['analysts', 9, ['ada'], 1],
  ['Grace', 9, ['grace'], 1],
  ['discord', 9, ['ada', 'grace', 'linus'], 3],
  ['nobody', 9, [], 0],
])('the filter "%s" with the limit %i finds %j', async (find, limit, accounts, found) => {
  const { act } = await openConsole()
  const list = await act('listUsers', { pid: 'demo', find, limit })
  expect(list.users.map(({ account }) => account)).toEqual(accounts)
  expect(list.found).toBe(found)
})

test('users are listed by points, with the number of their completed tasks', async () => {
  const { act, client } = await openConsole()
  await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5000 })
  await client.updateUser({ ...LINUS, name: 'n'.repeat(121), team: 't'.repeat(120) })
  const { users } = await act('listUsers', { pid: 'demo', find: '', limit: 9 })
  expect(users.map(({ account, rank, completedTasks }) => [account, rank, completedTasks])).toEqual([
    [WALLET, 1, 0],
    ['ada', 2, 2],
    ['grace', 3, 1],
    ['linus', 4, 0],
  ])
  expect(users[3]).toMatchObject({ name: `${'n'.repeat(120)}…`, team: 't'.repeat(120) })
  expect(await act('readUser', LINUS)).toMatchObject({ ...LINUS, name: 'n'.repeat(121), rank: 4, ref_id: 'ref-linus' })
})

test('a user is found by a wallet or an account, without the platform and the campaign', async () => {
  const { act, service } = await openConsole()
  const { wallet } = service.state.entries.find(({ account }) => account === 'ada') ?? {}
  for (const account of ['ada', 'ada@campaign.example', String(wallet).toUpperCase()]) {
    expect(await act('readUser', { pid: '*', platform: '*', account })).toMatchObject({ ...LINUS, account: 'ada' })
  }
})

test('a linked account identifies its user', async () => {
  const { act, service } = await openConsole()
  service.registerWebhook({ hook_id: 'h', url: 'http://127.0.0.1:1/' })
  const account = 'ada@campaign.example'
  const { Payload } = await act('testWebhook', { account, hook_id: 'h' })
  expect(JSON.parse(Payload)).toMatchObject({ user: 'ada' })
  const emitted = { kind: 'action_completed', pid: 'demo', account, aid: 'share' } as const
  expect(await act('emit', emitted)).toMatchObject({ deliveries: [expect.any(String)] })
})

test('a message without a type is shown by its scope', async () => {
  const { url } = await receiver()
  const { act, changes, service } = await openConsole()
  const scope = 's'.repeat(121)
  await act('saveWebhook', endpoint(url, { scope }))
  for (const payload of [{ event: null, user: 7 }, { event: 'x' }, { event: { type: 'T' } }]) {
    service.emit({ kind: 'custom', payload: { scope, ...payload } } as never)
  }
  const { rows: deliveries } = (await changes()).deliveries
  expect(deliveries.map(({ type, user }) => [type, user])).toEqual([
    [`${'s'.repeat(120)}…`, ''],
    [`${'s'.repeat(120)}…`, ''],
    ['T', ''],
  ])
})

test('a test message to which the endpoint responds with 300 is undelivered', async () => {
  const { url } = await receiver(300)
  const { act, changes } = await openConsole()
  await act('saveWebhook', endpoint(url, { hook_id: 'mine' }))
  await act('testWebhook', { account: 'ada', hook_id: 'mine' })
  const { rows: deliveries } = (await changes()).deliveries
  expect(deliveries).toMatchObject([{ state: 'undelivered' }])
  const { attemptsMade } = await act('readDelivery', { key: deliveries[0]?.key ?? '' })
  expect(attemptsMade).toMatchObject([{ ok: false, status: 300, response: 'thanks' }])
})

test('a test message to a closed port is undelivered, with the error', async () => {
  const { act, changes } = await openConsole()
  await act('saveWebhook', endpoint('http://127.0.0.1:1/', { hook_id: 'mine' }))
  const { Success, Data } = await act('testWebhook', { account: 'ada', hook_id: 'mine' })
  expect(Success).toBe(false)
  const [row] = (await changes()).deliveries.rows as [DeliveryRow]
  expect(row).toMatchObject({ state: 'undelivered', isTest: true })
  expect(row).not.toHaveProperty('lastStatus')
  expect((await act('readDelivery', { key: row.key })).attemptsMade).toMatchObject([{ ok: false, error: Data }])
})

test('actions of the console are listed as requests with their arguments', async () => {
  const { act, changes } = await openConsole()
  const { revision } = await changes()
  await act('completeTask', { ...LINUS, aid: 'connect-wallet' })
  await act('completeTask', { ...LINUS, aid: 'daily-visit' })
  const { rows: requests } = (await changes(revision)).requests
  expect(requests).toMatchObject([
    { method: '', path: '', text: 'console task completed connect-wallet linus discord demo' },
    { method: '', path: '', text: 'console task completed daily-visit linus discord demo' },
  ])
  expect(await act('readRequest', { key: requests[1]?.key ?? '' })).toMatchObject({
    ...{ headers: {}, handled: true },
    query: { task: ['daily-visit'], 'user ID': ['linus'], platform: ['discord'], campaign: ['demo'] },
  })
})

test('the search text of a request contains its arguments and its status', async () => {
  const { act, changes, service, url } = await openConsole()
  const post = (body: string) =>
    fetch(`${url}/user?a=1&a=2`, {
      method: 'POST',
      headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
      body,
    })
  await post(JSON.stringify({ ...LINUS, name: 'n'.repeat(2000), extra: ['x'] }))
  await post('NULL')
  await post('null')
  service.fail({ on: '*', kind: 'reset', times: 1 })
  await post('').catch(() => {})
  const { rows: requests } = (await changes()).requests
  const [written, text, none, broken] = requests
  expect(written).toMatchObject({ operation: 'updateUser', subject: 'linus', pid: 'demo', status: 200 })
  expect(written).not.toHaveProperty('reason')
  expect(written).not.toHaveProperty('fault')
  expect(written?.text).toBe(
    `post /api/v1/user updateuser 200   1, 2 linus discord demo ${'n'.repeat(120)}… ["x"]`.toLowerCase(),
  )
  expect(text).toMatchObject({ subject: '', pid: '', status: 400, reason: expect.any(String) })
  expect(text?.text).toMatch(/ 1, 2 null$/)
  expect(none?.text).toMatch(/ 1, 2 $/)
  expect(broken).toMatchObject({ fault: 'reset', text: expect.stringContaining('no response') })
  expect(broken).not.toHaveProperty('status')
  const view = await act('readRequest', { key: written?.key ?? '' })
  expect(view).toMatchObject({ query: { a: ['1', '2'] }, handled: true })
  expect(view.response).toMatchObject({
    headers: { 'content-type': expect.stringContaining('application/json') },
    body: { text: expect.stringContaining('"success":true'), isCut: false },
  })
  expect(await act('readRequest', { key: broken?.key ?? '' })).not.toHaveProperty('response')
})

test('the search text of a request has at most 1000 characters', async () => {
  const { changes, url } = await openConsole()
  const names = Array.from({ length: 20 }, (_, index) => [`n${index}`, 'x'.repeat(100)] as const)
  await fetch(`${url}/code?${new URLSearchParams(names.map(([name, value]) => [name, value]))}`)
  expect((await changes()).requests.rows[0]?.text).toHaveLength(1000)
})

test.each([
  [256_000, false],
  [256_001, true],
])('at most 256 kB of a response are kept: %i bytes, isCut %s', (bytes, isCut) => {
  const request = { id: 1, path: '', query: {}, headers: {}, isBodyCut: true, bodySize: 0 }
  const text = 'é'.repeat(128_000) + 'e'.repeat(bytes - 256_000)
  const { response } = requestView({ request, response: { headers: {}, body: text } } as never)
  expect(response?.body).toEqual({ text: 'é'.repeat(128_000), bytes, isCut })
})

describe('the latest rows', () => {
  interface Sized {
    readonly key: string
    readonly size: number
  }
  const size = (row: Sized) => row.size
  const rows = (count: number, rowSize: number) => {
    const recent = new RecentRows<Sized>(size)
    for (let number = 1; number <= count; number++) recent.set({ key: String(number), size: rowSize }, number)
    return recent
  }

  test('are at most 10 000', () => {
    const recent = rows(10_002, 1)
    expect(recent.changesSince(0, size)).toMatchObject({ kept: 10_000, discarded: 2 })
    expect([recent.get('2'), recent.get('3')]).toEqual([undefined, { key: '3', size: 1 }])
  })

  test('have at most 50 MB, and a replaced row counts once', () => {
    const recent = rows(100, 500_000)
    expect(recent.changesSince(0, size)).toMatchObject({ kept: 100, discarded: 0 })
    recent.set({ key: '50', size: 500_001 }, 101)
    expect(recent.changesSince(0, size)).toMatchObject({ kept: 99, discarded: 1 })
    recent.set({ key: '50', size: 1 }, 102)
    recent.set({ key: '101', size: 1_000_000 - 1 }, 103)
    expect(recent.changesSince(0, size)).toMatchObject({ kept: 100, discarded: 1 })
    recent.clear()
    expect(recent.changesSince(0, size)).toEqual({ rows: [], kept: 0, discarded: 0, cleared: 0 })
    recent.set({ key: '102', size: 50_000_000 }, 104)
    expect(recent.changesSince(0, size).kept).toBe(1)
  })

  test('since a revision are returned in the order in which they were added', () => {
    const recent = rows(3, 1)
    recent.set({ key: '1', size: 7 }, 4)
    expect(recent.changesSince(2, ({ key }) => key).rows).toEqual(['1', '3'])
    expect(recent.changesSince(4, ({ key }) => key).rows).toEqual([])
  })
})

test('the size of a request includes its texts', () => {
  const body = (length: number) => ({ text: 'x'.repeat(length), bytes: 0, isCut: false })
  const bare = requestSize({ text: 't' } as never)
  const full = { text: 't', curl: 'c'.repeat(10), body: body(100), response: { headers: {}, body: body(1000) } }
  expect(requestSize(full as never)).toBe(bare + 1110)
})

test('the list of faults has the options of each fault, and how often it is left', async () => {
  const { act, changes, client } = await openConsole()
  await act('addFault', { on: 'getCampaignInfo', kind: 'status', times: 2, status: 599 })
  await act('addFault', { on: '*', kind: 'delay', times: null, delayMs: 0 })
  const { revision, state } = await changes()
  expect(state?.faults).toEqual([
    {
      key: expect.any(String),
      options: { on: 'getCampaignInfo', kind: 'status', times: 2, status: 599 },
      remaining: 2,
    },
    { key: expect.any(String), options: { on: '*', kind: 'delay', times: null, delayMs: 0 }, remaining: null },
  ])
  await client.getCampaignInfo({ pid: 'demo' }).catch(() => undefined)
  expect((await changes(revision)).state?.faults.map(({ remaining }) => remaining)).toEqual([1, null])
})

test.each([
  ['readUser', { ...LINUS, platform: 'email' }, 'There is no such user.'],
  ['readRequest', { key: 'console-9' }, 'This request is no longer stored.'],
  ['readDelivery', { key: '9' }, 'This delivery is no longer stored.'],
  ['testWebhook', { account: 'ada' }, 'No webhook is registered.', 'hook_id'],
  ['loadSeed', { seed: [] }, 'A seed is a JSON object. "Save seed" writes one.'],
] as const)('%s with %j: %s', async (name, argument, error, field?: string) => {
  const { responseOf } = await openConsole()
  expect(await responseOf(name, argument as never)).toEqual({ error, ...(field !== undefined && { field }) })
})

test('each campaign lists its own users', async () => {
  const campaigns = ['first', 'second'].map((id) => ({ id, users: [{ account: `of ${id}`, platform: 'p' }] }))
  const { act, changes } = await openConsole({ campaigns })
  const { users, found } = await act('listUsers', { pid: 'second', find: '', limit: 9 })
  expect([found, users.map(({ account }) => account)]).toEqual([1, ['of second']])
  expect(await act('listUsers', { pid: 'third', find: '', limit: 9 })).toEqual({ users: [], found: 0 })
  expect((await changes()).state?.campaigns.map((campaign) => campaign.users)).toEqual([1, 1])
})

test('a signed endpoint of a loaded seed gets CAMPAIGN_WEBHOOK_SECRET only if no other secret is known', async () => {
  const { act, service } = await openConsole({ secret: 'of the environment' })
  const url = 'http://127.0.0.1:1/'
  await act('saveWebhook', endpoint(url, { hook_id: 'signed', secret: 'known here' }))
  await act('saveWebhook', endpoint(url, { hook_id: 'plain', secret: '' }))
  const webhooks = [
    { hook_id: 'own', url, signed: true, secret: 'its own secret' },
    { hook_id: 'open', url, signed: false },
    ...['signed', 'plain'].map((hook_id) => ({ hook_id, url, signed: true })),
  ]
  expect(await act('loadSeed', { seed: { webhooks } })).toEqual({ unsigned: [] })
  const secrets = service.exportSeed({ secrets: true }).webhooks?.map(({ secret }) => secret)
  expect(secrets).toEqual(['its own secret', undefined, 'known here', 'of the environment'])
})

test.each([[{ webhooks: 'none' }], [{ webhooks: [7] }]])('the seed %j is refused by the service', async (seed) => {
  const { responseOf } = await openConsole({ secret: 'of the environment' })
  expect(await responseOf('loadSeed', { seed })).toMatchObject({ error: expect.stringMatching(/^webhooks/) })
})
