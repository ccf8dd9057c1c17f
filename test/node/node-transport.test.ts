import { getEventListeners } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net, { BlockList, type LookupFunction } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import zlib from 'node:zlib'
import { CampaignClient, type Cancellation, ConfigurationError, TimeoutError, type Transport } from 'campaign-client'
import { type NodeTransportOptions, nodeTransport } from 'campaign-client/node'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { version } from '../../package.json'
import { cancellationOf } from '../../src/shared/timers.ts'
import type { TransportRequest } from '../../src/transports/transport.ts'
import { type RawRequest, type RawServer, rawServer, responseBytes } from './raw-server.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function serving(respond: (request: RawRequest) => void, host?: string): Promise<RawServer> {
  const server = await rawServer(respond, host)
  cleanups.push(() => server.close())
  return server
}

function transportWith(options?: NodeTransportOptions) {
  const transport = nodeTransport(options)
  cleanups.push(() => transport.close())
  return transport
}

const never = cancellationOf(new AbortController().signal)
const read = (server: RawServer, path = '/'): TransportRequest => ({
  method: 'GET',
  url: `${server.url}${path}`,
  headers: {},
  idempotent: true,
  maxResponseBytes: 1_000,
})
const unsafeWrite = (server: RawServer): TransportRequest => ({
  ...read(server),
  method: 'POST',
  body: '{"value":1}',
  idempotent: false,
})

describe('a connection', () => {
  test('is reused, even by an unsafe write within a second', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    vi.advanceTimersByTime(60_000)
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    const transport = transportWith()
    await transport.send(read(server), never)
    vi.advanceTimersByTime(900)
    await transport.send(unsafeWrite(server), never)
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 0])
    expect(server.requests[1]?.head).toMatch(/^content-length: 11\b/im)
  })

  test('that was idle for more than a second is not used by an unsafe write', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    const transport = transportWith()
    await Promise.all([1, 2, 3].map(() => transport.send(read(server), never)))
    vi.advanceTimersByTime(1_100)
    await transport.send(unsafeWrite(server), never)
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1, 2, 3])
    await transport.send(read(server), never)
    expect(server.requests.at(-1)?.connection).toBe(3)
  })

  test("that was idle for more than a second in a partner's agent is not used by an unsafe write", async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const agent = new http.Agent({ keepAlive: true })
    cleanups.push(() => agent.destroy())
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    const transport = transportWith({ agent })
    await transport.send(read(server), never)
    vi.advanceTimersByTime(1_100)
    await transport.send(unsafeWrite(server), never)
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1])
  })

  test('is not reused if the server announces that it will close soon', async () => {
    const server = await serving(({ socket }) => socket.write(responseBytes('{}', 'keep-alive: timeout=1\r\n')))
    const transport = transportWith()
    await transport.send(read(server), never)
    await transport.send(read(server), never)
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1])
  })

  test('is closed after keepAliveMs', async () => {
    const server = await serving(({ socket }) => socket.write(responseBytes('{}', 'connection: keep-alive\r\n')))
    const transport = transportWith({ keepAliveMs: 20 })
    await transport.send(read(server), never)
    await expect.poll(() => server.open.size).toBe(0)
    expect(server.requests).toHaveLength(1)
  })

  test('is closed after less than 5 s by default', async () => {
    const setTimeouts = vi.spyOn(net.Socket.prototype, 'setTimeout')
    cleanups.push(() => setTimeouts.mockRestore())
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    await transportWith().send(read(server), never)
    await nextTurn()
    const idleMs = setTimeouts.mock.calls.map(([ms]) => ms).filter((ms) => ms > 0)
    expect(idleMs.length).toBeGreaterThan(0)
    expect(Math.max(...idleMs)).toBeLessThan(5_000)
  })

  test('is shared by queued requests if maxSockets is reached', async () => {
    const waiting: RawRequest[] = []
    const server = await serving((request) => waiting.push(request))
    const transport = transportWith({ maxSockets: 2 })
    const calls = [1, 2, 3].map(() => transport.send(read(server), never))
    await expect.poll(() => waiting.length).toBe(2)
    expect(server.open.size).toBe(2)
    for (const { socket } of waiting.splice(0)) socket.write(responseBytes('{}'))
    await expect.poll(() => waiting.length).toBe(1)
    waiting[0]?.socket.write(responseBytes('{}'))
    await Promise.all(calls)
    expect(server.requests).toHaveLength(3)
  })
})

