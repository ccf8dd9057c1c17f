import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { expect, onTestFinished, test } from 'vitest'
import { jsonOf, type RunOptions, run, scratchFolder, start } from './command.ts'
import { listeningService } from './service.ts'

/** Starts `dev` on a free port; `url` is the first line it prints. */
async function dev(args: readonly string[] = [], options?: RunOptions) {
  const running = start(['dev', '--port', '0', ...args], options)
  const [, url = ''] = await running.until('stdout', /^(http:\S+)\n/)
  await running.until('stderr', /Ctrl-C/)
  return { ...running, url }
}

/** Returns the status of the response to a request. Unlike `fetch`, it can set any header. */
const statusOf = (url: string, headers: Readonly<Record<string, string>>): Promise<number> =>
  new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })

async function doAction(url: string, name: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}console/do/${name}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return response.json()
}

test.each([
  ['{', 'is not JSON'],
  ['[]', 'must contain a JSON object'],
  ['{"campaigns":[{"id":""}]}', 'campaigns'],
  ['{"campaign":[]}', 'campaign is not an option'],
])('the seed %s is refused', async (seed, words) => {
  const file = join(scratchFolder(), 'seed.json')
  writeFileSync(file, seed)
  const { code, stdout, stderr } = await run(['dev', '--port', '0', '--seed', file])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(words)
})

test.each([
  [['--port', '70000'], 'from 0 to 65535'],
  [['--port', 'x'], 'from 0 to 65535'],
  [['--host', '0.0.0.0'], '--allowed-host'],
  [['--allowed-host', 'http://x'], 'without scheme and port'],
  [['--webhook', 'nonsense'], 'It must be a URL'],
  [['--seed', '/no/such/file'], 'no such file'],
  [['--token', 'two words'], 'without spaces and commas'],
  [['--token'], "option '--token <token>' argument missing\n  ↳ see --help"],
  [['--rate-limit', '0'], 'above 0'],
  [['--registration-path', '../up'], 'must be a path below the base URL'],
])('%j is refused', async (args, words) => {
  const { code, stdout, stderr } = await run(['dev', ...args])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(words)
})

test('a port in use is refused with advice', async () => {
  const { env } = await listeningService()
  const { port } = new URL(env.CAMPAIGN_BASE_URL as string)
  const ended = await run(['dev', '--port', port, '--json'])
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(`port ${port} is already in use`) })
  expect(jsonOf(ended)).toMatchObject({ error: { code: 'usage' } })
})

test('a host that is not an address of this machine is refused', async () => {
  const args = ['--host', '203.0.113.1', '--allowed-host', 'x', '--port', '0']
  const { code, stdout, stderr } = await run(['dev', ...args])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('not an address of this machine')
})

test('the form of the console reaches the service at one address of the machine', async () => {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const { address } = addresses.find(({ internal, family }) => !internal && family === 'IPv4') ?? {
    address: '127.0.0.2',
  }
  const { url } = await dev(['--host', address, '--allowed-host', 'campaign.test'])
  const own = `http://${address}:${new URL(url).port}/`
  const given = { account: 'ada', platform: 'discord', pid: 'demo' }
  const result = await doAction(own, 'callMethod', { name: 'getUserProgress', given })
  expect(result).toEqual({ data: { key: '1' } })
})

test('registers the endpoints of --webhook, and signs with CAMPAIGN_WEBHOOK_SECRET', async () => {
  const endpoint = start(['webhook', 'listen', '--port', '0', '--count', '1', '--json'], {
    env: { CAMPAIGN_WEBHOOK_SECRET: 'shared' },
  })
  const [, target = ''] = await endpoint.until('stderr', /listening at (\S+)/)
  const { url, output } = await dev(['--webhook', `${target}hook`], { env: { CAMPAIGN_WEBHOOK_SECRET: 'shared' } })
  expect(output.stderr).toContain(`${target}hook  signed`)
  expect(output.stderr).not.toContain('shared')
  await doAction(url, 'completeTask', { pid: 'demo', account: 'linus', platform: 'discord', aid: 'connect-wallet' })
  expect(jsonOf(await endpoint.ended)).toMatchObject({ received: 1, verified: 1 })
})

