import { writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { TestAuthority } from '../node/certificates.ts'
import { startConnectProxy } from '../support/connect-proxy.ts'
import { listOf } from './award/set-up.ts'
import { runProcess, scratchFolder } from './command.ts'

test('HTTPS requests use HTTPS_PROXY, unless NO_PROXY names the host', async () => {
  const { host, targets } = await startConnectProxy({ status: 403 })
  const HTTPS_PROXY = `http://user:hunter2@${host}`
  const env = { CAMPAIGN_BASE_URL: 'https://service.invalid/api/v1', CAMPAIGN_ACCESS_TOKEN: 'any', HTTPS_PROXY }
  const args = ['call', 'recordActionValue', '--input', '-']
  const input = '{"account":"a","platform":"p","pid":"p","cid":"c","aid":"a","value":1}'
  const through = await runProcess(args, { env, input })
  expect(through.code).not.toBe(0)
  expect(through.stdout + through.stderr).not.toContain('hunter2')
  expect(new Set(targets)).toEqual(new Set(['service.invalid:443']))
  targets.length = 0
  await runProcess(args, { env: { ...env, NO_PROXY: 'service.invalid' }, input })
  expect(targets).toEqual([])
  const wrong = await runProcess(args, { env: { ...env, HTTPS_PROXY: 'socks://user:hunter2@x' }, input })
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('HTTPS_PROXY is not the URL of a proxy') })
  expect(wrong.stderr).not.toContain('hunter2')
})

test.each([
  ['https://[::1]:1/api/v1', {}],
  ['https://127.0.0.1:1/api/v1', {}],
  ['https://localhost:1/api/v1', {}],
  ['https://[fd00::1]:1/api/v1', { NO_PROXY: '[fd00::1]' }],
])('connects to %s with %j without the proxy', async (CAMPAIGN_BASE_URL, more) => {
  const { host, targets } = await startConnectProxy({ status: 403 })
  const env = { CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN: 'any', HTTPS_PROXY: `http://${host}`, ...more }
  expect(await runProcess(['call', 'getCampaignInfo', '--pid', 'demo'], { env })).toMatchObject({ code: 4 })
  expect(targets).toEqual([])
})

/** Starts an HTTPS server behind a proxy. Returns the settings of a command that trusts the server and uses the proxy. */
async function startService(host: string, listener: RequestListener) {
  const authority = await TestAuthority.create()
  const service = createServer(await authority.issue(host), listener)
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void service.close())
  const proxy = await startConnectProxy({ port: (service.address() as AddressInfo).port })
  const cwd = scratchFolder()
  writeFileSync(join(cwd, 'authority.pem'), authority.cert)
  const env = { HTTPS_PROXY: `http://${proxy.host}`, NODE_EXTRA_CA_CERTS: 'authority.pem' }
  return { cwd, env, targets: proxy.targets }
}

const AWARDS = 40
const CONCURRENCY = 4

test.each([
  ['reuses its tunnels', 'keep-alive', CONCURRENCY],
  ['opens at most one tunnel per award if the service closes each connection', 'close', AWARDS],
])('award %s, without a warning', async (_, connection, maxTunnels) => {
  const { cwd, env, targets } = await startService('service.invalid', (request, response) => {
    request.resume().on('end', () => response.setHeader('connection', connection).end('{"success":true}'))
  })
  writeFileSync(join(cwd, 'list.csv'), listOf(AWARDS))
  const args = ['award', 'list.csv', '--pid', 'demo', '--yes', '--concurrency', `${CONCURRENCY}`]
  const { code, stderr } = await runProcess(args, {
    env: {
      ...env,
      CAMPAIGN_BASE_URL: 'https://service.invalid/api/v1',
      CAMPAIGN_ACCESS_TOKEN: 'a-token-of-the-usual-length',
    },
    cwd,
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringMatching(/(?<!Experimental)Warning/) })
  expect(targets.length).toBeLessThanOrEqual(maxTunnels)
})

test('webhook send closes the connection of each message', async () => {
  const connections: unknown[] = []
  const { cwd, env, targets } = await startService('endpoint.invalid', (request, response) => {
    connections.push(request.headers.connection)
    request.resume().on('end', () => response.writeHead(401).end())
  })
  const args = ['webhook', 'send', 'https://endpoint.invalid/hook', '--wrong-signature', '--times', '2']
  expect(await runProcess(args, { env, cwd })).toMatchObject({ code: 0 })
  expect({ connections, tunnels: targets.length }).toEqual({ connections: ['close', 'close'], tunnels: 2 })
})
