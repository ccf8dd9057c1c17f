import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { closedAddress } from '../call/loopback-server.ts'
import { startConnectProxy } from '../support/connect-proxy.ts'
import { jsonOf, run } from './command.ts'

afterEach(() => void vi.unstubAllEnvs())

/** Sets the variables of proxies in this process, from which the command reads them. */
function stubProxy(variables: Readonly<Record<string, string>>): void {
  vi.unstubAllEnvs()
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

test('HTTPS requests use HTTPS_PROXY, unless NO_PROXY names the host', async () => {
  const { host, targets } = await startConnectProxy({ status: 403 })
  const HTTPS_PROXY = `http://user:hunter2@${host}`
  const env = { CAMPAIGN_BASE_URL: 'https://service.invalid/api/v1', CAMPAIGN_ACCESS_TOKEN: 'any' }
  stubProxy({ HTTPS_PROXY })
  const args = ['call', 'recordActionValue', '--input', '-']
  const input = '{"account":"a","platform":"p","pid":"p","cid":"c","aid":"a","value":1}'
  const through = await run(args, { env, input })
  expect(through.code).not.toBe(0)
  expect(through.stdout + through.stderr).not.toContain('hunter2')
  expect(new Set(targets)).toEqual(new Set(['service.invalid:443']))
  targets.length = 0
  stubProxy({ HTTPS_PROXY, NO_PROXY: 'service.invalid' })
  await run(args, { env, input })
  expect(targets).toEqual([])
  stubProxy({ HTTPS_PROXY: 'socks://user:hunter2@x' })
  const wrong = await run(args, { env, input })
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('HTTPS_PROXY is not the URL of a proxy') })
  expect(wrong.stderr).not.toContain('hunter2')
})

test.each(['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY'])(
  'HOST:PORT in %s is an http proxy, whose errors name it',
  async (name) => {
    const env = { CAMPAIGN_BASE_URL: 'https://service.invalid/api/v1', CAMPAIGN_ACCESS_TOKEN: 'any' }
    const { host, targets } = await startConnectProxy({ status: 407 })
    const closed = new URL(await closedAddress()).host
    const send = ['webhook', 'send', 'https://endpoint.invalid/', '--json']
    for (const args of [['call', 'getCampaignInfo', '--pid', 'demo'], send]) {
      stubProxy({ [name]: host })
      const refused = await run(args, { env: { ...env, CAMPAIGN_WEBHOOK_SECRET: 'a secret of the webhook' } })
      expect(refused.code).toBe(4)
      expect(refused.stdout + refused.stderr).toContain(`the proxy of ${name} refused the connection with HTTP 407`)
      stubProxy({ [name]: closed })
      const failed = await run(args, { env: { ...env, CAMPAIGN_WEBHOOK_SECRET: 'a secret of the webhook' } })
      expect(failed.code).toBe(4)
      expect(failed.stdout + failed.stderr).toContain(`the proxy of ${name} failed (ECONNREFUSED)`)
    }
    expect(targets).toContain('service.invalid:443')
    expect(targets).toContain('endpoint.invalid:443')
  },
)

test.each([
  ['https://[::1]:1/api/v1', {}],
  ['https://127.0.0.1:1/api/v1', {}],
  ['https://localhost:1/api/v1', {}],
  ['https://[::]:1/api/v1', { NO_PROXY: '[::]' }],
])('connects to %s with %j without the proxy', async (CAMPAIGN_BASE_URL, more) => {
  const { host, targets } = await startConnectProxy({ status: 403 })
  stubProxy({ HTTPS_PROXY: `http://${host}`, ...more })
  const env = { CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN: 'any' }
  expect(await run(['call', 'getCampaignInfo', '--pid', 'demo'], { env })).toMatchObject({ code: 4 })
  expect(targets).toEqual([])
})

test('webhook send ends after the timeout if the proxy does not respond', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    silent.close()
    for (const socket of sockets) socket.destroy()
  })
  stubProxy({ HTTPS_PROXY: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` })
  const args = ['webhook', 'send', 'https://endpoint.invalid/', '--timeout', '200', '--json']
  const ended = await run(args, { env: { CAMPAIGN_WEBHOOK_SECRET: 'a secret of the webhook' } })
  expect(ended.code).toBe(4)
  expect(jsonOf(ended)).toMatchObject({ response: [{ error: 'no response within 200 ms' }] })
  expect(sockets).toHaveLength(1)
})
