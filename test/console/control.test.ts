import { verifyWebhook } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { read } from '../../scripts/repository.ts'
import { CONTROL_REQUESTS } from '../../src/console/action-requests.ts'
import { LINUS, openConsole, receiver } from './open-console.ts'

async function openControl(options?: Parameters<typeof openConsole>[0]) {
  const opened = await openConsole(options)
  const get = async (path: string) => {
    const response = await fetch(`${opened.base}/control/${path}`)
    return { status: response.status, body: (await response.json()) as never }
  }
  const post = async (name: string, body: unknown = {}) => {
    const response = await fetch(`${opened.base}/control/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as never }
  }
  return { ...opened, get, post }
}

const ok = (body: unknown) => ({ status: 200, body })

describe('POST /control/', () => {
  test('addFault returns the key with which cancelFault switches the fault off', async () => {
    const { post, service, client } = await openControl()
    const { status, body } = await post('addFault', { on: 'getCampaignInfo', kind: 'status', status: 503, times: null })
    expect({ status, body }).toEqual(ok({ key: service.faults[0]?.id }))
    await expect(client.getCampaignInfo({ pid: 'demo' })).rejects.toMatchObject({ status: 503 })
    expect(await post('cancelFault', body)).toEqual(ok({}))
    await expect(client.getCampaignInfo({ pid: 'demo' })).resolves.toMatchObject({ id: 'demo' })
    expect(await post('cancelFault', body)).toMatchObject({ status: 400, body: { field: 'key' } })
  })

  test('addFault needs only a kind, and takes the options of service.fail', async () => {
    const { post, service, client } = await openControl()
    await post('addFault', {
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '31' },
      body: 'wait',
      applied: true,
    })
    expect(service.faults).toMatchObject([{ remaining: 1 }])
    const error = await client.getCampaignInfo({ pid: 'demo' }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ status: 429, retryAfterMs: 31_000 })
  })

  test('emit returns the ID of the message and of each delivery, and redeliver takes such an ID', async () => {
    const { messages, url } = await receiver()
    const { post, get, service } = await openControl()
    await post('saveWebhook', { urls: [url, `${url}/2`] })
    const { status, body } = await post('emit', { kind: 'action_completed', account: 'ada', aid: 'follow' })
    await service.settle()
    const { id } = JSON.parse(messages[0]?.body ?? '{}')
    const deliveries = service.deliveries.map(({ deliveryId }) => deliveryId)
    expect({ status, body }).toEqual(ok({ messageId: id, deliveries }))
    expect(deliveries).toHaveLength(2)
    const again = await post('redeliver', { key: deliveries[1] })
    await service.settle()
    expect(again).toEqual(ok({ key: service.deliveries[2]?.deliveryId }))
    expect((await get(`deliveries?after=${deliveries[1]}`)).body).toMatchObject([{ redeliveryOf: deliveries[1], id }])
    expect(messages).toHaveLength(3)
  })

  test('emit takes xp, the ID of a quest, and a payload of your own', async () => {
    const { messages, url } = await receiver()
    const { post, service } = await openControl()
    await post('saveWebhook', { urls: [url] })
    await post('emit', { kind: 'action_completed', account: 'ada', aid: 'follow', xp: 7 })
    await post('emit', { kind: 'quest_completed', account: 'ada', cid: 'welcome' })
    await post('emit', { kind: 'custom', payload: { id: 'own', scope: 'user_activity', note: 1 } })
    await service.settle()
    const bodies = messages.map(({ body }) => JSON.parse(body))
    expect(bodies).toHaveLength(3)
    expect(bodies).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: expect.objectContaining({ data: expect.objectContaining({ xp: 7 }) }) }),
        expect.objectContaining({ event: expect.objectContaining({ type: 'quest_completed' }) }),
        { id: 'own', scope: 'user_activity', note: 1 },
      ]),
    )
  })

  test('completeTask says whether the task was completed now, and which messages followed', async () => {
    const { url } = await receiver()
    const { post, service } = await openControl()
    await post('saveWebhook', { urls: [url, `${url}/2`] })
    const first = await post('completeTask', { account: 'linus', aid: 'connect-wallet' })
    const [id] = new Set(service.deliveries.map((delivery) => delivery.id))
    expect(first).toEqual(ok({ completed: true, messages: [id] }))
    expect(await post('completeTask', { account: 'linus', aid: 'connect-wallet' })).toEqual(
      ok({ completed: false, messages: [] }),
    )
  })

  test('pid and platform are required only for an account with several entries', async () => {
    const users = [
      { account: 'ada', platform: 'discord' },
      { account: 'ada', platform: 'telegram' },
      { account: 'linus', platform: 'discord' },
    ]
    const actions = [{ id: 'follow' }]
    const campaigns = [
      { id: 'one', actions, users },
      { id: 'two', actions, users: [{ account: 'linus', platform: 'discord' }] },
    ]
    const { post, service } = await openControl({ campaigns } as never)
    service.registerWebhook({ hook_id: 'h', url: 'http://127.0.0.1:1/' })
    const calls: [string, object][] = [
      ['completeTask', { aid: 'follow' }],
      ['emit', { kind: 'action_completed', aid: 'follow' }],
      ['testWebhook', {}],
    ]
    for (const [name, fields] of calls) {
      expect(await post(name, { ...fields, account: 'ada' })).toEqual({
        status: 400,
        body: {
          error: '"ada" has several entries: set "platform" to one of "discord", "telegram".',
          field: 'platform',
        },
      })
      expect(await post(name, { ...fields, account: 'linus' })).toEqual({
        status: 400,
        body: { error: '"linus" has several entries: set "pid" to one of "one", "two".', field: 'pid' },
      })
      expect(await post(name, { ...fields, account: 'ada', platform: 'telegram' })).toMatchObject({ status: 200 })
      expect(await post(name, { ...fields, account: 'linus', pid: 'two' })).toMatchObject({ status: 200 })
    }
  })

  test('a webhook is added, changed, tested and removed', async () => {
    const { messages, url } = await receiver()
    const { post, service } = await openControl({ secret: 'of the environment' })
    expect(await post('saveWebhook', { urls: [url], hook_id: 'mine', campaigns: ['demo'] })).toMatchObject(
      ok({ hook_id: 'mine', scope: 'user_activity', urls: [url], signed: true }),
    )
    // Fields that are absent stay as they are.
    await post('saveWebhook', { hook_id: 'mine', urls: [url], secret: 'another secret' })
    expect(service.webhooks).toMatchObject([{ campaigns: ['demo'] }])
    expect(await post('testWebhook', { account: 'ada' })).toMatchObject(ok({ Success: true, Status: 200 }))
    expect(verifyWebhook('another secret', messages[0]?.body ?? '', messages[0]?.signature)).toBe(true)
    expect(await post('removeWebhook', { hook_id: 'mine' })).toEqual(ok({}))
    expect(service.webhooks).toEqual([])
  })

  test('completeTask, advance, advanceToNextRetry and resetClock drive a delivery through its retries', async () => {
    const { messages, url } = await receiver(503)
    const { post, service, clock } = await openControl()
    await post('saveWebhook', { urls: [url] })
    expect(await post('completeTask', { ...LINUS, aid: 'connect-wallet' })).toEqual(
      ok({ completed: true, messages: [service.deliveries[0]?.id] }),
    )
    await service.settle()
    for (let retries = 1; retries <= 4; retries++) {
      expect(await post('advanceToNextRetry')).toEqual(ok({}))
      await service.settle()
      expect(messages).toHaveLength(retries + 1)
    }
    expect(await post('advanceToNextRetry')).toEqual({ status: 400, body: { error: 'No retry is scheduled.' } })
    expect(service.deliveries).toMatchObject([{ state: 'undelivered' }])
    expect(await post('advance', { ms: 60_000 })).toEqual(ok({}))
    expect(clock.now()).toBeGreaterThan(Date.now() + 400_000)
    expect(await post('resetClock')).toEqual(ok({}))
    expect(clock.now()).toBeLessThan(Date.now() + 1000)
  })

  test('loadSeed takes what GET /control/state returned, and reset returns to the start', async () => {
    const { post, get, client, clock } = await openControl()
    await client.rewardWallet({ address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'kept', xp: 5 })
    const { status, body } = await get('state')
    expect([status, body]).toMatchObject([200, { awards: [{ id: 'kept' }] }])
    expect(await post('reset')).toEqual(ok({}))
    expect((await get('state')).body).toMatchObject({ awards: [] })
    await post('advance', { ms: 60_000 })
    const seed = { $schema: 'local-service.seed.schema.json', ...(body as object) }
    expect(await post('loadSeed', { seed })).toEqual(ok({ unsigned: [] }))
    expect((await get('state')).body).toEqual(body)
    expect(clock.now()).toBeLessThan(Date.now() + 1000)
  })
})

describe('GET /control/', () => {
  test('requests returns the records of the service, after the given number', async () => {
    const { get, client, service } = await openControl()
    await client.getCampaignInfo({ pid: 'demo' })
    await client.getUserProgress(LINUS)
    const all = JSON.parse(JSON.stringify(service.requests))
    expect(await get('requests')).toEqual(ok(all))
    expect(await get('requests?after=1')).toEqual(ok([all[1]]))
    expect(await get('requests?after=2')).toEqual(ok([]))
    expect(await get('requests?after=x')).toMatchObject({ status: 400, body: { field: 'after' } })
    expect(await get('deliveries?after=x')).toMatchObject({ status: 400, body: { field: 'after' } })
  })

  test('requests returns a body that is nested too deeply as text', async () => {
    const { get, url, changes } = await openControl()
    const body = `{"deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const headers = { authorization: 'Bearer any', 'content-type': 'application/json' }
    await fetch(`${url}/user`, { method: 'POST', headers, body })
    expect(await get('requests')).toMatchObject(ok([{ status: 400, body }]))
    expect((await changes()).requests.rows).toMatchObject([{ operation: 'updateUser', status: 400 }])
  })

  test('faults returns those that are not used up, as pendingFaults does', async () => {
    const { get, post, client } = await openControl()
    const [, first, second] = [
      await post('addFault', { on: 'getCampaignInfo', kind: 'garbage' }),
      await post('addFault', { on: 'getCampaignInfo', kind: 'status', status: 503, times: 3 }),
      await post('addFault', { on: 'delivery', kind: 'duplicate', times: null }),
    ].map(({ body }) => (body as { key: string }).key)
    await client.getCampaignInfo({ pid: 'demo' }).catch(() => undefined)
    await client.getCampaignInfo({ pid: 'demo' }).catch(() => undefined)
    const status = { on: 'getCampaignInfo', kind: 'status', status: 503, times: 3 }
    const faults = [
      { id: first, options: status, used: 1, remaining: 2 },
      { id: second, options: { on: 'delivery', kind: 'duplicate', times: null }, used: 0, remaining: null },
    ]
    expect(await get('faults')).toEqual(ok({ faults }))
  })

  test('state and deliveries hold no secret', async () => {
    const { url } = await receiver()
    const { post, get, service } = await openControl()
    await post('saveWebhook', { urls: [url], secret: 'hidden from programs' })
    await post('completeTask', { ...LINUS, aid: 'connect-wallet' })
    await service.settle()
    for (const path of ['state', 'requests', 'deliveries']) {
      expect(JSON.stringify(await get(path))).not.toContain('hidden from programs')
    }
  })
})

