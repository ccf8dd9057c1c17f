import { parseWebhook, verifyWebhook, type WebhookEvent } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import { ok, refused } from '../rest.ts'
import { ada, emitFollow, HOOK, only, SECRET, start, WALLET } from './start-service.ts'

describe('messages', () => {
  test('a completed task is sent with the documented fields and a signature', async () => {
    const { service, received } = start()
    const hook = service.registerWebhook({ url: HOOK, secret: SECRET, hook_id: 'mine' })
    expect(hook).toEqual({ hook_id: 'mine', scope: 'user_activity', urls: [HOOK], signed: true, campaigns: [] })
    const message = service.emit(emitFollow)
    await service.settle()
    expect(message).toMatchObject({ body: received[0]?.body, hook_ids: ['mine'] })
    expect(received).toMatchObject([{ url: HOOK, method: 'POST', contentType: 'application/json' }])
    expect(JSON.parse(message.body)).toEqual({
      id: message.id,
      scope: 'user_activity',
      user: 'ada',
      wallet: '0xada0000000000000000000000000000000000001',
      email: 'ada@campaign.example',
      campaign: { id: 'demo', name: 'Demo campaign' },
      event: {
        type: 'action_completed',
        data: { action: { id: 'follow', name: 'Follow the project', type: 'social' }, xp: 20 },
      },
      total_xp: 1215,
      ref_xp: 5,
      ugc_xp: 40,
      xp_mul: 1,
      rank: 1,
      team: 'analysts',
    })
    expect(received[0]?.signature).toMatch(/^[0-9a-f]{64}$/)
    expect(verifyWebhook(SECRET, message.body, received[0]?.signature)).toBe(true)
    expect(parseWebhook(SECRET, message.body, received[0]?.signature)).toMatchObject({ kind: 'action_completed' })
  })

  test('a webhook without a secret sends no signature', async () => {
    const { service, received } = start()
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await service.settle()
    expect(received).toMatchObject([{ signature: null }])
    expect(only(service.deliveries)).not.toHaveProperty('signature')
  })

  test('a task, its quest and a reward are sent in order, and parse as webhook events', async () => {
    const { service, received, post } = start()
    service.registerWebhook({ url: HOOK, secret: SECRET })
    const value = { ...ada, account: 'grace', cid: 'welcome', value: 1 }
    expect(await post('/action/value', { ...value, aid: 'follow' })).toMatchObject(ok())
    expect(await post('/wallet/reward', { address: WALLET, pid: 'demo', id: 'r1', xp: 7 })).toMatchObject(ok())
    await service.settle()
    const events = received.map(({ body, signature }): WebhookEvent => parseWebhook(SECRET, body, signature))
    expect(events).toMatchObject([
      {
        kind: 'action_completed',
        payload: { user: 'grace', event: { data: { action: { id: 'follow' }, xp: 20 } }, total_xp: 170 },
      },
      { kind: 'quest_completed', payload: { event: { data: { action: { id: 'welcome', type: 'quest' }, xp: 100 } } } },
      {
        kind: 'unknown',
        scope: 'user_activity',
        type: 'reward_claimed',
        payload: { wallet: WALLET, event: { data: { reward: { id: 'r1', type: 'xp' }, account: WALLET, xp: 7 } } },
      },
    ])
    expect(new Set(events.map(({ id }) => id)).size).toBe(3)
  })

  test('a completed challenge is not sent', async () => {
    const { service } = start(undefined, {
      campaigns: [
        {
          id: 'demo',
          actions: [{ id: 'follow' }],
          challenges: [{ id: 'c', deps: ['follow'] }],
          users: [{ account: 'ada', platform: 'discord' }],
        },
      ],
    })
    service.registerWebhook({ url: HOOK })
    expect(service.completeTask({ ...ada, aid: 'follow' }).completed).toEqual(['follow', 'c'])
    expect(service.deliveries).toHaveLength(1)
  })

  test('refused requests and requests without effect send nothing', async () => {
    const { service, post } = start()
    service.registerWebhook({ url: HOOK })
    expect(await post('/wallet/reward', { address: WALLET, pid: 'demo', id: 'reward-ada-1', xp: 7 })).toMatchObject(
      refused(400),
    )
    await post('/action/value', { ...ada, cid: 'welcome', aid: 'follow', value: 1 })
    expect(service.deliveries).toEqual([])
  })

  test('an applied write with a lost response sends its message', async () => {
    const { service, post } = start()
    service.registerWebhook({ url: HOOK })
    service.fail({ kind: 'applied_then_reset' })
    await post('/wallet/reward', { address: WALLET, pid: 'demo', id: 'r1', xp: 7 }).catch(() => {})
    expect(service.deliveries).toHaveLength(1)
  })

  test('emit can send a completed quest, other XP, and custom payloads', async () => {
    const { service, received } = start()
    service.registerWebhook({ url: HOOK })
    service.registerWebhook({ url: `${HOOK}/login`, scope: 'user_login' })
    service.emit({ kind: 'quest_completed', ...ada, cid: 'spread-the-word' })
    service.emit({ ...emitFollow, xp: 3 })
    const login = service.emit({ kind: 'custom', scope: 'user_login', payload: { user: 'ada', at: 1 } })
    expect(service.emit({ kind: 'custom', payload: { id: 'my-id', scope: 'user_login' } }).id).toBe('my-id')
    expect(service.emit({ kind: 'custom', payload: { id: null, event: 'custom' } }).id).toMatch(/^message_/)
    await service.settle()
    const bodies = received.map(({ url, body }) => [url, JSON.parse(body)])
    expect(bodies).toMatchObject([
      [HOOK, { event: { type: 'quest_completed', data: { action: { id: 'spread-the-word' }, xp: 300 } } }],
      [HOOK, { event: { data: { xp: 3 } } }],
      [`${HOOK}/login`, { id: login.id, scope: 'user_login', user: 'ada', at: 1 }],
      [`${HOOK}/login`, { id: 'my-id' }],
      [HOOK, { id: null, event: 'custom', scope: 'user_activity' }],
    ])
    expect(service.state.entries[0], 'emitting changes no XP').toMatchObject({ total: 1215 })
  })

  test('emit applies the multipliers of the task and of the user', () => {
    const { service } = start(undefined, {
      campaigns: [
        {
          id: 'demo',
          actions: [{ id: 'follow', xp: 10, xp_mul: 2 }],
          users: [{ account: 'ada', platform: 'discord', xp_mul: 1.5 }],
        },
      ],
    })
    expect(JSON.parse(service.emit(emitFollow).body)).toMatchObject({ event: { data: { xp: 30 } } })
  })

  test.each([
    [{ kind: 'action_completed', ...ada, aid: 'nothing' }, 'emit: aid: there is no task "nothing" in "demo"'],
    [{ kind: 'quest_completed', ...ada, cid: 'nothing' }, 'emit: cid: there is no quest "nothing" in "demo"'],
    [{ ...emitFollow, pid: 'nothing' }, 'emit: pid: there is no campaign "nothing"'],
    [{ ...emitFollow, account: 'nobody' }, 'emit: account: there is no user "nobody" on "discord" in "demo"'],
    [{ kind: 'custom', payload: [] }, 'emit of kind custom: payload must be an object, got array'],
    [
      { kind: 'custom', payload: { toJSON() {} } },
      'emit of kind custom: payload must be a value that JSON can represent, got object',
    ],
    [{ ...emitFollow, aid: undefined }, 'emit of kind action_completed: aid: expected string, received undefined'],
    [{ kind: 'custom', payload: {}, pid: 'nothing' }, 'emit: pid: there is no campaign "nothing"'],
    [{ kind: 'login' }, "emit: kind must be 'action_completed' or 'quest_completed' or 'custom'"],
  ])('emit refuses %j', (options, message) => {
    const { service } = start()
    expect(() => service.emit(options as never)).toThrow(message)
  })
})

