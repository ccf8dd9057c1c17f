import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CampaignServiceOptions,
  createCampaignService,
  createManualClock,
  type DeliveryRecord,
} from 'campaign-client/testing'
import { createWebhookReceiver, parseWebhook, verifyWebhook, type WebhookEvent } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import { caller, ok, refused } from '../rest.ts'

const SECRET = 'the secret of the hook'
const HOOK = 'https://partner.example/hook'
const WALLET = `0x${'1'.repeat(40)}`
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }

interface Received {
  url: string
  method: string
  body: string
  signature: string | null
  contentType: string | null
  at: number
}

/** A service whose deliveries go to `answer`, in this process and on a manual clock. */
const start = (
  answer: (request: Request, index: number) => Response | Promise<Response> = () => new Response('thanks'),
  options: CampaignServiceOptions = {},
  patienceMs?: number,
) => {
  const clock = createManualClock({ startMs: 0, patienceMs })
  const received: Received[] = []
  const service = createCampaignService({
    clock,
    seed: 'webhooks',
    async deliver(request) {
      received.push({
        url: request.url,
        method: request.method,
        body: await request.clone().text(),
        signature: request.headers.get('x-service-signature'),
        contentType: request.headers.get('content-type'),
        at: clock.now(),
      })
      return answer(request, received.length - 1)
    },
    ...options,
  })
  return { service, clock, received, ...caller(service.fetch) }
}

const emitFollow = { kind: 'action_completed', ...ada, aid: 'follow' } as const
const only = (deliveries: readonly DeliveryRecord[]): DeliveryRecord => {
  expect(deliveries).toHaveLength(1)
  return deliveries[0] as DeliveryRecord
}