test('sends messages only to this machine and to the hosts of --endpoint-host and --webhook', async () => {
  const { url } = await dev()
  const remote = { urls: ['https://hooks.example/in'], scope: 'user_activity', campaigns: [] }
  expect(await doAction(url, 'saveWebhook', remote)).toMatchObject({
    error: expect.stringContaining('--endpoint-host hooks.example'),
  })
  // registerWebhook accepts any URL.
  const client = new CampaignClient({ baseUrl: `${url}api/v1`, accessToken: 'any', webhookRegistrationPath: 'webhook' })
  await client.registerWebhook({ hook_id: 'remote', scope: 'user_activity', url: 'https://hooks.example/in' })
  expect(await doAction(url, 'testWebhook', { account: 'ada', hook_id: 'remote' })).toMatchObject({
    data: { Success: false, Status: 0, Data: expect.stringContaining('not this machine') },
  })
  const { url: other } = await dev(['--endpoint-host', 'Hooks.Example', '--webhook', 'https://other.example/in'])
  for (const host of ['hooks.example', 'other.example']) {
    const webhook = { ...remote, urls: [`https://${host}/new`] }
    expect(await doAction(other, 'saveWebhook', webhook)).toMatchObject({ data: { signed: false } })
  }
})

test('starts with a seed, and saves one', async () => {
  const file = join(scratchFolder(), 'seed.json')
  const service = createCampaignService()
  service.completeTask({ pid: 'demo', account: 'linus', platform: 'discord', aid: 'connect-wallet' })
  const seed = JSON.stringify({ $schema: './local-service.seed.schema.json', ...service.exportSeed() })
  writeFileSync(file, seed)
  const { url } = await dev(['--seed', file])
  expect(await (await fetch(`${url}console/seed.json`)).json()).toMatchObject({ campaigns: JSON.parse(seed).campaigns })
})

test('messages to a signed endpoint of a seed are signed only if CAMPAIGN_WEBHOOK_SECRET is set', async () => {
  const file = join(scratchFolder(), 'seed.json')
  writeFileSync(file, '{"webhooks":[{"url":"http://127.0.0.1:1/","signed":true},{"url":"http://127.0.0.1:2/"}]}')
  const without = await dev(['--seed', file])
  expect(without.output.stderr).toContain('http://127.0.0.1:1/  not signed: CAMPAIGN_WEBHOOK_SECRET is not set')
  const { output } = await dev(['--seed', file], { env: { CAMPAIGN_WEBHOOK_SECRET: 'shared' } })
  expect(output.stderr).toContain('http://127.0.0.1:1/  signed')
  expect(output.stderr).toContain('http://127.0.0.1:2/  not signed\n')
})

test('prints a message whose type or scope is no text, and continues', async () => {
  const { url, until } = await dev(['--webhook', 'http://127.0.0.1:1/'])
  const deep = JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`)
  const payloads = [{ event: { type: { x: 1 } } }, { scope: ['a'] }, { event: { type: deep } }, { event: 1, scope: '' }]
  for (const payload of payloads) {
    await doAction(url, 'emit', { kind: 'custom', scope: 'user_activity', payload })
  }
  await until('stderr', /--- {2}\{"x":1\} → /)
  await until('stderr', /--- {2}\["a"\] → /)
  await until('stderr', /--- {2}\[{900}/)
  await until('stderr', /--- {3}→ /)
})

test('--allowed-host adds a host name, for containers', async () => {
  const { url } = await dev(['--allowed-host', 'campaign.test', '--host', '0.0.0.0'])
  const { port } = new URL(url)
  expect(url).toBe(`http://campaign.test:${port}/`)
  const loopback = `http://127.0.0.1:${port}/`
  expect(await statusOf(loopback, { host: 'campaign.test:80' })).toBe(200)
  expect(await statusOf(loopback, { host: 'other.test' })).toBe(403)
})

