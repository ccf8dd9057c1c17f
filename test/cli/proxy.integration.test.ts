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

// In processes, which trust the authority of NODE_EXTRA_CA_CERTS.

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
  // The plan reads the campaign first.
  ['opens at most one tunnel per request if the service closes each connection', 'close', AWARDS + 1],
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
