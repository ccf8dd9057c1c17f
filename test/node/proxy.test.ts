import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { CampaignClient } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Identity, TestAuthority } from './certificates.ts'

const opened: { close(): unknown }[] = []
afterAll(() => {
  for (const each of opened) each.close()
})

let authority: TestAuthority
let identity: Identity
beforeAll(async () => {
  authority = await TestAuthority.create()
  identity = await authority.issue('localhost')
})

const portOf = (server: net.Server): number => (server.address() as AddressInfo).port

async function listening<Server extends net.Server>(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(server)
  return server
}

async function service(): Promise<{ baseUrl: string; seen: string[] }> {
  const seen: string[] = []
  const server = https.createServer(identity, (request, response) => {
    seen.push(request.headers.authorization ?? '')
    request.resume().on('end', () => response.end('{"success":true}'))
  })
  await listening(server)
  return { baseUrl: `https://localhost:${portOf(server)}/api/v1`, seen }
}

/** A proxy that answers CONNECT with a status and opens the tunnel for 200. */
async function proxy(status: number): Promise<{ address: string; asked: string[]; heard: () => string }> {
  const asked: string[] = []
  let heard = ''
  const server = http.createServer()
  server.on('connect', (request, socket: Duplex) => {
    asked.push(request.url ?? '')
    socket.on('error', () => undefined)
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Type: application/json\r\n\r\n{"success":true}`)
      return
    }
    const { port } = new URL(`http://${request.url}`)
    const onward = net.connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.pipe(socket)
      socket.pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1')
    })
  })
  await listening(server)
  return { address: `http://127.0.0.1:${portOf(server)}`, asked, heard: () => heard }
}

function clientThrough(address: string, baseUrl: string): CampaignClient {
  const agent = new HttpsProxyAgent(address)
  // Options that are not for the proxy apply to the connection in the tunnel.
  Object.assign(agent.options, { ca: authority.cert })
  const transport = nodeTransport({ agent })
  opened.push(transport, { close: () => agent.destroy() })
  return new CampaignClient({ baseUrl, accessToken: 'secret.token.here', transport, maxRetries: 0 })
}

const value = { account: 'ada', platform: 'web', pid: 'demo', cid: 'quest', aid: 'task', value: 1 }

test('a call goes through the tunnel, and the proxy sees no token', async () => {
  const { baseUrl, seen } = await service()
  const through = await proxy(200)
  await clientThrough(through.address, baseUrl).recordActionValue(value)
  expect(seen).toEqual(['Bearer secret.token.here'])
  expect(through.asked).toEqual([new URL(baseUrl).host])
  expect(through.heard()).not.toContain('secret.token.here')
})

test.each([407, 403, 502, 503])('a proxy that answers CONNECT with %i: nothing has left', async (status) => {
  const { baseUrl, seen } = await service()
  const through = await proxy(status)
  const error = await clientThrough(through.address, baseUrl)
    .recordActionValue(value)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'network', outcome: 'not_applied' })
  expect(String(error)).toContain(`the proxy refused the connection with HTTP ${status}`)
  expect(seen).toEqual([])
})

test('an unreachable proxy: nothing was sent', async () => {
  const { baseUrl, seen } = await service()
  const gone = await listening(http.createServer())
  const address = `http://127.0.0.1:${portOf(gone)}`
  gone.close()
  const error = await clientThrough(address, baseUrl)
    .recordActionValue(value)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'network', outcome: 'not_applied', systemCode: 'ECONNREFUSED' })
  expect(seen).toEqual([])
})

test.each([
  ['speaks no HTTP', (socket: net.Socket) => socket.write('220 mail.example ESMTP\r\n\r\n')],
  ['hangs up', (socket: net.Socket) => socket.destroy()],
  ['opens a tunnel to no TLS', (socket: net.Socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nno handshake of TLS')],
])('a proxy that %s: nothing was sent', async (_, answer) => {
  const { baseUrl, seen } = await service()
  const odd = await listening(
    net.createServer((socket) => {
      socket.on('error', () => undefined).on('data', () => answer(socket))
    }),
  )
  const error = await clientThrough(`http://127.0.0.1:${portOf(odd)}`, baseUrl)
    .recordActionValue(value)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'network', outcome: 'not_applied' })
  expect(seen).toEqual([])
})
