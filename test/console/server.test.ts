import { execFile } from 'node:child_process'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { verifyWebhook } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import type { DeliveryRow } from '../../src/console/protocol.ts'
import { endpoint, LINUS, openConsole, receiver, WALLET } from './open-console.ts'

/** Sends a request with headers that `fetch` does not allow. Returns the status of the response. */
const statusOf = (url: string, headers: Readonly<Record<string, string>>, method = 'GET') =>
  new Promise<number | undefined>((resolve, reject) => {
    request(url, { method, headers }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end(method === 'POST' ? '{}' : '')
  })

test('the guard protects the page, its actions, the control API and the service', async () => {
  const { base, service } = await openConsole()
  const { origin } = new URL(base)
  const targets = [
    ['GET', 'users'],
    ['GET', 'console/changes'],
    ['GET', 'console/seed.json'],
    ['POST', 'console/do/reset'],
    ['POST', 'control/reset'],
    ['GET', 'api/v1/campaign/info?pid=demo'],
  ] as const
  const own = [{}, { host: 'CAMPAIGN.test:8080' }, { origin }]
  const foreign = [{ host: 'evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]
  for (const [method, path] of targets) {
    const ask = (headers: Readonly<Record<string, string>>) =>
      statusOf(
        `${base}/${path}`,
        { authorization: 'Bearer any', 'content-type': 'application/json', ...headers },
        method,
      )
    for (const headers of own) expect([path, headers, await ask(headers)]).toEqual([path, headers, 200])
    const handled = service.requests.length
    for (const headers of foreign) expect([path, headers, await ask(headers)]).toEqual([path, headers, 403])
    expect(service.requests).toHaveLength(handled)
  }
})

test('refuses a request with two host names', async () => {
  const { base } = await openConsole()
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.end('GET / HTTP/1.0\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 40[03] /)
})

test('serves no files from the disk', async () => {
  const { base } = await openConsole()
  for (const path of [
    'package.json',
    'console/../package.json',
    'console/%2e%2e/package.json',
    '../../etc/passwd',
    'console/',
  ]) {
    expect([path, await statusOf(`${base}/${path}`, {})]).toEqual([path, 404])
  }
})

test('serves the page with headers that stop a browser from loading other resources', async () => {
  const { base } = await openConsole()
  for (const path of ['/', '/start', '/users/demo/discord/ada', '/requests/1', '/webhooks', '/faults', '/clock']) {
    const response = await fetch(base + path)
    expect([path, response.status, response.headers.get('content-type')]).toEqual([
      path,
      200,
      'text/html; charset=utf-8',
    ])
    expect(await response.text()).toContain('src="/console/page.js"')
    const policy = response.headers.get('content-security-policy')
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(rule)
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('no-store')
  }
  for (const [path, type, text] of [
    ['/console/page.js', 'text/javascript', 'the content of page.js'],
    ['/console/page.css', 'text/css', 'the content of style.css'],
    ['/console/icon.svg', 'image/svg+xml', '<svg'],
  ] as const) {
    const response = await fetch(base + path)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`])
    expect(await response.text()).toContain(text)
  }
  const unknown = await fetch(`${base}/nowhere`)
  expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('page.js')])
})

test('a changed endpoint keeps its secret, its organization and its position', async () => {
  const { messages, url } = await receiver()
  const { act, service } = await openConsole({ secret: 'of the environment' })
  await act('saveWebhook', endpoint(url, { hook_id: ' first ', secret: 'the first one' }))
  service.registerWebhook({ hook_id: 'second', url, secret: 'the second one', organization: 'demo' })
  await act('saveWebhook', endpoint(url, { hook_id: 'second', campaigns: ['demo'] }))
  await act('testWebhook', { account: 'ada', hook_id: 'second' })
  const [message] = messages as [{ body: string; signature: string }]
  expect(verifyWebhook('the second one', message.body, message.signature)).toBe(true)
  expect(service.exportSeed().webhooks?.[1]).toMatchObject({ organization: 'demo', campaigns: ['demo'] })
  await act('saveWebhook', endpoint(url, { hook_id: 'second', secret: '' }))
  expect(service.webhooks.map(({ signed }) => signed)).toEqual([true, false])
})

test('reset removes requests and deliveries, and resets the clock', async () => {
  const { url } = await receiver()
  const { act, client, changes } = await openConsole()
  await act('saveWebhook', endpoint(url))
  await act('completeTask', { ...LINUS, aid: 'connect-wallet' })
  await client.getCampaignInfo({ pid: 'demo' })
  await act('advance', { ms: 3_600_000 })
  const { revision, aheadMs, ...before } = await changes()
  expect(aheadMs).toBe(3_600_000)
  expect([before.requests.kept, before.deliveries.kept]).toEqual([2, 1])
  await act('reset', {})
  const after = await changes(revision)
  expect(after).toMatchObject({ isFull: true, state: { webhooks: [], faults: [] }, aheadMs: 0 })
  expect([after.requests.rows, after.deliveries.rows]).toEqual([[], []])
})

test('an endpoint that must not be reached is refused', async () => {
  const { responseOf, service } = await openConsole({ reachable: /127\.0\.0\.1/ })
  expect(await responseOf('saveWebhook', endpoint('https://shop.example/'))).toEqual({
    error: 'https://shop.example/ is not this machine',
    field: 'urls',
  })
  expect(service.webhooks).toEqual([])
})

test('an endpoint of a loaded seed without a secret is unsigned until the secret is entered', async () => {
  const { act, base, changes } = await openConsole()
  const mine = endpoint('http://127.0.0.1:1/', { hook_id: 'mine', secret: 'known here' })
  await act('saveWebhook', mine)
  const seed: unknown = await (await fetch(`${base}/console/seed.json`)).json()
  expect(JSON.stringify(seed)).not.toContain('known here')
  expect(await act('loadSeed', { seed })).toEqual({ unsigned: [] })
  await act('removeWebhook', { hook_id: 'mine' })
  expect(await act('loadSeed', { seed })).toEqual({ unsigned: ['mine'] })
  expect((await changes()).state?.webhooks).toMatchObject([{ hook_id: 'mine', signed: false, secretMissing: true }])
  await act('saveWebhook', mine)
  expect((await changes()).state?.webhooks).toMatchObject([{ signed: true }])
})

test('the curl command of a request sends the same body and token when pasted into sh', async () => {
  const { act, service, url } = await openConsole()
  const body = '{\n\t"account": "ada",\n"platform": "discord",\n"pid": "demo", "name": "it\'s 50 %" }\n'
  const headers = { authorization: 'Bearer x', 'content-type': 'application/json' }
  await fetch(`${url}/user`, { method: 'POST', headers, body })
  const { curl = '' } = await act('readRequest', { key: '1' })
  await promisify(execFile)('sh', ['-c', curl], { env: { PATH: process.env.PATH }, timeout: 120_000 })
  const sent = { method: 'POST', bodyText: body, status: 200, authorized: true }
  expect(service.requests).toMatchObject([sent, sent])
})

test.each(['GET', 'DELETE'])(
  'the curl command of a %s without a body sends only the headers of the caller',
  async (method) => {
    const { act, service, url } = await openConsole()
    await fetch(`${url}/user?note=1`, { method, headers: { 'x-note': 'kept', 'x-odd': 'a\u0085b' } })
    const { curl = '' } = await act('readRequest', { key: '1' })
    expect([...curl.matchAll(/(accept|x-[\w-]+):/g)].map(([, name]) => name)).toEqual(['accept', 'x-note', 'x-odd'])
    expect(curl.includes('-X')).toBe(method !== 'GET')
    await promisify(execFile)('sh', ['-c', curl], { env: { PATH: process.env.PATH }, timeout: 120_000 })
    expect(service.requests[1]).toMatchObject({ method, url: service.requests[0]?.url, bodySize: 0 })
  },
)

test('a request whose body was cut is marked, and has no curl command', async () => {
  const { act, client } = await openConsole()
  await client.updateUser({ ...LINUS, name: 'n'.repeat(1_000_000) })
  const { body, curl, text } = await act('readRequest', { key: '1' })
  expect({ curl, isCut: body?.isCut }).toEqual({ curl: undefined, isCut: true })
  expect(text).toContain('linus')
  expect(body?.bytes).toBeGreaterThan(1_000_000)
  expect(body?.text.length).toBeLessThanOrEqual(256_000)
})

test('GET /console/changes returns the changes since the given revision', async () => {
  const { client, changes } = await openConsole()
  const first = await changes()
  expect(first).toMatchObject({ isFull: true, state: { hasSecret: false, campaigns: [{ pid: 'demo' }] } })
  const none = { rows: [], kept: 0, discarded: 0, cleared: 0 }
  expect(await changes(first.revision)).toEqual({
    ...{ revision: first.revision, isFull: false, requests: none, deliveries: none, aheadMs: 0 },
  })
  await client.getUserProgress(LINUS)
  const latest = async () => (await changes(first.revision)).requests.rows[0]
  await expect.poll(async () => (await latest())?.durationMs).toBeGreaterThanOrEqual(0)
  const row = await latest()
  expect(row).toMatchObject({ key: '1', operation: 'getUserProgress', subject: 'linus', pid: 'demo', status: 200 })
  expect(row?.text).toContain('linus discord demo')
  expect(await changes('revision-of-another-process')).toMatchObject({ isFull: true })
})

test('a task completed and a test message sent in the console appear in the lists', async () => {
  const { url } = await receiver()
  const { act, changes } = await openConsole()
  await act('saveWebhook', endpoint(url, { hook_id: 'mine' }))
  await act('completeTask', { ...LINUS, aid: 'connect-wallet' })
  const result = await act('testWebhook', { account: 'ada', hook_id: 'mine' })
  const changed = await changes()
  const [requests, deliveries] = [changed.requests.rows, changed.deliveries.rows]
  expect(requests).toMatchObject([{ isFromConsole: true, operation: 'Task completed', subject: 'linus', pid: 'demo' }])
  expect(requests?.[0]?.text).toContain('connect-wallet')
  expect(deliveries).toMatchObject([
    { isFromConsole: true, user: 'linus' },
    { isFromConsole: true, isTest: true, user: 'ada', url, state: 'delivered', lastStatus: 200 },
  ])
  const [, { key }] = deliveries as [DeliveryRow, DeliveryRow]
  expect((await act('readDelivery', { key })).body).toBe(result.Payload)
})

test('a message redelivered by the console is marked as from the console, a message of a client is not', async () => {
  const { url } = await receiver()
  const { act, client, changes } = await openConsole()
  await act('saveWebhook', endpoint(url))
  await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
  const [first] = (await changes()).deliveries.rows as [DeliveryRow]
  expect(first.isFromConsole).toBeUndefined()
  const { key } = await act('redeliver', { key: first.key })
  const again = (await changes()).deliveries.rows.find((row) => row.key === key)
  expect(again).toMatchObject({ isFromConsole: true, redeliveryOf: first.key, id: first.id })
})

test('users with the same XP share a rank', async () => {
  const { act } = await openConsole()
  const { users } = await act('listUsers', { pid: 'demo', find: '', limit: 10 })
  expect(users.map(({ account, rank, isTied }) => [account, rank, isTied])).toEqual([
    ['ada', 1, false],
    ['grace', 2, false],
    ['linus', 3, false],
  ])
  await act('completeTask', { ...LINUS, aid: 'connect-wallet' })
  const later = await act('listUsers', { pid: 'demo', find: '', limit: 10 })
  expect(later.users.map(({ rank, isTied }) => [rank, isTied])).toEqual([
    [1, false],
    [2, true],
    [2, true],
  ])
})

test.each([
  ['saveWebhook', endpoint('javascript:alert(1)'), 'urls', 'is not a URL that begins with http://'],
  ['saveWebhook', { ...endpoint(''), urls: [] }, 'urls', 'Enter the URL of your webhook.'],
  ['saveWebhook', endpoint('http://127.0.0.1:1/', { scope: ' ' }), 'scope', 'Enter the scope'],
  ['saveWebhook', endpoint('http://127.0.0.1:1/', { campaigns: ['nowhere'] }), 'campaigns', 'no campaign "nowhere"'],
  ['saveWebhook', endpoint('http://127.0.0.1:99999/'), 'urls', 'is not a valid URL: check its host and its port.'],
  ['saveWebhook', endpoint('http://user:secret@127.0.0.1/'), 'urls', 'must not contain a user name or a password'],
  ['testWebhook', { account: 'nobody', hook_id: 'taken' }, 'account', 'There is no user "nobody".'],
  ['testWebhook', { account: ' ', hook_id: 'taken' }, 'account', 'Enter a user ID.'],
  ['testWebhook', { account: 'ada', hook_id: 'gone' }, 'hook_id', 'There is no webhook "gone".'],
  ['emit', { kind: 'action_completed', account: 'ada', aid: '' }, 'aid', 'Enter the ID of a task.'],
  ['emit', { kind: 'quest_completed', account: 'ada', cid: '' }, 'cid', 'Enter the ID of a quest.'],
  ['emit', { kind: 'action_completed', aid: 'follow' }, 'account', '"account" is required.'],
  ['emit', { kind: 'action_completed', pid: 'demo', account: 'x', aid: 'follow' }, 'account', 'There is no user "x"'],
  [
    'addFault',
    { on: '*', kind: 'status', times: 0, status: 500 },
    'times',
    'times must be a whole number, 1 or more, got 0.',
  ],
  ['completeTask', { ...LINUS, aid: 'follow' }, undefined, 'the dependencies of "follow" are not completed'],
] as const)(
  '%s with %j returns an error with its field, without names of methods or parameters',
  async (name, argument, field, message) => {
    const { responseOf, service } = await openConsole()
    service.registerWebhook({ hook_id: 'taken', url: 'http://127.0.0.1:1/' })
    const response = await responseOf(name, argument as never)
    expect(response).toMatchObject({ error: expect.stringContaining(message), ...(field !== undefined && { field }) })
    expect(response).not.toMatchObject({
      error: expect.stringMatching(/\b(?:aid|pid|hook_id|completeTask|registerWebhook)\b/),
    })
  },
)

test('a delivery names the request that caused it; a redelivery has no cause', async () => {
  const { url } = await receiver()
  const { act, client, changes } = await openConsole()
  await act('saveWebhook', endpoint(url))
  await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
  await act('completeTask', { ...LINUS, aid: 'connect-wallet' })
  const [first] = (await changes()).deliveries.rows as [DeliveryRow]
  await act('redeliver', { key: first.key })
  await client.getCampaignInfo({ pid: 'demo' })
  expect((await changes()).deliveries.rows.map(({ cause }) => cause)).toEqual(['1', 'console-1', undefined])
})

test('the same request soon after a failure is a further attempt of its call', async () => {
  const { clock, client, changes, service } = await openConsole()
  const call = () => client.getCampaignInfo({ pid: 'demo' }).catch(() => undefined)
  service.fail({ on: 'getCampaignInfo', kind: 'status', status: 503, times: 2 })
  service.fail({ on: 'getCampaignPoints', kind: 'reset' })
  await call()
  await client.getCampaignPoints({ pid: 'demo' }).catch(() => undefined)
  await call()
  await call()
  await call()
  await clock.advance(60_001)
  await client.getCampaignPoints({ pid: 'demo' })
  const { rows } = (await changes()).requests
  expect(rows.map(({ key, attempt, firstKey }) => [key, attempt, firstKey])).toEqual([
    ['1', undefined, undefined],
    ['2', undefined, undefined],
    ['3', 2, '1'],
    ['4', 3, '1'],
    // The call before succeeded, so this is another call.
    ['5', undefined, undefined],
    // The failure is more than a minute ago.
    ['6', undefined, undefined],
  ])
})

test('a refused award names the attempt that gave its XP, and both rows name the award', async () => {
  const { act, client, changes, service } = await openConsole()
  const award = { address: WALLET, pid: 'demo', id: 'a', xp: 5 }
  service.fail({ on: 'rewardWallet', kind: 'reset' })
  service.fail({ on: 'rewardWallet', kind: 'applied_then_reset', times: 2 })
  for (let attempt = 1; attempt <= 3; attempt++) await client.rewardWallet(award).catch(() => {})
  const { rows } = (await changes()).requests
  expect(rows.map(({ key, handled, reason, fault }) => [key, handled, reason !== undefined, fault])).toEqual([
    ['1', false, false, 'reset'],
    ['2', true, false, 'applied_then_reset'],
    ['3', true, true, 'applied_then_reset'],
  ])
  expect(rows[2]).toMatchObject({ item: 'a', xp: 5 })
  const [lost, applied, refused] = await Promise.all(rows.map(({ key }) => act('readRequest', { key })))
  expect([lost?.appliedBy, applied?.appliedBy, refused?.appliedBy]).toEqual([undefined, undefined, '2'])
})

test('a referral names both users, refused or not', async () => {
  const { client, changes } = await openConsole()
  const referral = { referrer: 'ada', referral: 'hedy', platform: 'discord', pid: 'demo' }
  await client.setReferrer(referral)
  await client.setReferrer(referral).catch(() => {})
  await client.setReferrerByRefId({ account: 'mary', platform: 'discord', pid: 'demo', ref_id: 'ref-ada' })
  const { rows } = (await changes()).requests
  expect(rows.map(({ user, referrer, ref_id }) => [user, referrer, ref_id])).toEqual([
    ['hedy', 'ada', undefined],
    ['hedy', 'ada', undefined],
    ['mary', undefined, 'ref-ada'],
  ])
})

test('the curl command of a delivery sends the same message with its signature', async () => {
  const { messages, url } = await receiver()
  const { act, changes, service } = await openConsole({ secret: 'of the environment' })
  await act('saveWebhook', endpoint(url))
  await act('completeTask', { ...LINUS, aid: 'connect-wallet' })
  await service.settle()
  const [row] = (await changes()).deliveries.rows as [DeliveryRow]
  const { curl = '' } = await act('readDelivery', { key: row.key })
  await promisify(execFile)('sh', ['-c', curl], { env: { PATH: process.env.PATH }, timeout: 120_000 })
  expect(messages).toHaveLength(2)
  expect(messages[1]).toEqual(messages[0])
})

test('rows are cleared by their keys; retries that wait, the other list and the state of the service stay', async () => {
  const up = await receiver()
  const down = await receiver(503)
  const { act, client, changes, service } = await openConsole()
  await act('saveWebhook', endpoint(up.url, { urls: [up.url, down.url] }))
  await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
  await service.settle()
  const { revision, deliveries } = await changes()
  const keys = deliveries.rows.map(({ key }) => key)
  expect(await act('clearRows', { list: 'deliveries', keys })).toEqual({ cleared: 1 })
  const after = await changes(revision)
  expect([after.isFull, after.requests.kept]).toEqual([true, 1])
  expect(after.deliveries).toMatchObject({ kept: 1, rows: [{ url: down.url, cause: '1' }] })
  expect(service.state.awards).toHaveLength(1)
  await act('clearRows', { list: 'requests', keys: ['1'] })
  expect((await changes()).requests.rows).toEqual([])
})

test('cleared rows come back at their places; rows that arrived meanwhile stay', async () => {
  const { act, client, changes, service } = await openConsole()
  const keysNow = async () => (await changes()).requests.rows.map(({ key }) => key)
  const call = () => client.getCampaignInfo({ pid: 'demo' })
  for (let number = 1; number <= 4; number++) await call()
  await act('clearRows', { list: 'requests', keys: ['1', '3', 'of another time'] })
  await call()
  expect(await keysNow()).toEqual(['2', '4', '5'])
  const { revision } = await changes()
  expect((await changes()).requests.cleared).toBe(2)
  await act('restoreRows', { list: 'requests' })
  expect(await keysNow()).toEqual(['1', '2', '3', '4', '5'])
  expect((await changes()).requests.cleared).toBe(0)
  expect((await changes(revision)).isFull).toBe(true)
  await expect(act('restoreRows', { list: 'requests' })).rejects.toThrow('The cleared rows are no longer stored.')
  await act('clearRows', { list: 'requests', keys: ['1'] })
  service.reset()
  await expect(act('restoreRows', { list: 'requests' })).rejects.toThrow('The cleared rows are no longer stored.')
})

test('a word is found in the bodies of requests, responses, messages and the responses of receivers', async () => {
  const { url } = await receiver()
  const { act, client, service } = await openConsole()
  await act('saveWebhook', endpoint(url))
  await client.updateUser({ account: 'linus', platform: 'discord', pid: 'demo', name: 'Linus (new)' })
  await client.getCampaignInfo({ pid: 'demo' })
  await act('completeTask', { ...LINUS, aid: 'connect-wallet' })
  await service.settle()
  const found = async (list: 'requests' | 'deliveries', ...words: string[]) =>
    (await act('findInBodies', { list, words })).map(({ keys }) => keys.length)
  expect(await found('requests', 'linus (NEW', 'demo campaign', 'nothing', '.*')).toEqual([1, 1, 0, 0])
  expect(await found('deliveries', 'connect-wallet', 'thanks', 'refused')).toEqual([1, 1, 0])
})

/** Returns a URL at which nothing listens. */
async function closedUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/`
}

describe('the attempts of a delivery', () => {
  /** Completes a task with a webhook to `url`, and returns the delivery. */
  async function deliverTo(url: string, { secret, change }: { secret?: string; change?: object } = {}) {
    const page = await openConsole({ secret: 'of the environment' })
    await page.act('saveWebhook', endpoint(url, { secret }))
    if (change) await page.act('addFault', { on: 'delivery', ...change } as never)
    await page.act('completeTask', { ...LINUS, aid: 'connect-wallet' })
    await page.service.settle()
    const [row] = (await page.changes()).deliveries.rows as [DeliveryRow]
    return { ...page, row, read: () => page.act('readDelivery', { key: row.key }) }
  }

  test('have their duration, the response with its headers, and a hint on each failure', async () => {
    const { url } = await receiver(500)
    const { read, row } = await deliverTo(url)
    const message = { type: 'action_completed', item: 'connect-wallet', xp: 50, user: 'linus', pid: 'demo' }
    expect(row).toMatchObject({ ...message, state: 'pending', attempts: 1, lastStatus: 500 })
    expect(row).toMatchObject({ failures: 1, statuses: ['500'], nextAttemptAt: expect.any(Number) })
    const [attempt] = (await read()).attemptsMade
    expect(attempt).toMatchObject({ status: 500, response: 'thanks', headers: { connection: 'keep-alive' } })
    expect(attempt?.durationMs).toBeGreaterThanOrEqual(0)
    expect(attempt?.advice).toMatch(/^the handler threw, /)
  })

  test('without a response have a hint on the error', async () => {
    const { read } = await deliverTo(await closedUrl())
    expect((await read()).attemptsMade).toMatchObject([
      { ok: false, advice: 'check the URL (http or https), and that the receiver is running', findings: [] },
    ])
  })

  test('without TLS at the port say so', async () => {
    const { url } = await receiver()
    const { read } = await deliverTo(url.replace('http:', 'https:'))
    expect((await read()).attemptsMade).toMatchObject([
      { advice: expect.stringMatching(/^the port does not speak TLS/) },
    ])
  })

  test.each([
    ['the same secret', undefined, ["The signature is right for the webhook's current secret."]],
    ['no secret', '', [expect.stringMatching(/^There is no signature\. /)]],
    [
      'a quoted secret',
      '"of the environment"',
      [
        "The signature is right for the webhook's current secret.",
        expect.stringMatching(/^With CAMPAIGN_WEBHOOK_SECRET: /),
      ],
    ],
  ])('after a 401 have the findings of diagnoseWebhook: %s', async (_, secret, findings) => {
    const { url } = await receiver(401)
    const { read } = await deliverTo(url, secret === undefined ? {} : { secret })
    expect((await read()).attemptsMade).toMatchObject([{ advice: expect.stringMatching(/another secret/), findings }])
  })

  test('with the fault of a wrong signature blame the fault, not the receiver', async () => {
    const { url } = await receiver(401)
    const { read } = await deliverTo(url, { change: { kind: 'bad_signature' } })
    expect((await read()).attemptsMade).toMatchObject([
      { advice: expect.stringMatching(/^the fault "wrong/), findings: [] },
    ])
  })
})

test('the row of a delivery names the fault of its latest affected attempt', async () => {
  const { url } = await receiver(503)
  const { act, changes, clock, service } = await openConsole()
  await act('saveWebhook', endpoint(url))
  await act('addFault', { on: 'delivery', kind: 'bad_signature' })
  await act('completeTask', { ...LINUS, aid: 'connect-wallet' })
  await service.settle()
  await clock.advance(5000)
  expect((await changes()).deliveries.rows).toMatchObject([{ attempts: 2, fault: 'bad_signature' }])
})