describe('messages', () => {
  test('a completed task, as the interface shows it, signed', async () => {
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

  test('without a secret there is no signature', async () => {
    const { service, received } = start()
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await service.settle()
    expect(received).toMatchObject([{ signature: null }])
    expect(only(service.deliveries)).not.toHaveProperty('signature')
  })

  test('the API emits: a task, then its quest, then the reward, each read by the client', async () => {
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

  test('what is refused, or gives nothing any more, emits nothing', async () => {
    const { service, post } = start()
    service.registerWebhook({ url: HOOK })
    expect(await post('/wallet/reward', { address: WALLET, pid: 'demo', id: 'reward-ada-1', xp: 7 })).toMatchObject(
      refused(400),
    )
    await post('/action/value', { ...ada, cid: 'welcome', aid: 'follow', value: 1 })
    expect(service.deliveries).toEqual([])
  })

  test('an applied write whose answer was lost emits', async () => {
    const { service, post } = start()
    service.registerWebhook({ url: HOOK })
    service.fail({ kind: 'applied_then_reset' })
    await post('/wallet/reward', { address: WALLET, pid: 'demo', id: 'r1', xp: 7 }).catch(() => {})
    expect(service.deliveries).toHaveLength(1)
  })

  test('emit: a quest, other XP, and payloads of your own', async () => {
    const { service, received } = start()
    service.registerWebhook({ url: HOOK })
    service.registerWebhook({ url: `${HOOK}/login`, scope: 'user_login' })
    service.emit({ kind: 'quest_completed', ...ada, cid: 'spread-the-word' })
    service.emit({ ...emitFollow, xp: 3 })
    const login = service.emit({ kind: 'custom', scope: 'user_login', payload: { user: 'ada', at: 1 } })
    service.emit({ kind: 'custom', payload: { id: 'my-id', scope: 'user_login' } })
    service.emit({ kind: 'custom', payload: { id: null, event: 'odd' } })
    await service.settle()
    const bodies = received.map(({ url, body }) => [url, JSON.parse(body)])
    expect(bodies).toMatchObject([
      [HOOK, { event: { type: 'quest_completed', data: { action: { id: 'spread-the-word' }, xp: 300 } } }],
      [HOOK, { event: { data: { xp: 3 } } }],
      [`${HOOK}/login`, { id: login.id, scope: 'user_login', user: 'ada', at: 1 }],
      [`${HOOK}/login`, { id: 'my-id' }],
      [HOOK, { id: null, event: 'odd', scope: 'user_activity' }],
    ])
    expect(service.state.entries[0], 'emitting changes no XP').toMatchObject({ total: 1215 })
  })

  test.each([
    [{ kind: 'action_completed', ...ada, aid: 'nothing' }, 'emit: aid: there is no task "nothing" in "demo"'],
    [{ kind: 'quest_completed', ...ada, cid: 'nothing' }, 'emit: cid: there is no quest "nothing" in "demo"'],
    [{ ...emitFollow, pid: 'nothing' }, 'emit: pid: there is no campaign "nothing"'],
    [{ ...emitFollow, account: 'nobody' }, 'emit: there is no user "nobody" on "discord" in "demo"'],
    [{ kind: 'custom', payload: [] }, 'emit: payload must be an object'],
    [{ kind: 'custom', payload: {}, pid: 'nothing' }, 'emit: pid: there is no campaign "nothing"'],
    [{ kind: 'login' }, 'emit: kind must be action_completed, quest_completed or custom'],
  ])('emit refuses %j', (options, message) => {
    const { service } = start()
    expect(() => service.emit(options as never)).toThrow(new TypeError(message))
  })
})

describe('who gets a message', () => {
  test('every endpoint of every webhook of the scope: the same bytes, the same id, each its own signature', async () => {
    const { service, received } = start()
    service.registerWebhook({ url: [`${HOOK}/1`, `${HOOK}/2`, `${HOOK}/1`], secret: SECRET, hook_id: 'a' })
    service.registerWebhook({ url: `${HOOK}/3`, secret: 'another secret', hook_id: 'b' })
    service.registerWebhook({ url: `${HOOK}/4`, scope: 'user_login', hook_id: 'c' })
    const message = service.emit(emitFollow)
    await service.settle()
    expect(received.map(({ url }) => url)).toEqual([`${HOOK}/1`, `${HOOK}/2`, `${HOOK}/3`])
    expect(new Set(received.map(({ body }) => body))).toEqual(new Set([message.body]))
    expect(received[0]?.signature).toBe(received[1]?.signature)
    expect(verifyWebhook('another secret', message.body, received[2]?.signature)).toBe(true)
    expect(service.deliveries.map(({ id, hook_id, url, state }) => [id, hook_id, url, state])).toEqual([
      [message.id, 'a', `${HOOK}/1`, 'delivered'],
      [message.id, 'a', `${HOOK}/2`, 'delivered'],
      [message.id, 'b', `${HOOK}/3`, 'delivered'],
    ])
  })

  test('a restriction to campaigns; an empty one means all', async () => {
    const users = [{ account: 'ada', platform: 'discord' }]
    const actions = [{ id: 't' }]
    const campaigns = ['one', 'two', 'three'].map((id) => ({ id, users, actions }))
    const { service } = start(undefined, { campaigns })
    service.registerWebhook({ url: HOOK, hook_id: 'all', campaigns: [] })
    service.registerWebhook({ url: HOOK, hook_id: 'some', campaigns: ['one', 'two'] })
    const hooks = (pid: string) => service.emit({ kind: 'action_completed', ...ada, pid, aid: 't' }).hook_ids
    expect(hooks('one')).toEqual(['all', 'some'])
    expect(hooks('three')).toEqual(['all'])
    expect(service.emit({ kind: 'custom', payload: {} }).hook_ids, 'a message of no campaign').toEqual(['all'])
    expect(service.emit({ kind: 'custom', payload: {}, pid: 'two' }).hook_ids).toEqual(['all', 'some'])
  })

  test('a webhook registered over the API is for what its token may see', async () => {
    const users = [{ account: 'ada', platform: 'discord' }]
    const actions = [{ id: 't' }]
    const { service } = start(undefined, {
      campaigns: [
        { id: 'north', organization: 'n', users, actions },
        { id: 'north-2', organization: 'n', users, actions },
        { id: 'south', organization: 's', users, actions },
      ],
      tokens: { n: { organization: 'n' }, one: { organization: 'n', campaigns: ['north'] }, s: { organization: 's' } },
    })
    const register = (token: string, hook_id: string, url = HOOK) =>
      caller(service.fetch, { token }).post('/webhook', { scope: 'user_activity', url, hook_id })
    expect(await register('n', 'of-n')).toMatchObject(ok({ hook_id: 'of-n' }))
    expect(await register('one', 'one-of-n')).toMatchObject(ok({ hook_id: 'one-of-n' }))
    const hooks = (pid: string) => service.emit({ kind: 'action_completed', ...ada, pid, aid: 't' }).hook_ids
    expect([hooks('north'), hooks('north-2'), hooks('south')]).toEqual([['of-n', 'one-of-n'], ['of-n'], []])

    expect(await register('s', 'of-n'), 'another organization’s webhook is not replaced').toMatchObject(refused(403))
    expect(await register('n', 'of-n', `${HOOK}/new`)).toMatchObject(ok({ hook_id: 'of-n' }))
    expect(service.webhooks.map(({ urls }) => urls[0])).toEqual([`${HOOK}/new`, HOOK])
  })

  test('registering without hook_id twice is two webhooks; unregistering ends it', async () => {
    const { service, post } = start()
    for (let times = 0; times < 2; times++) await post('/webhook', { scope: 'user_activity', url: HOOK })
    const [first, second] = service.emit(emitFollow).hook_ids as [string, string]
    expect(first).not.toBe(second)
    expect(service.unregisterWebhook(first)).toBe(true)
    expect(service.unregisterWebhook(first)).toBe(false)
    expect(service.emit(emitFollow).hook_ids).toEqual([second])
  })

  test.each([
    [{ url: 'ftp://partner.example' }, /^registerWebhook: url must be an absolute http or https URL/],
    [{ url: '/hook' }, /url must be/],
    [{ url: [] }, /url must name at least one/],
    [{ url: HOOK, secret: '' }, /secret must be a non-empty string/],
    [{ url: HOOK, scope: '' }, /scope must be/],
    [{ url: HOOK, hook_id: 5 }, /hook_id must be/],
    [{ url: HOOK, campaigns: 'demo' }, /campaigns must be a list of campaign ids/],
  ])('registerWebhook refuses %j', (options, message) => {
    const { service } = start()
    expect(() => service.registerWebhook(options as never)).toThrow(TypeError)
    expect(() => service.registerWebhook(options as never)).toThrow(message)
  })

  test.each([{ url: 'ftp://x' }, { scope: '' }, { secret: '' }])('the API refuses %j', async (wrong) => {
    const { post, service } = start()
    expect(await post('/webhook', { scope: 'user_activity', url: HOOK, ...wrong })).toMatchObject(refused(400))
    expect(service.webhooks).toEqual([])
  })
})

describe('retries', () => {
  test('four, at 5 s, 30 s, 1 min and 5 min after the attempt before; then undelivered', async () => {
    const { service, clock, received } = start(() => new Response('down', { status: 503 }))
    service.registerWebhook({ url: HOOK, secret: SECRET })
    service.emit(emitFollow)
    await clock.advance(4_999)
    expect(received.map(({ at }) => at)).toEqual([0])
    expect(only(service.deliveries)).toMatchObject({ state: 'pending', nextAttemptAt: 5_000 })
    await clock.advance(395_000 - 4_999 - 1)
    expect(received.map(({ at }) => at)).toEqual([0, 5_000, 35_000, 95_000])
    await clock.advance(1)
    expect(received.map(({ at }) => at)).toEqual([0, 5_000, 35_000, 95_000, 395_000])
    const delivery = only(service.deliveries)
    expect(delivery).toMatchObject({ state: 'undelivered', attempts: { length: 5 } })
    expect(delivery).not.toHaveProperty('nextAttemptAt')
    expect(delivery.attempts[4]).toEqual({ at: 395_000, ok: false, status: 503, answer: 'down' })
    expect(new Set(received.map(({ body, signature }) => `${body}${signature}`)).size, 'each the very same').toBe(1)
    await clock.advance(3_600_000)
    expect(received).toHaveLength(5)
    expect(clock.pending).toBe(0)
  })

  test.each([
    ['a network error', () => Promise.reject(new TypeError('fetch failed', { cause: new Error('refused') }))],
    ['500', () => new Response(null, { status: 500 })],
    ['401', () => new Response(null, { status: 401 })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: HOOK } })],
    [
      'a throw',
      () => {
        throw 'not even an error'
      },
    ],
  ])('%s is tried again, and the next success ends it', async (_, failure: () => Response | Promise<Response>) => {
    const { service, clock, received } = start((_, index) => (index === 0 ? failure() : new Response('fine')))
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await clock.advance(395_000)
    expect(received.map(({ at }) => at)).toEqual([0, 5_000])
    expect(only(service.deliveries)).toMatchObject({
      state: 'delivered',
      attempts: [{ ok: false }, { ok: true, status: 200, answer: 'fine' }],
    })
  })

  test.each([200, 201, 204, 299])('%i is delivered', async (status) => {
    const { service } = start(() => new Response(null, { status }))
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await service.settle()
    expect(only(service.deliveries)).toMatchObject({ state: 'delivered', attempts: [{ ok: true, status }] })
  })

  test('the error of an attempt says what it was', async () => {
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const { service } = start(() => Promise.reject(new TypeError('fetch failed', { cause })))
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await service.settle()
    expect(only(service.deliveries).attempts).toEqual([{ at: 0, ok: false, error: 'fetch failed: ECONNREFUSED' }])
  })

  test('an endpoint that never answers is given up after the timeout, and the retry counts from there', async () => {
    const { service, clock, received } = start(
      (_, index) => (index === 0 ? new Promise<Response>(() => {}) : new Response('late')),
      {},
      0,
    )
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await clock.advance(9_999)
    expect(only(service.deliveries)).toMatchObject({ state: 'pending', attempts: [] })
    await clock.advance(1)
    await service.settle()
    expect(only(service.deliveries).attempts).toEqual([
      { at: 0, ok: false, error: 'no complete answer within 10000 ms' },
    ])
    await clock.advance(5_000)
    await service.settle()
    expect(received.map(({ at }) => at)).toEqual([0, 15_000])
    expect(only(service.deliveries).state).toBe('delivered')
  })

  test('a body that stalls takes nothing back from the status; only its beginning is kept', async () => {
    const stalled = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('begun')),
    })
    const long = 'x'.repeat(5_000)
    const { service, clock } = start((_, index) => new Response(index === 0 ? stalled : long), {}, 0)
    service.registerWebhook({ url: [`${HOOK}/1`, `${HOOK}/2`] })
    service.emit(emitFollow)
    await clock.advance(10_000)
    await service.settle()
    expect(service.deliveries).toMatchObject([
      { state: 'delivered', attempts: [{ answer: 'begun' }] },
      { state: 'delivered', attempts: [{ answer: 'x'.repeat(1024) }] },
    ])
  })

  test('one endpoint’s failure does not hold up another', async () => {
    const { service, clock, received } = start(
      ({ url }) => new Response(null, { status: url.endsWith('1') ? 503 : 200 }),
    )
    service.registerWebhook({ url: [`${HOOK}/1`, `${HOOK}/2`] })
    service.emit(emitFollow)
    await clock.advance(395_000)
    expect(received.filter(({ url }) => url.endsWith('1'))).toHaveLength(5)
    expect(received.filter(({ url }) => url.endsWith('2'))).toHaveLength(1)
    expect(service.deliveries.map(({ state }) => state)).toEqual(['undelivered', 'delivered'])
  })

  test('no more than 64 are under way at once, and all arrive', async () => {
    let underWay = 0
    let most = 0
    const { service } = start(async () => {
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setTimeout(resolve, 1))
      underWay--
      return new Response()
    })
    service.registerWebhook({ url: HOOK })
    for (let index = 0; index < 300; index++) service.emit(emitFollow)
    await service.settle()
    expect(most).toBe(64)
    expect(service.deliveries.filter(({ state }) => state === 'delivered')).toHaveLength(300)
  })

  test('a retry that waits does not keep the process alive', async () => {
    let released = 0
    const timers: number[] = []
    const clock = {
      now: () => 0,
      setTimeout(_: () => void, delayMs: number) {
        timers.push(delayMs)
        return { unref: () => released++ }
      },
      clearTimeout: () => {},
    }
    const { service } = start(() => new Response(null, { status: 503 }), { clock })
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await service.settle()
    expect(timers, 'the timeout of the attempt, which holds it, and the retry').toEqual([10_000, 5_000])
    expect(released).toBe(1)
  })

  test('reset gives up what is under way and what waits', async () => {
    const { service, clock, received } = start((_, index) =>
      index === 0 ? new Response(null, { status: 503 }) : new Promise<Response>(() => {}),
    )
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await service.settle()
    service.emit(emitFollow)
    service.reset()
    await service.settle()
    expect(service.deliveries).toEqual([])
    await clock.advance(600_000)
    expect(received).toHaveLength(2)
    expect(clock.pending).toBe(0)
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    expect(service.deliveries, 'it goes on afterwards').toHaveLength(1)
  })

  test('of what has ended, 10 000 are remembered, also behind a delivery that goes on', async () => {
    const { service } = start((_request, index) => new Response(null, { status: index === 0 ? 503 : 200 }))
    service.registerWebhook({ url: HOOK })
    const pending = service.emit(emitFollow)
    await service.settle()
    const first = service.emit(emitFollow)
    await service.settle()
    for (let index = 0; index < 10_000; index++) service.emit(emitFollow)
    await service.settle()
    expect(service.deliveries).toHaveLength(10_001)
    expect(service.deliveries[0]).toMatchObject({ id: pending.id, state: 'pending' })
    expect(service.deliveries.some(({ id }) => id === first.id)).toBe(false)
  }, 60_000)

  test.each([{ deliveryTimeoutMs: 0 }, { deliveryTimeoutMs: Infinity }, { deliver: 'https://x' }])(
    '%j is refused',
    (options) => {
      expect(() => createCampaignService(options as never)).toThrow(/^deliver/)
    },
  )
})