describe('a request under /control/ is refused', () => {
  const json = { 'content-type': 'application/json' }

  test.each([
    ['an unknown action', 'POST', 'nothing', json, '{}', 404, 'The actions are: addFault,'],
    ['an action of the page', 'POST', 'listUsers', json, '{}', 404, 'There is no action "listUsers".'],
    ['a name of Object.prototype', 'POST', 'toString', json, '{}', 404, 'There is no action "toString".'],
    ['a GET of an action', 'GET', 'reset', {}, undefined, 405, 'Use POST.'],
    ['a POST to a record', 'POST', 'state', json, '{}', 405, 'Use GET.'],
    ['another content type', 'POST', 'reset', { 'content-type': 'text/plain' }, '{}', 415, 'Send JSON, with'],
    ['a body that is not JSON', 'POST', 'reset', json, '{', 400, 'The body is not JSON.'],
    ['a body that is no object', 'POST', 'reset', json, '[]', 400, 'Send a JSON object.'],
    ['a missing field', 'POST', 'advance', json, '{}', 400, '"ms" is required.'],
    ['a field that only prototypes have', 'POST', 'advance', json, '{"__proto__":{"ms":1}}', 400, '"ms" is required.'],
    ['a missing seed', 'POST', 'loadSeed', json, '{}', 400, '"seed" is required.'],
    [
      'null for a text',
      'POST',
      'emit',
      json,
      '{"kind":"quest_completed","account":null}',
      400,
      '"account" must be a string.',
    ],
    ['a text for a number', 'POST', 'advance', json, '{"ms":"7"}', 400, '"ms" must be a number.'],
    ['a text for a list', 'POST', 'saveWebhook', json, '{"urls":"x"}', 400, '"urls" must be a list.'],
    ['a wrong entry of a list', 'POST', 'saveWebhook', json, '{"urls":[7]}', 400, '"urls.0" must be a string.'],
    ['a wrong header', 'POST', 'addFault', json, '{"kind":"status","headers":[]}', 400, '"headers" must be an object.'],
    [
      'a wrong flag',
      'POST',
      'addFault',
      json,
      '{"kind":"status","applied":1}',
      400,
      '"applied" must be true or false.',
    ],
    [
      'a wrong option',
      'POST',
      'addFault',
      json,
      '{"kind":"reset","status":1}',
      400,
      'status must be a whole number, 200 or more',
    ],
    ['a foreign option', 'POST', 'addFault', json, '{"kind":"reset","field":"x"}', 400, 'field is not an option'],
    ['a misspelt field', 'POST', 'advance', json, '{"ms":1,"sec":1}', 400, '"sec" is not a field. The fields are: ms.'],
    [
      'a user beside a payload of your own',
      'POST',
      'emit',
      json,
      '{"kind":"custom","account":"ada","payload":{}}',
      400,
      'account',
    ],
    ['a wrong kind', 'POST', 'emit', json, '{"kind":"x","account":"a","aid":"i"}', 400, '"kind" must be one of'],
    ['an unknown kind of fault', 'POST', 'addFault', json, '{"kind":"x"}', 400, '"kind" must be one of: status, reset'],
    ['a cross-site request', 'POST', 'reset', { ...json, origin: 'https://evil.example' }, '{}', 403, 'other origins'],
  ])('%s', async (_, method, name, headers, body, status, error) => {
    const { base, service } = await openConsole()
    service.fail({ kind: 'reset' })
    const response = await fetch(`${base}/control/${name}`, { method, headers, body: body ?? null })
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const refusal = (await response.json()) as { error: string }
    expect([response.status, refusal.error]).toEqual([status, expect.stringContaining(error)])
    // The names of internal functions say nothing to a program.
    expect(refusal.error).not.toContain(' of kind ')
    if (status === 405) expect(response.headers.get('allow')).toBe(error.slice(4, -1))
    expect(service.faults).toHaveLength(1)
  })

  test('a body of more than 64 MB', async () => {
    const { post } = await openControl()
    const { status, body } = await post('loadSeed', { seed: 'x'.repeat(64_000_000) })
    expect([status, body]).toEqual([413, { error: 'Send JSON of at most 64 MB.' }])
  })
})