describe('a write on a kept connection', () => {
  const write = (server: RawServer): TransportRequest => ({ ...unsafeWrite(server), idempotent: true })
  const strays: readonly [string, string][] = [
    ['a whole response', 'HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n{"success":true}'],
    [
      'the response of an idle timeout',
      'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
    ],
    ['the beginning of a response', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['bytes that are not HTTP', '220 mail.example ESMTP\r\n\r\n'],
  ]
  const requests: readonly [string, (server: RawServer) => TransportRequest][] = [
    ['an unsafe write', unsafeWrite],
    ['an idempotent write', write],
  ]

  test.each(requests.flatMap(([kind, request]) => strays.map(([what, bytes]) => ({ kind, what, request, bytes }))))(
    'does not take $what for its response: $kind',
    async ({ request, bytes }) => {
      const server = await serving(({ socket }) => socket.write(responseBytes('{"mine":true}')))
      const transport = transportWith()
      await transport.send(read(server), never)
      const [idle] = server.open
      // The write starts when the bytes are on their way.
      await new Promise((resolve) => idle?.write(bytes, resolve))
      expect(await transport.send(request(server), never)).toMatchObject({ status: 200, text: '{"mine":true}' })
      expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1])
    },
  )

  test('is sent over a new connection if the server closes the kept one at that moment', async () => {
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    const transport = transportWith()
    await transport.send(read(server), never)
    for (const socket of server.open) socket.end()
    expect(await transport.send(unsafeWrite(server), never)).toMatchObject({ status: 200, text: '{}' })
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1])
  })

  test('is not sent if it is cancelled before it was written', async () => {
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    const transport = transportWith({ keepAliveMs: 100 })
    await transport.send(read(server), never)
    const aborter = new AbortController()
    const sending = expect(transport.send(unsafeWrite(server), cancellationOf(aborter.signal))).rejects.toThrow(
      'enough',
    )
    aborter.abort(new Error('enough'))
    await sending
    await server.connectionsClosed()
    expect(server.requests).toHaveLength(1)
  })
})

describe('on Deno, whose node:http sends a request again when a kept connection is lost', () => {
  beforeEach(() => {
    vi.stubGlobal('Deno', {})
    cleanups.push(() => vi.unstubAllGlobals())
  })

  test('each write has a connection of its own', async () => {
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    const transport = transportWith()
    for (const request of [read, unsafeWrite, unsafeWrite, read]) await transport.send(request(server), never)
    const connections = server.requests.map(({ connection, head }) => [head.split(' ')[0], connection])
    expect(connections).toEqual([
      ['GET', 0],
      ['POST', 1],
      ['POST', 2],
      ['GET', 0],
    ])
  })

  test('an agent that keeps connections is refused', () => {
    const create = () => nodeTransport({ agent: new http.Agent({ keepAlive: true }) })
    expect(create).toThrow(ConfigurationError)
    expect(create).toThrow('nodeTransport: agent must have keepAlive: false on Deno')
    expect(() => nodeTransport({ agent: new http.Agent({ keepAlive: false }) })).not.toThrow()
  })
})

