import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { CampaignClient, NetworkError } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionsClosed } from '../support/connections-closed.ts'
import { TestAuthority } from './certificates.ts'

const opened: { close(): unknown }[] = []
afterAll(() => {
  for (const resource of opened) resource.close()
})

let authority: TestAuthority
let otherAuthority: TestAuthority
beforeAll(async () => {
  authority = await TestAuthority.create()
  otherAuthority = await TestAuthority.create('Another authority')
})

interface SecureServer {
  readonly baseUrl: string
  /** The path of each request. */
  readonly seen: string[]
  /** The names in the client certificates. */
  readonly peers: string[]
  connectionsClosed(): Promise<void>
}

async function secureServer(options: https.ServerOptions): Promise<SecureServer> {
  const seen: string[] = []
  const peers: string[] = []
  const server = https.createServer(options, (request, response) => {
    seen.push(request.url ?? '')
    peers.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN?.toString() ?? '')
    request.resume().on('end', () => response.end('{"success":true}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push({
    close() {
      server.closeAllConnections()
      server.close()
    },
  })
  return {
    baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
    seen,
    peers,
    connectionsClosed: () => connectionsClosed(server),
  }
}

function clientOf(baseUrl: string, agentOptions?: https.AgentOptions): CampaignClient {
  const agent = agentOptions && new https.Agent(agentOptions)
  if (agent) opened.push({ close: () => agent.destroy() })
  const transport = nodeTransport({ agent })
  opened.push(transport)
  return new CampaignClient({ baseUrl, accessToken: 'a.b.c', transport, maxRetries: 0 })
}

const value = { account: 'ada', platform: 'web', pid: 'demo', cid: 'quest', aid: 'task', value: 1 }
const record = (client: CampaignClient): Promise<unknown> =>
  client.recordActionValue(value).then(
    () => 'done',
    (error: unknown) => error,
  )

describe('a private CA', () => {
  test('is trusted if it is the ca of the agent', async () => {
    const server = await secureServer(await authority.issue('127.0.0.1'))
    expect(await record(clientOf(server.baseUrl, { ca: authority.cert }))).toBe('done')
    expect(server.seen).toHaveLength(1)
  })

  const DAY = 86_400_000
  test.each([
    [
      'of an authority that is not trusted by default',
      () => authority.issue('127.0.0.1'),
      undefined,
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    [
      'of an authority other than ca',
      () => otherAuthority.issue('127.0.0.1'),
      () => authority.cert,
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    ['for another host', () => authority.issue('other.example'), () => authority.cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'that has expired',
      () => authority.issue('127.0.0.1', [-2 * DAY, -DAY]),
      () => authority.cert,
      'CERT_HAS_EXPIRED',
    ],
    [
      'that is not yet valid',
      () => authority.issue('127.0.0.1', [DAY, 2 * DAY]),
      () => authority.cert,
      'CERT_NOT_YET_VALID',
    ],
  ])('does not trust a certificate %s: nothing is sent', async (_, issue, ca, systemCode) => {
    const server = await secureServer(await issue())
    const error = await record(clientOf(server.baseUrl, { ca: ca?.() }))
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject({ outcome: 'not_applied', systemCode })
    await server.connectionsClosed()
    expect(server.seen).toEqual([])
  })
})

describe('a client certificate', () => {
  const requiringCertificate = async () => ({
    ...(await authority.issue('127.0.0.1')),
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
  })

  test('is sent to a server that requests it', async () => {
    const server = await secureServer(await requiringCertificate())
    const own = await authority.issue('partner.example')
    expect(await record(clientOf(server.baseUrl, { ca: authority.cert, ...own }))).toBe('done')
    expect(server.peers).toEqual(['partner.example'])
  })

  test('is required by the server: without it, nothing is sent', async () => {
    const server = await secureServer(await requiringCertificate())
    const error = await record(clientOf(server.baseUrl, { ca: authority.cert }))
    expect(error).toBeInstanceOf(NetworkError)
    await server.connectionsClosed()
    expect(server.seen).toEqual([])
  })
})

/** An https server in a thread. It responds while the event loop of the client is blocked, and names each connection. */
const SERVER_THREAD = `
  const { createServer } = require('node:https')
  const { parentPort, workerData } = require('node:worker_threads')
  let connections = 0
  const server = createServer(workerData, (request, response) => {
    response.setHeader('x-request-id', request.socket.number)
    request.resume().on('end', () => response.end('{"success":true}'))
  })
  server.on('secureConnection', (socket) => (socket.number = ++connections))
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

test('a slow event loop does not open more connections than there are concurrent writes', async () => {
  const server = new Worker(SERVER_THREAD, { eval: true, workerData: await authority.issue('127.0.0.1') })
  opened.push({ close: () => server.terminate() })
  const [port] = await once(server, 'message')
  const connections = new Set<string | undefined>()
  const client = clientOf(`https://127.0.0.1:${port}/api/v1`, { ca: authority.cert, keepAlive: true }).with({
    hooks: { onResponse: ({ headers }) => connections.add(headers['x-request-id']) },
  })
  // The responses have arrived when Node looks for the next event.
  const block = () => {
    for (const end = performance.now() + 3; performance.now() < end; );
    blocking = setImmediate(block)
  }
  let blocking = setImmediate(block)
  const writes = Array.from({ length: 4 }, async () => {
    for (let nth = 0; nth < 20; nth++) await client.recordActionValue(value)
  })
  await Promise.all(writes).finally(() => clearImmediate(blocking))
  expect(connections.size).toBe(4)
})

test('a call to an http server at an https base URL is not applied', async () => {
  const seen: string[] = []
  const server = http.createServer((request) => seen.push(request.url ?? '')).listen(0, '127.0.0.1')
  opened.push(server)
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const error = await record(clientOf(`https://127.0.0.1:${port}/api/v1`))
  expect(error).toMatchObject({ code: 'network', outcome: 'not_applied', systemCode: 'EPROTO' })
  await connectionsClosed(server)
  expect(seen).toEqual([])
})