test('the OpenAPI document describes every action and record, with the fields that the action takes', () => {
  const { paths } = JSON.parse(read('docs/local-service.openapi.json'))
  const names = [...Object.keys(CONTROL_REQUESTS), 'state', 'faults', 'requests', 'deliveries']
  expect(Object.keys(paths).sort()).toEqual(names.map((name) => `/control/${name}`).sort())
  for (const [name, { shape }] of Object.entries(CONTROL_REQUESTS)) {
    const { post } = paths[`/control/${name}`]
    const { properties, additionalProperties } = post.requestBody.content['application/json'].schema
    expect([Object.keys(properties), additionalProperties]).toEqual([Object.keys(shape), false])
    for (const field of Object.values<{ description?: string; $ref?: string }>(properties)) {
      expect(field.description ?? field.$ref).toMatch(/./)
    }
  }
})

test('the JSON Schema of a seed accepts a saved seed, and refuses a misspelt field and a wrong type', async () => {
  const { service } = await openConsole()
  service.registerWebhook({ url: 'http://127.0.0.1:1/' })
  const schema = z.fromJSONSchema(JSON.parse(read('docs/local-service.seed.schema.json')))
  const accepts = (seed: unknown): boolean => schema.safeParse(seed).success
  expect(schema.safeParse(service.exportSeed()).error).toBeUndefined()
  const campaignOf = (meta: unknown) => ({ campaigns: [{ id: 'c', actions: [{ id: 'a', meta }] }] })
  const wrong = [{ campaign: [] }, { campaigns: [{}] }, { webhooks: [{ url: 7 }] }, campaignOf('text')]
  expect([{}, campaignOf({ any: ['value'] }), ...wrong].map(accepts)).toEqual([true, true, ...wrong.map(() => false)])
})