describe('a connection that cannot be opened', () => {
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8)

  test.each([
    ['http', 'EADDRNOTAVAIL', new http.Agent({ localAddress: '192.0.2.1' })],
    ['https', 'EADDRNOTAVAIL', new https.Agent({ localAddress: '192.0.2.1' })],
    ['http', 'ERR_IP_BLOCKED', new http.Agent({ blockList: loopback } as http.AgentOptions)],
  ])('over %s because of %s fails with this systemCode, and the write is not applied', async (scheme, code, agent) => {
    const baseUrl = `${scheme}://127.0.0.1:9/api/v1`
    const client = new CampaignClient({
      baseUrl,
      accessToken: 'a-token',
      transport: transportWith({ agent }),
      maxRetries: 0,
    })
    const call = client.recordActionValue({ account: 'a', platform: 'p', pid: 'p', cid: 'c', aid: 'a', value: 1 })
    const error = await call.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'network', systemCode: code, outcome: 'not_applied' })
    expect((error as Error).message).not.toContain('agent')
  })

  test.each(['EMFILE', 'EADDRNOTAVAIL', 'ERR_IP_BLOCKED', 'ERR_ACCESS_DENIED'])(
    'because of %s at once fails with this systemCode and the message of its cause',
    async (code) => {
      const prototype = http.Agent.prototype as unknown as { createConnection(): never }
      const connect = vi.spyOn(prototype, 'createConnection').mockImplementation(() => {
        throw Object.assign(new Error(`no connection: ${code}`), { code })
      })
      cleanups.push(() => connect.mockRestore())
      const client = new CampaignClient({
        baseUrl: 'http://127.0.0.1:9/api/v1',
        accessToken: 'a-token',
        transport: transportWith(),
        maxRetries: 0,
      })
      const error = await client.getCampaignInfo({ pid: 'demo' }).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'network', systemCode: code })
      expect((error as Error).message).toContain(`no connection: ${code}`)
      expect((error as Error).message).not.toContain('agent')
    },
  )
})

describe('a connection that the server closes during a request', () => {
  test.each([
    ['a safe read', read],
    ['an unsafe write', unsafeWrite],
  ])('fails %s with sent: true, without a retry', async (_, requestOf) => {
    let answered = 0
    const server = await serving(({ socket }) => {
      if (answered++ === 0) socket.write(responseBytes('{}'))
      else socket.destroy()
    })
    const transport = transportWith()
    await transport.send(read(server), never)
    await expect(transport.send(requestOf(server), never)).rejects.toMatchObject({ kind: 'network', sent: true })
    await server.connectionsClosed()
    expect(server.requests).toHaveLength(2)
  })
})

test('an unsafe write does not use a connection that was reset while idle', async () => {
  const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
  const transport = transportWith()
  await transport.send(read(server), never)
  for (const socket of server.open) socket.resetAndDestroy()
  await expect.poll(() => server.open.size).toBe(0)
  // The server sees the reset before the client.
  await nextTurn()
  await nextTurn()
  expect(await transport.send(unsafeWrite(server), never)).toMatchObject({ status: 200 })
  expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1])
})