describe('testWebhook, like the Test button of the panel,', () => {
  test('sends one signed user_activity message with the fields of the test payload', async () => {
    const { service, received } = start(() => new Response('x'.repeat(2000), { status: 200 }))
    service.registerWebhook({ url: HOOK, secret: SECRET })
    const result = await service.testWebhook({ account: 'ada', platform: 'discord' })
    expect(result).toEqual({ Success: true, Status: 200, Data: 'x'.repeat(1024), Payload: received[0]?.body })
    const { body = '', signature } = received[0] ?? {}
    expect(parseWebhook(SECRET, body, signature)).toMatchObject({
      kind: 'action_completed',
      payload: {
        user: 'ada',
        user_id: 'ada',
        event: { data: { account: 'ada', xp: 50, action: { id: 'connect-wallet', meta: { icon: 'wallet' } } } },
      },
    })
    expect(service.deliveries).toEqual([])
  })

  test("returns the endpoint's response or an error, without a retry", async () => {
    const { service, clock, received } = start((_, index) =>
      index === 0 ? new Response('who are you', { status: 401 }) : Promise.reject(new Error('no such host')),
    )
    service.registerWebhook({ url: HOOK })
    const user = { account: 'ada', platform: 'discord' }
    expect(await service.testWebhook(user)).toMatchObject({ Success: true, Status: 401, Data: 'who are you' })
    expect(await service.testWebhook(user)).toMatchObject({ Success: false, Status: 0, Data: 'no such host' })
    await clock.advance(600_000)
    expect(received).toHaveLength(2)
  })

  test('returns the code of the error when the endpoint cannot be reached', async () => {
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const { service } = start(() => Promise.reject(new TypeError('fetch failed', { cause })))
    service.registerWebhook({ url: HOOK })
    const result = await service.testWebhook({ account: 'ada', platform: 'discord' })
    expect(result).toMatchObject({ Success: false, Data: 'fetch failed: ECONNREFUSED', code: 'ECONNREFUSED' })
  })

  test('makes a manual clock wait for the response', async () => {
    const { service, clock } = start(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return new Response('late')
    })
    service.registerWebhook({ url: HOOK })
    const result = service.testWebhook({ account: 'ada', platform: 'discord' })
    await clock.advance(60_000)
    expect(await result).toMatchObject({ Success: true, Status: 200, Data: 'late' })
  })

  test('sends to the given webhook and URL, for the given campaign', async () => {
    const users = [{ account: 'ada', platform: 'discord' }]
    const campaigns = [
      { id: 'one', users },
      { id: 'two', users },
    ]
    const { service, received } = start(undefined, { campaigns })
    service.registerWebhook({ url: HOOK, hook_id: 'a' })
    service.registerWebhook({ url: [`${HOOK}/1`, `${HOOK}/2`], hook_id: 'b', campaigns: ['two'] })
    const user = { account: 'ada', platform: 'discord' }
    await service.testWebhook({ ...user, hook_id: 'b', url: `${HOOK}/2` })
    await service.testWebhook({ ...user, pid: 'two' })
    await service.testWebhook(user)
    expect(received.map(({ url, body }) => [url, JSON.parse(body).campaign.id])).toEqual([
      [`${HOOK}/2`, 'two'],
      [HOOK, 'two'],
      [HOOK, 'one'],
    ])
    expect(JSON.parse(received[0]?.body ?? ''), 'of a campaign without tasks').toMatchObject({
      event: { data: { action: { id: 'test', name: 'Test', type: 'test', meta: {} }, xp: 0 } },
    })
  })

  test.each([
    [{ account: 'nobody', platform: 'discord' }, 'account: there is no user "nobody" on "discord" in "demo"'],
    [{ account: 'ada', platform: 'discord', pid: 'x' }, 'pid: there is no campaign "x"'],
    [{ account: 'ada', platform: 'discord', hook_id: 'x' }, 'hook_id: there is no webhook "x"'],
    [
      { account: 'ada', platform: 'discord', url: 'https://x.example' },
      'url must be a URL of the webhook "a", got "https://x.example"',
    ],
  ])('refuses %j', async (options, message) => {
    const { service } = start()
    service.registerWebhook({ url: HOOK, hook_id: 'a' })
    await expect(service.testWebhook(options)).rejects.toThrow(`testWebhook: ${message}`)
  })
})

test('testWebhook works with the system clock', async () => {
  const { service } = start(undefined, { clock: undefined })
  service.registerWebhook({ url: HOOK })
  expect(await service.testWebhook({ account: 'ada', platform: 'discord' })).toMatchObject({ Status: 200 })
})

test('testWebhook rejects without a webhook', async () => {
  const { service } = start()
  const user = { account: 'ada', platform: 'discord' }
  await expect(service.testWebhook(user)).rejects.toThrow('testWebhook: hook_id: there is no webhook')
})
