import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { CampaignClient, NetworkError } from 'campaign-client'
import { type NodeAgent, nodeTransport } from 'campaign-client/node'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectionsClosed } from '../support/connections-closed.ts'
import { type Identity, TestAuthority } from './certificates.ts'

let authority: TestAuthority
let identity: Identity
const opened: net.Server[] = []
beforeAll(async () => {
  authority = await TestAuthority.create()
  identity = await authority.issue('127.0.0.1')
})
afterAll(() => {
  for (const server of opened) server.close()
})

/** A service that reads each request and then closes the connection. */
interface DroppingService {
  readonly baseUrl: string
  readonly port: number
  /** Resolves to the path of each request, when all connections have closed. */
  seen(): Promise<string[]>
}

async function droppingService(encrypted: boolean): Promise<DroppingService> {
  const seen: string[] = []
  const listener: http.RequestListener = (request) => {
    request.resume().on('end', () => {
      seen.push(request.url ?? '')
      request.socket.destroy()
    })
  }
  const server = encrypted ? https.createServer(identity, listener) : http.createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(server)
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `${encrypted ? 'https' : 'http'}://127.0.0.1:${port}/api/v1`,
    port,
    seen: () => connectionsClosed(server).then(() => seen),
  }
}

const value = { account: 'ada', platform: 'web', pid: 'demo', cid: 'quest', aid: 'task', value: 1 }

/** Calls recordActionValue over sockets of `connect`, with up to two retries. */
async function recordThrough(baseUrl: string, connect: () => Duplex): Promise<unknown> {
  const encrypted = baseUrl.startsWith('https:')
  const agent = Object.assign(encrypted ? new https.Agent() : new http.Agent(), { createConnection: connect })
  const transport = nodeTransport({ agent: agent as NodeAgent })
  onTestFinished(() => {
    transport.close()
    agent.destroy()
  })
  const client = new CampaignClient({ baseUrl, accessToken: 'a-token', transport, retryDelayMs: () => 0 })
  return client.recordActionValue(value).catch((reason: unknown) => reason)
}

/** Returns a Duplex that wraps a socket. */
function duplexOver(socket: net.Socket, fields: object = {}): Duplex {
  const duplex = new Duplex({
    read: () => undefined,
    write: (chunk, encoding, callback) => void socket.write(chunk, encoding, callback),
    final: (callback) => void socket.end(callback),
    destroy(error, callback) {
      socket.destroy()
      callback(error)
    },
  })
  socket.on('data', (chunk) => duplex.push(chunk))
  socket.on('close', () => duplex.destroy())
  socket.on('error', (error) => duplex.destroy(error))
  return Object.assign(duplex, {
    setTimeout: () => duplex,
    setNoDelay: () => duplex,
    setKeepAlive: () => duplex,
    ...fields,
  })
}

describe('a write that reached the service is sent once and has the outcome unknown', () => {
  test.each<[string, (port: number) => Duplex]>([
    ['a Duplex', (port) => duplexOver(net.connect(port, '127.0.0.1'))],
    [
      'a Duplex that clears `connecting` without an event',
      (port) => {
        const duplex = duplexOver(net.connect(port, '127.0.0.1'), { connecting: true, pending: true })
        setImmediate(() => Object.assign(duplex, { connecting: false, pending: false }))
        return duplex
      },
    ],
    [
      'a Duplex whose `connecting` is always true',
      (port) => duplexOver(net.connect(port, '127.0.0.1'), { connecting: true, pending: true, secureConnecting: true }),
    ],
    ['a Duplex with `encrypted: true`', (port) => duplexOver(net.connect(port, '127.0.0.1'), { encrypted: true })],
    ['a net.Socket', (port) => net.connect(port, '127.0.0.1')],
  ])('over plain HTTP, through %s', async (_, connect) => {
    const { baseUrl, port, seen } = await droppingService(false)
    const error = await recordThrough(baseUrl, () => connect(port))
    expect(await seen()).toEqual(['/api/v1/action/value'])
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject({ outcome: 'unknown' })
  })

  test.each<[string, (port: number, ca: string) => Duplex]>([
    ['tls.connect', (port, ca) => tls.connect({ port, host: '127.0.0.1', ca })],
    ['new tls.TLSSocket', (port) => new tls.TLSSocket(net.connect(port, '127.0.0.1'))],
    ['a Duplex around tls.connect', (port, ca) => duplexOver(tls.connect({ port, host: '127.0.0.1', ca }))],
    [
      'tls.connect over a Duplex',
      (port, ca) => tls.connect({ socket: duplexOver(net.connect(port, '127.0.0.1')), host: '127.0.0.1', ca }),
    ],
  ])('over TLS, through %s', async (_, connect) => {
    const { baseUrl, port, seen } = await droppingService(true)
    const error = await recordThrough(baseUrl, () => connect(port, authority.cert))
    expect(await seen()).toEqual(['/api/v1/action/value'])
    expect(error).toMatchObject({ outcome: 'unknown' })
  })
})