describe('bodies', () => {
  const json = JSON.stringify({ success: true, text: 'ä€😀'.repeat(20) })
  const encodings: [string, Buffer][] = [
    ['gzip', zlib.gzipSync(json)],
    ['x-gzip', zlib.gzipSync(json)],
    ['br', zlib.brotliCompressSync(json)],
    ['deflate', zlib.deflateSync(json)],
    ['deflate', zlib.deflateRawSync(json)],
    ['identity', Buffer.from(json)],
  ]

  test.each(encodings)('in %s are decoded if they arrive in parts', async (encoding, body) => {
    const bytes = responseBytes(body, `content-encoding: ${encoding}\r\n`)
    const server = await serving(async ({ socket }) => {
      for (const part of [bytes.subarray(0, -20), bytes.subarray(-20, -10), bytes.subarray(-10)]) {
        await new Promise((written) => socket.write(part, written))
        await nextTurn()
      }
    })
    const response = await transportWith().send({ ...read(server), maxResponseBytes: 10_000 }, never)
    expect(response).toMatchObject({ status: 200, text: json, complete: true })
    expect(server.requests[0]?.head).toMatch(/accept-encoding: gzip, deflate, br/i)
  })

  const encoded = (encoding: string, body: Buffer) => responseBytes(body, `content-encoding: ${encoding}\r\n`)
  const cut: [string, string, Uint8Array | string, boolean][] = [
    ...encodings
      .slice(0, 5)
      .map(([encoding, body]): (typeof cut)[0] => [
        encoding,
        'the connection closes early',
        encoded(encoding, body).subarray(0, -10),
        true,
      ]),
    ...encodings
      .slice(0, 4)
      .map(([encoding, body]): (typeof cut)[0] => [
        encoding,
        'the compressed data is truncated',
        encoded(encoding, body.subarray(0, -10)),
        false,
      ]),
    ...['gzip', 'br'].map((encoding): (typeof cut)[0] => [
      encoding,
      'the connection closes before the first byte',
      `HTTP/1.1 200 OK\r\ncontent-length: 9\r\ncontent-encoding: ${encoding}\r\n\r\n`,
      true,
    ]),
  ]

  test.each(cut)('in %s are incomplete if %s', async (_, __, bytes, closes) => {
    const server = await serving(({ socket }) => (closes ? socket.end(bytes) : socket.write(bytes)))
    const response = await transportWith().send({ ...read(server), maxResponseBytes: 10_000 }, never)
    expect(response).toMatchObject({ status: 200, complete: false })
  })

  test.each(encodings.slice(0, 5))('in %s may have bytes after the compressed data', async (encoding, body) => {
    const bytes = responseBytes(Buffer.concat([body, Buffer.alloc(100_000)]), `content-encoding: ${encoding}\r\n`)
    const server = await serving(async ({ socket }) => {
      if (server.requests.length > 1) return socket.end(bytes.subarray(0, -10))
      await new Promise((written) => socket.write(bytes.subarray(0, -10), written))
      await nextTurn()
      return socket.write(bytes.subarray(-10))
    })
    const transport = transportWith({ maxSockets: 1 })
    const request = { ...read(server), maxResponseBytes: 10_000 }
    expect(await transport.send(request, never)).toMatchObject({ status: 200, text: json, complete: true })
    expect(await transport.send(request, never)).toMatchObject({ status: 200, complete: false })
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 0])
  })

  test.each([
    ['gzip', zlib.gzipSync(Buffer.alloc(100_000))],
    ['br', zlib.brotliCompressSync(Buffer.alloc(100_000))],
    ['deflate', zlib.deflateSync(Buffer.alloc(100_000))],
    ['identity', Buffer.alloc(1_001)],
  ])('in %s are limited by their size after decompression', async (encoding, body) => {
    const server = await serving(({ socket }) => socket.write(responseBytes(body, `content-encoding: ${encoding}\r\n`)))
    await expect(transportWith().send(read(server), never)).rejects.toMatchObject({
      kind: 'too_large',
      sent: true,
      status: 200,
    })
  })

  test('encoded more than five times are not decoded', async () => {
    const encodings = Array(6).fill('gzip').join()
    const server = await serving(({ socket }) =>
      socket.write(responseBytes(json, `content-encoding: ${encodings}\r\n`)),
    )
    expect(await transportWith().send(read(server), never)).toMatchObject({
      status: 200,
      text: '',
      complete: false,
      cause: { message: 'the response is encoded 6 times; at most 5 are decoded' },
    })
  })

  test.each(['gzip', Array(6).fill('gzip').join()])(
    'that cannot be decoded (%s) do not block their connection',
    async (encodings) => {
      const unreadable = Buffer.alloc(1_000_000, '<html>')
      const responses = [responseBytes(unreadable, `content-encoding: ${encodings}\r\n`), responseBytes('{}')]
      const server = await serving(({ socket }) => socket.write(responses.shift() ?? ''))
      const transport = transportWith({ maxSockets: 1 })
      expect(await transport.send(read(server), never)).toMatchObject({ complete: false })
      expect(await transport.send(read(server), never)).toMatchObject({ text: '{}', complete: true })
    },
  )

  test.each(['gzip', 'br', 'deflate', 'br, gzip', 'gzip, deflate'])(
    'in %s are complete if they are empty',
    async (encoding) => {
      const server = await serving(({ socket }) => socket.write(responseBytes('', `content-encoding: ${encoding}\r\n`)))
      expect(await transportWith().send(read(server), never)).toMatchObject({ status: 200, text: '', complete: true })
    },
  )
})

