import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { CampaignClient } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startConnectProxy } from '../support/connect-proxy.ts'
import { connectionsClosed } from '../support/connections-closed.ts'
import { TestAuthority } from './certificates.ts'

const opened: { close(): unknown }[] = []
afterAll(() => {
  for (const resource of opened) resource.close()
})

let authority: TestAuthority
beforeAll(async () => {
  authority = await TestAuthority.create()
})

const portOf = (server: net.Server): number => (server.address() as AddressInfo).port

async function listening<Server extends net.Server>(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(server)
  return server
}

interface SeeingService {
  readonly baseUrl: string
  /** The access tokens of the requests. */
  readonly seen: string[]
  /** Resolves to `seen` when all connections have closed. */
  seenInTotal(): Promise<string[]>
}

/** Starts the service. An address as the host needs no lookup, so a connection past the proxy would be open at once. */
async function service(host = '127.0.0.1'): Promise<SeeingService> {
  const seen: string[] = []
  const server = https.createServer(await authority.issue(host), (request, response) => {
    seen.push(request.headers.authorization ?? '')
    request.resume().on('end', () => response.end('{"success":true}'))
  })
  await listening(server)
  return {
    baseUrl: `https://${host}:${portOf(server)}/api/v1`,
    seen,
    seenInTotal: () => connectionsClosed(server).then(() => seen),
  }
}

function clientThrough(proxy: string, baseUrl: string, keepAlive = false): CampaignClient {
  const agent = new HttpsProxyAgent(`http://${proxy}`, { keepAlive })
  // These options apply to the TLS connection inside the tunnel.
  Object.assign(agent.options, { ca: authority.cert })
  const transport = nodeTransport({ agent })
  opened.push(transport, { close: () => agent.destroy() })
  return new CampaignClient({ baseUrl, accessToken: 'secret.token.here', transport, maxRetries: 0 })
}

const value = { account: 'ada', platform: 'web', pid: 'demo', cid: 'quest', aid: 'task', value: 1 }

test('a call uses the tunnel, and the proxy does not see the token', async () => {
  const { baseUrl, seen } = await service('localhost')
  const through = await startConnectProxy()
  await clientThrough(through.host, baseUrl).recordActionValue(value)
  expect(seen).toEqual(['Bearer secret.token.here'])
  expect(through.targets).toEqual([new URL(baseUrl).host])
  expect(through.received()).not.toContain('secret.token.here')
})

test('a proxy agent with keepAlive reuses its tunnel', async () => {
  const { baseUrl, seen } = await service('localhost')
  const through = await startConnectProxy()
  const client = clientThrough(through.host, baseUrl, true)
  for (let call = 0; call < 3; call++) await client.recordActionValue(value)
  expect(seen).toHaveLength(3)
  expect(through.targets).toHaveLength(1)
})

test.each([407, 403, 502, 503])(
  'a proxy that responds to CONNECT with %i: the write is not applied',
  async (status) => {
    const { baseUrl, seenInTotal } = await service()
    const through = await startConnectProxy({ status })
    const error = await clientThrough(through.host, baseUrl)
      .recordActionValue(value)
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'network', outcome: 'not_applied' })
    expect(String(error)).toContain(`the proxy refused the connection with HTTP ${status}`)
    expect(await seenInTotal()).toEqual([])
  },
)

test('an unreachable proxy: the write is not applied', async () => {
  const { baseUrl, seenInTotal } = await service()
  const closed = await listening(http.createServer())
  const address = `127.0.0.1:${portOf(closed)}`
  closed.close()
  const error = await clientThrough(address, baseUrl)
    .recordActionValue(value)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'network', outcome: 'not_applied', systemCode: 'ECONNREFUSED' })
  expect(await seenInTotal()).toEqual([])
})

test.each([
  ['does not speak HTTP', (socket: net.Socket) => socket.write('220 mail.example ESMTP\r\n\r\n')],
  ['closes the connection', (socket: net.Socket) => socket.destroy()],
  [
    'opens a tunnel to a server without TLS',
    (socket: net.Socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nnot a TLS handshake'),
  ],
])('a proxy that %s: the write is not applied', async (_, respond) => {
  const { baseUrl, seenInTotal } = await service()
  const brokenProxy = await listening(
    net.createServer((socket) => {
      socket.on('error', () => undefined).on('data', () => respond(socket))
    }),
  )
  const error = await clientThrough(`127.0.0.1:${portOf(brokenProxy)}`, baseUrl)
    .recordActionValue(value)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'network', outcome: 'not_applied' })
  expect(await seenInTotal()).toEqual([])
})