test('with --token, accepts only that token, and does not print it', async () => {
  const { url, output } = await dev(['--token', 'only-this-token'])
  expect(output.stderr).toContain('accepts only the token of --token')
  expect(output.stderr).not.toContain('only-this-token')
  const clientWith = (accessToken: string) => new CampaignClient({ baseUrl: `${url}api/v1`, accessToken })
  expect(await clientWith('only-this-token').getCampaignInfo({ pid: 'demo' })).toMatchObject({ id: 'demo' })
  await expect(clientWith('another-token').getCampaignInfo({ pid: 'demo' })).rejects.toMatchObject({ status: 401 })
})

test('says that it accepts only the tokens of the seed', async () => {
  const file = join(scratchFolder(), 'seed.json')
  writeFileSync(file, '{"tokens":["of-the-seed"]}')
  const { url, output } = await dev(['--seed', file])
  expect(output.stderr).toContain('/api/v1  accepts only the tokens of the seed')
  const client = new CampaignClient({ baseUrl: `${url}api/v1`, accessToken: 'another-token' })
  await expect(client.getCampaignInfo({ pid: 'demo' })).rejects.toMatchObject({ status: 401 })
})

test('with a seed whose first token has expired, the form of the console calls with another one', async () => {
  const file = join(scratchFolder(), 'seed.json')
  writeFileSync(file, '{"tokens":{"old":{"expired":true},"theirs":{"campaigns":["another"]},"ours":{}}}')
  const { url } = await dev(['--seed', file])
  const call = await doAction(url, 'callMethod', { name: 'getCampaignInfo', given: { pid: 'demo' } })
  expect(call).toMatchObject({ data: { key: expect.any(String) } })
  const { key } = (call as { data: { key: string } }).data
  expect(await doAction(url, 'readRequest', { key })).toMatchObject({ data: { status: 200 } })
})

test('with --registration-path, registers webhooks at that path', async () => {
  const { url } = await dev(['--registration-path', 'hooks/new'])
  const client = new CampaignClient({
    baseUrl: `${url}api/v1`,
    accessToken: 'any',
    webhookRegistrationPath: 'hooks/new',
  })
  const webhook = { scope: 'user_activity', url: 'http://127.0.0.1:1/' }
  expect(await client.registerWebhook(webhook)).toMatchObject({ hook_id: expect.any(String) })
})

test('with --rate-limit, refuses further requests under /api/v1 with 429, but no control request', async () => {
  // So few that a slow machine sends the second request within the period.
  const { url } = await dev(['--rate-limit', '0.001'])
  const headers = { authorization: 'Bearer any' }
  const send = () => fetch(`${url}api/v1/campaign/points?pid=demo`, { headers })
  expect((await send()).status).toBe(200)
  const refused = await send()
  expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.closeTo(1_000, -2)])
  for (const path of ['state', 'faults', 'requests']) {
    expect((await fetch(`${url}control/${path}`, { headers })).status).toBe(200)
  }
})

test('prints each attempt to deliver a message, with the time of the next', async () => {
  const receiver = createServer((_, response) => void response.writeHead(503).end())
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void receiver.close().closeAllConnections())
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const { url, until } = await dev(['--webhook', hook, '--webhook', 'http://127.0.0.1:1/'])
  await fetch(`${url}control/addFault`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ on: 'delivery', kind: 'bad_signature' }),
  })
  await doAction(url, 'completeTask', { pid: 'demo', account: 'linus', platform: 'discord', aid: 'connect-wallet' })
  await until('stderr', /\d\d:\d\d:\d\d {2}503 {2}action_completed → \S+\/hook {2}attempt 1 of 5 .*next in 5 s/)
  await until('stderr', /--- {2}action_completed → \S+:1\/ {2}attempt 1 of 5 {2}.*next in 5 s/)
  await until('stderr', /injected fault: bad_signature/)
  await doAction(url, 'advance', { ms: 395_000 })
  await until('stderr', /503 {2}action_completed → \S+\/hook {2}attempt 5 of 5 {2}undelivered/)
})