describe('unusual responses', () => {
  test('101 is an unexpected response', async () => {
    const server = await serving(({ socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\nhello')
    })
    expect(await transportWith().send(read(server), never)).toMatchObject({ status: 101, text: '' })
    await expect.poll(() => server.open.size).toBe(0)
  })

  test('too large headers cause an error with sent: true', async () => {
    const server = await serving(({ socket }) => socket.write(responseBytes('{}', `x-long: ${'x'.repeat(20_000)}\r\n`)))
    await expect(transportWith().send(read(server), never)).rejects.toMatchObject({
      kind: 'network',
      sent: true,
      systemCode: 'HPE_HEADER_OVERFLOW',
    })
  })

  test.each([
    ['bytes that are not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n12'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\n{}'],
    ['lines without carriage returns', 'HTTP/1.1 200 OK\ncontent-length: 2\n\n{}'],
  ])('%s: the error has sent: true', async (_, bytes) => {
    const server = await serving(({ socket }) => socket.write(bytes))
    await expect(transportWith().send(read(server), never)).rejects.toMatchObject({ kind: 'network', sent: true })
  })

  test('an offered upgrade is ignored', async () => {
    const server = await serving(({ socket }) =>
      socket.write(responseBytes('{"a":1}', 'connection: upgrade, keep-alive\r\nupgrade: h2c\r\n')),
    )
    expect(await transportWith().send(read(server), never)).toMatchObject({ status: 200, text: '{"a":1}' })
  })

  test.each([
    ['at once', true],
    ['while the connection is idle', false],
  ])('a second response to one request, %s, is not used for another request', async (_, atOnce) => {
    const mine = responseBytes('{"mine":true}')
    const foreign = responseBytes('{"foreign":true}')
    const both = Buffer.concat([mine, foreign])
    const server = await serving((request) => {
      if (server.requests.length > 1 || !atOnce) request.socket.write(mine)
      else request.socket.write(both)
    })
    const agent = new http.Agent({ keepAlive: true })
    cleanups.push(() => agent.destroy())
    const transport = transportWith({ agent })
    expect((await transport.send(read(server), never)).text).toBe('{"mine":true}')
    if (!atOnce) {
      server.requests[0]?.socket.write(foreign)
      const idle = () => Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])
      await expect.poll(() => idle().every(({ bytesRead }) => bytesRead === both.length)).toBe(true)
    }
    expect((await transport.send(unsafeWrite(server), never)).text).toBe('{"mine":true}')
  })

  test('a response that arrives before the body is sent is returned', async () => {
    const body = JSON.stringify('x'.repeat(3_000_000))
    const server = http.createServer((_, response) => {
      response.writeHead(413, { connection: 'close' })
      response.end('{"success":false}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(
      () => server.close(),
      () => server.closeAllConnections(),
    )
    const address = server.address() as { port: number }
    const request = { ...unsafeWrite({ url: `http://127.0.0.1:${address.port}` } as RawServer), body }
    expect(await transportWith().send(request, never)).toMatchObject({ status: 413 })
  })
})

describe('a request to', () => {
  test('an IPv6 address is sent', async () => {
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')), '::1')
    expect((await transportWith().send(read(server, '/v1/x?q=1'), never)).status).toBe(200)
    expect(server.requests[0]?.head).toMatch(/^GET \/v1\/x\?q=1 HTTP\/1\.1/)
    expect(server.requests[0]?.head).toMatch(/host: \[::1\]:\d+/i)
  })

  /** Sends a request to a host with two addresses. */
  function toTwo(server: RawServer, addresses: readonly [address: string, family: number][]) {
    const lookup = ((_host, _options, callback) => {
      callback(
        null,
        addresses.map(([address, family]) => ({ address, family })),
      )
    }) as LookupFunction
    const url = server.url.replace('127.0.0.1', 'two.example')
    return transportWith({ agent: new http.Agent({ lookup } as http.AgentOptions) }).send(
      { ...read(server), url },
      never,
    )
  }

  test('a host with two addresses is sent if only one address refuses, and fails with sent: false if both do', async () => {
    const server = await serving(({ socket }) => socket.end(responseBytes('{}')))
    const one = await toTwo(server, [
      ['::1', 6],
      ['127.0.0.1', 4],
    ])
    expect(one.status).toBe(200)
    await server.close()
    const both = toTwo(server, [
      ['127.0.0.1', 4],
      ['127.0.0.2', 4],
    ])
    await expect(both).rejects.toMatchObject({ kind: 'network', sent: false, systemCode: 'ECONNREFUSED' })
  })

  test('an unknown host fails with sent: false', async () => {
    const url = 'http://no-such-host.invalid/'
    const request = { ...read({ url: '' } as RawServer), url }
    await expect(transportWith().send(request, never)).rejects.toMatchObject({ kind: 'network', sent: false })
  })
})

describe('a request aborted', () => {
  const reason = new Error('enough')

  test('during the name lookup rejects with the reason', async () => {
    const aborter = new AbortController()
    const lookup: LookupFunction = () => aborter.abort(reason)
    const agent = new http.Agent({ lookup } as http.AgentOptions)
    const request = { ...read({ url: '' } as RawServer), url: 'http://slow.example/' }
    await expect(transportWith({ agent }).send(request, cancellationOf(aborter.signal))).rejects.toBe(reason)
  })

  test('by the agent that opens its connection is not sent', async () => {
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    const aborter = new AbortController()
    const agent = new http.Agent()
    agent.createConnection = (options) => {
      aborter.abort(reason)
      return net.connect(options as net.NetConnectOpts)
    }
    const sending = transportWith({ agent }).send(unsafeWrite(server), cancellationOf(aborter.signal))
    await expect(sending).rejects.toBe(reason)
    await server.connectionsClosed()
    expect(server.requests).toEqual([])
  })

  test('in the queue of the agent is not sent', async () => {
    const server = await serving(() => undefined)
    const transport = transportWith({ maxSockets: 1, keepAliveMs: 100 })
    const first = new AbortController()
    const second = new AbortController()
    const calls = [first, second].map(({ signal }) => transport.send(read(server), cancellationOf(signal)))
    const [one, two] = calls.map((call) => expect(call).rejects.toBe(reason))
    await expect.poll(() => server.requests.length).toBe(1)
    second.abort(reason)
    await two
    first.abort(reason)
    await one
    await server.connectionsClosed()
    expect(server.requests).toHaveLength(1)
  })

  test('during the TLS handshake is not sent, and its connection is closed', async () => {
    const aborter = new AbortController()
    const server = await serving(() => undefined)
    const request = { ...unsafeWrite(server), url: server.url.replace('http:', 'https:') }
    const rejected = expect(transportWith().send(request, cancellationOf(aborter.signal))).rejects.toBe(reason)
    await expect.poll(() => server.open.size).toBe(1)
    aborter.abort(reason)
    await rejected
    await server.connectionsClosed()
    expect(server.requests).toEqual([])
  })

  test.each([
    ['the headers', ''],
    ['the rest of the headers', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['the body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'],
    ['a compressed body', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 10\r\n\r\n\x1f\x8b'],
  ])('while it waits for %s leaves no connection and no listener', async (_, bytes) => {
    const aborter = new AbortController()
    const server = await serving(({ socket }) => socket.write(bytes, 'latin1', () => aborter.abort(reason)))
    await expect(transportWith().send(read(server), cancellationOf(aborter.signal))).rejects.toBe(reason)
    await expect.poll(() => server.open.size).toBe(0)
    expect(getEventListeners(aborter.signal, 'abort')).toEqual([])
  })
})

test('a header that node:http refuses fails the request with sent: false and frees its socket', async () => {
  const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
  const transport = transportWith({ maxSockets: 1 })
  const refused = transport.send({ ...read(server), headers: { trailer: 'x' } }, never)
  await expect(refused).rejects.toMatchObject({ sent: false, systemCode: 'ERR_HTTP_TRAILER_INVALID' })
  await transport.send(read(server), never)
  expect(server.requests).toHaveLength(1)
})

test('user-agent is the package and its version, unless the request has one', async () => {
  const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
  const transport = transportWith()
  for (const headers of [{}, { 'user-agent': 'shop/1.0' }, { 'User-Agent': 'shop/2.0' }]) {
    await transport.send({ ...read(server), headers }, never)
  }
  expect(server.requests.map(({ head }) => /^user-agent: (.*)$/im.exec(head)?.[1])).toEqual([
    `campaign-client/${version}`,
    'shop/1.0',
    'shop/2.0',
  ])
})

test('a custom accept-encoding is sent, in any letter case', async () => {
  const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
  await transportWith().send({ ...read(server), headers: { 'Accept-Encoding': 'identity' } }, never)
  expect(server.requests[0]?.head.match(/^accept-encoding: .*$/gim)).toEqual(['Accept-Encoding: identity'])
})

describe('a wrapper of nodeTransport', () => {
  const callOf = (server: RawServer, transport: Transport) => {
    const client = new CampaignClient({ baseUrl: server.url, accessToken: 'a-token', transport, maxRetries: 0 })
    return client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
  }

  /** Expects that a call times out. Lets its time pass when the server has received the request. */
  async function expectTimeout(server: RawServer, transport: Transport): Promise<void> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const timedOut = expect(callOf(server, transport)).rejects.toThrow(TimeoutError)
    await expect.poll(() => server.requests.length).toBe(1)
    vi.advanceTimersByTime(10_000)
    await timedOut
    vi.useRealTimers()
  }

  const places: readonly [string, (transport: Transport, send: Transport['send']) => Transport][] = [
    ['in a copy of the transport', (transport, send) => ({ ...transport, send })],
    ['in the transport itself', (transport, send) => Object.assign(transport, { send })],
    [
      'in an object that inherits from the transport',
      (transport, send) => Object.assign(Object.create(transport), { send }),
    ],
  ]

  test.each(places)('%s that passes the cancellation on is cancelled', async (_, wrap) => {
    const server = await serving(() => undefined)
    const transport = transportWith()
    const inner = transport.send
    const send = vi.fn<Transport['send']>((request, cancellation) => inner(request, cancellation))
    await expectTimeout(server, wrap(transport, send))
    expect(send).toHaveBeenCalledOnce()
    await server.connectionsClosed()
    expect(server.requests).toHaveLength(1)
  })

  test('that derives its own cancellation is cancelled by the client, and can cancel by itself', async () => {
    const server = await serving(() => undefined)
    const transport = transportWith()
    const own = new AbortController()
    const inner = transport.send
    const send: Transport['send'] = (request, { signal }) => {
      const both = AbortSignal.any([signal, own.signal])
      const onCancel: Cancellation['onCancel'] = (listener) => {
        const cancel = () => listener(both.reason)
        both.addEventListener('abort', cancel)
        return () => both.removeEventListener('abort', cancel)
      }
      return inner(request, { signal: both, onCancel })
    }
    const wrapper = { ...transport, send }
    await expectTimeout(server, wrapper)
    await expect.poll(() => server.open.size).toBe(0)
    const failed = expect(callOf(server, wrapper)).rejects.toMatchObject({ code: 'network' })
    await expect.poll(() => server.open.size).toBe(1)
    own.abort(new Error('the circuit breaker is open'))
    await failed
    await expect.poll(() => server.open.size).toBe(0)
  })

  test('may use the parts of the cancellation without their object', async () => {
    const server = await serving(() => undefined)
    const transport = transportWith()
    const reasons: unknown[] = []
    const inner = transport.send
    const send: Transport['send'] = (request, cancellation) => {
      const { signal, onCancel } = cancellation
      onCancel((reason) => reasons.push(reason))
      onCancel(() => reasons.push('removed'))()
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      return inner(request, { signal, onCancel })
    }
    await expectTimeout(server, { ...transport, send })
    expect(reasons).toEqual([
      expect.objectContaining({ name: 'TimeoutError' }),
      expect.objectContaining({ name: 'TimeoutError' }),
    ])
  })
})

test('fake timers do not block a call', async () => {
  const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
  vi.useFakeTimers()
  expect((await transportWith().send(read(server), never)).status).toBe(200)
})

describe('close', () => {
  test('closes idle connections, and later requests are not sent', async () => {
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    const transport = transportWith()
    await transport.send(read(server), never)
    transport.close()
    transport.close()
    await expect.poll(() => server.open.size).toBe(0)
    await expect(transport.send(read(server), never)).rejects.toMatchObject({ kind: 'network', sent: false })
    await server.connectionsClosed()
    expect(server.requests).toHaveLength(1)
  })

  test('rejects queued requests, which are not sent', async () => {
    const server = await serving(() => undefined)
    const transport = transportWith({ maxSockets: 1 })
    const outcomes = Promise.allSettled([1, 2, 3].map(() => transport.send(unsafeWrite(server), never)))
    await expect.poll(() => server.requests.length).toBe(1)
    transport.close()
    expect(await outcomes).toMatchObject([
      { reason: { message: 'the transport is closed', sent: true } },
      { reason: { message: 'the transport is closed', sent: false } },
      { reason: { message: 'the transport is closed', sent: false } },
    ])
    await server.connectionsClosed()
    expect(server.requests).toHaveLength(1)
  })

  test('rejects every request in flight, even after others have failed', async () => {
    const server = await serving(({ socket, connection }) => connection > 0 && socket.destroy())
    const transport = transportWith()
    const first = transport.send(read(server), never)
    await expect.poll(() => server.requests.length).toBe(1)
    for (let failed = 0; failed < 3; failed++) {
      await expect(transport.send(read(server), never)).rejects.toMatchObject({ kind: 'network' })
    }
    await nextTurn()
    transport.close()
    await expect(first).rejects.toMatchObject({ message: 'the transport is closed' })
  })

  test("does not close the partner's agent", async () => {
    const agent = new http.Agent({ keepAlive: true })
    cleanups.push(() => agent.destroy())
    const server = await serving(({ socket }) => socket.write(responseBytes('{}')))
    const transport = transportWith({ agent })
    await transport.send(read(server), never)
    transport.close()
    await transportWith({ agent }).send(read(server), never)
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 0])
  })
})

describe('an unusable agent causes an error with the reason and sent: false:', () => {
  test.each([
    [
      'an https.Agent for http',
      new https.Agent(),
      'http://127.0.0.1:1/',
      'is an https.Agent; baseUrl needs an http.Agent',
    ],
    [
      'an http.Agent for https',
      new http.Agent(),
      'https://127.0.0.1:1/',
      'is an http.Agent; baseUrl needs an https.Agent',
    ],
  ])('%s', async (_, agent, url, message) => {
    const sending = transportWith({ agent }).send({ ...read({ url: '' } as RawServer), url }, never)
    await expect(sending).rejects.toMatchObject({
      kind: 'network',
      sent: false,
      message: expect.stringContaining(message),
    })
  })

  test('an agent that throws', async () => {
    const cause = Object.assign(new Error('no more sockets'), { code: 20 })
    const agent = Object.assign(new http.Agent(), {
      createConnection() {
        throw cause
      },
    })
    const server = await serving(() => undefined)
    const sending = transportWith({ agent }).send(unsafeWrite(server), never)
    await expect(sending).rejects.toMatchObject({
      message: 'the agent of nodeTransport threw an error',
      sent: false,
      cause,
    })
    // Only codes that are strings, such as ECONNREFUSED, are system codes.
    await expect(sending).rejects.not.toHaveProperty('systemCode')
    await server.connectionsClosed()
    expect(server.requests).toEqual([])
  })
})

describe('nodeTransport refuses', () => {
  test.each([
    [{ agent: {} }, 'nodeTransport: agent must be an http.Agent or https.Agent of Node, got object'],
    [{ agent: 'proxy' }, 'nodeTransport: agent must be an http.Agent or https.Agent of Node, got string'],
    [{ maxSockets: 0 }, 'nodeTransport: maxSockets must be a whole number, 1 or more, got 0'],
    [{ keepAliveMs: -1 }, 'nodeTransport: keepAliveMs must be a number of milliseconds'],
    [{ agent: new http.Agent(), maxSockets: 1 }, 'nodeTransport: maxSockets cannot be combined with agent'],
    [{ agent: new http.Agent(), keepAliveMs: 1 }, 'nodeTransport: keepAliveMs cannot be combined with agent'],
    [null, 'nodeTransport: the options must be an object'],
  ])('%o', (options, message) => {
    expect(() => nodeTransport(options as never)).toThrow(ConfigurationError)
    expect(() => nodeTransport(options as never)).toThrow(message)
  })

  test('the options of its own agent beside an agent, with advice', () => {
    expect(() => nodeTransport({ agent: new http.Agent(), maxSockets: 1 })).toThrow('set it on the agent')
  })
})