describe('the panel’s Test button', () => {
  test('sends a simulated user_activity with the fields of the test payload, signed, once', async () => {
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
        event: { data: { account: 'ada', action: { id: 'connect-wallet', meta: { icon: 'wallet' } } } },
      },
    })
    expect(service.deliveries).toEqual([])
  })

  test('shows what the endpoint said, and an error text where there was no answer; no retry', async () => {
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

  test('the webhook, its endpoint and the campaign can be chosen', async () => {
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
  })

  test.each([
    [{ account: 'nobody', platform: 'discord' }, 'there is no user "nobody" on "discord" in "demo"'],
    [{ account: 'ada', platform: 'discord', pid: 'x' }, 'pid: there is no campaign "x"'],
    [{ account: 'ada', platform: 'discord', hook_id: 'x' }, 'there is no webhook "x"'],
    [{ account: 'ada', platform: 'discord', url: 'https://x.example' }, '"a" has no such url'],
  ])('refuses %j', async (options, message) => {
    const { service } = start()
    service.registerWebhook({ url: HOOK, hook_id: 'a' })
    await expect(service.testWebhook(options)).rejects.toThrow(new TypeError(`testWebhook: ${message}`))
  })
})

test('the Test button needs a webhook', async () => {
  const { service } = start()
  const user = { account: 'ada', platform: 'discord' }
  await expect(service.testWebhook(user)).rejects.toThrow('testWebhook: no webhook is registered')
})