describe('a write that was never sent has the outcome not_applied', () => {
  const closedPort = { port: 1, host: '127.0.0.1' }
  test.each<[string, string, () => Duplex]>([
    ['net.connect to a closed port', 'http', () => net.connect(closedPort)],
    ['tls.connect to a closed port', 'https', () => tls.connect(closedPort)],
    ['a net.Socket that is never connected', 'http', () => new net.Socket()],
    ['a net.Socket that is destroyed', 'http', () => new net.Socket().destroy()],
    ['a Duplex that is destroyed', 'http', () => new Duplex().destroy()],
  ])('through %s', async (_, scheme, connect) => {
    const error = await recordThrough(`${scheme}://127.0.0.1:1/api/v1`, connect)
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject({ outcome: 'not_applied' })
  })

  test('through TLS with a refused certificate', async () => {
    const { baseUrl, port, seen } = await droppingService(true)
    const error = await recordThrough(baseUrl, () => tls.connect({ port, host: '127.0.0.1' }))
    expect(error).toMatchObject({ outcome: 'not_applied', systemCode: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
    expect(await seen()).toEqual([])
  })
})

describe('a token is never sent unencrypted to an https base URL', () => {
  /**
   * A server that records all bytes and closes each connection after its first bytes. `received` resolves when all
   * connections have closed.
   */
  async function recordingServer(): Promise<{ port: number; received: () => Promise<string> }> {
    let received = ''
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end())
      socket.on('data', (chunk) => (received += chunk.toString('latin1')))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    opened.push(server)
    const { port } = server.address() as AddressInfo
    return { port, received: () => connectionsClosed(server).then(() => received) }
  }

  test.each<[string, (port: number) => Promise<net.Socket>]>([
    ['is connecting', async (port) => net.connect(port, '127.0.0.1')],
    [
      'is connected',
      async (port) => {
        const socket = net.connect(port, '127.0.0.1')
        await new Promise((resolve) => socket.once('connect', resolve))
        return socket
      },
    ],
  ])('even if an agent returns a plain socket that %s', async (_, connect) => {
    const { port, received } = await recordingServer()
    const sockets = await Promise.all([1, 2, 3].map(() => connect(port)))
    const error = await recordThrough(`https://127.0.0.1:${port}/api/v1`, () => sockets.pop() as net.Socket)
    expect(error).toMatchObject({ code: 'network', outcome: 'not_applied' })
    expect(String(error)).toContain('the agent of nodeTransport returned an unencrypted connection for https')
    expect(await received()).toBe('')
  })

  test('even if the same transport calls the host over http as well', async () => {
    const { port, received } = await recordingServer()
    const transport = nodeTransport()
    onTestFinished(() => transport.close())
    const clientOf = (scheme: string) =>
      new CampaignClient({
        baseUrl: `${scheme}://127.0.0.1:${port}/api/v1`,
        accessToken: 'the-token',
        transport,
        maxRetries: 0,
      })
    await expect(clientOf('http').getCampaignPoints({ pid: 'demo' })).rejects.toThrow()
    const overHttp = await received()
    expect(overHttp).toContain('authorization: Bearer the-token')
    await expect(clientOf('https').getCampaignPoints({ pid: 'demo' })).rejects.toThrow()
    const overHttps = (await received()).slice(overHttp.length)
    expect(overHttps).not.toBe('')
    expect(overHttps).not.toContain('the-token')
  })
})