describe('with the receiver', () => {
  test('each message is handled once, also when the first attempts fail', async () => {
    const handled: string[] = []
    let failures = 2
    const receiver = createWebhookReceiver({
      endpoint: 'test',
      secret: SECRET,
      onError: () => {},
      handle(event) {
        if (failures-- > 0) throw new Error('not now')
        handled.push(event.kind)
      },
    })
    const { service, clock } = start((request) => receiver.fetch(request))
    service.registerWebhook({ url: HOOK, secret: SECRET })
    service.emit(emitFollow)
    await clock.advance(395_000)
    expect(handled).toEqual(['action_completed'])
    expect(only(service.deliveries).attempts.map(({ status }) => status)).toEqual([500, 500, 200])
    await receiver.close()
  })

  test('over a real connection, by default: node:http, then nobody there', async () => {
    const receiver = createWebhookReceiver({ endpoint: 'test', secret: SECRET, handle: () => {} })
    const server = createServer(receiver.node)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
    const clock = createManualClock()
    const service = createCampaignService({ clock })
    service.registerWebhook({ url, secret: SECRET })
    service.emit(emitFollow)
    await service.settle()
    expect(only(service.deliveries)).toMatchObject({ state: 'delivered', attempts: [{ status: 200 }] })

    await receiver.close()
    await new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
    service.emit(emitFollow)
    await clock.advance(395_000)
    const late = service.deliveries[1]
    expect(late).toMatchObject({ state: 'undelivered', attempts: { length: 5 } })
    expect(late?.attempts.map(({ error }) => error)).toEqual(Array(5).fill('fetch failed: ECONNREFUSED'))
    const start = late?.attempts[0]?.at ?? 0
    expect(late?.attempts.map(({ at }) => at - start)).toEqual([0, 5_000, 35_000, 95_000, 395_000])
  })
})
