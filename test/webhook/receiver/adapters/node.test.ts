import { EventEmitter, once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http'
import { type ClientHttp2Session, connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import { WebhookError, type WebhookReceiver } from 'campaign-client/webhook'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { activity, deliveryOf, HEADER, sign, signedHeaders, WELL_FORMED } from '../../signed-message.ts'
import { deferred, observedReceiver } from '../observed-receiver.ts'
import { serve } from './loopback-server.ts'
import { rawConnection } from './raw-connection.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Starts a server. `arrived` resolves with the first request, `finished` when the receiver has handled it. */
async function serveReceiver(
  receiver: WebhookReceiver,
  before: (request: IncomingMessage, response: ServerResponse) => unknown = () => {},
): Promise<{ url: string; port: number; finished: Promise<void>; arrived: Promise<void> }> {
  const finished = deferred()
  const arrived = deferred()
  const { url, port } = await serve(async (request, response) => {
    arrived.resolve()
    await before(request, response)
    await receiver.node(request, response)
    finished.resolve()
  })
  return { url, port, finished: finished.promise, arrived: arrived.promise }
}

function post(
  url: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = signedHeaders(body),
): Promise<Response> {
  return fetch(url, { method: 'POST', headers, body })
}

/** Sends signed bodies over one connection that is kept alive. The function returns the status of the response. */
function overOneConnection(
  port: number,
  more: Record<string, string> = {},
): (body: string | Buffer) => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  return (body) =>
    new Promise((resolve, reject) => {
      const headers = { ...signedHeaders(body), ...more }
      const outgoing = httpRequest({ port, agent, method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
}

const HEAD = 'POST /webhooks/campaign HTTP/1.1\r\nhost: receiver.test\r\n'
const SIGNED_HEAD = `${HEAD}${HEADER}: ${'a'.repeat(64)}\r\n`

describe('responses', () => {
  test('HEAD is 405 without a body', async () => {
    const { url } = await serveReceiver(observedReceiver().receiver)
    const response = await fetch(url, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([405, ''])
  })

  test('two signature headers are refused', async () => {
    const { receiver, rejections } = observedReceiver()
    const { port, finished } = await serveReceiver(receiver)
    const body = JSON.stringify(activity())
    const { socket, received, closed } = await rawConnection(port)
    const header = `${HEADER}: ${sign(body)}\r\n`
    socket.write(`${HEAD}${header}${header}connection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    await Promise.all([finished, closed])
    expect(received()).toMatch(/^HTTP\/1\.1 401 /)
    expect(rejections).toMatchObject([{ reason: 'malformed_signature' }])
  })

  test('a response that a framework has sent is not changed', async () => {
    const running = deferred()
    const { receiver } = observedReceiver({ handle: () => running.promise })
    const { url, finished } = await serveReceiver(receiver, (_request, response) => {
      response.writeHead(504).end('gateway')
      running.resolve()
    })
    const response = await post(url, JSON.stringify(activity()))
    expect([response.status, await response.text()]).toEqual([504, 'gateway'])
    await finished
  })
})

describe('size', () => {
  const big = Buffer.alloc(600_000, 'a')

  test('a body without a declared length is measured while it streams', async () => {
    const { receiver, rejections } = observedReceiver()
    const { url } = await serveReceiver(receiver)
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 10; i++) controller.enqueue(big.subarray(0, 60_000))
        controller.close()
      },
    })
    const response = await fetch(url, { method: 'POST', headers: WELL_FORMED, body, duplex: 'half' } as RequestInit)
    expect(response.status).toBe(413)
    expect(rejections).toMatchObject([{ reason: 'too_large' }])
  })

  test('after a 413, the connection serves the next message', async () => {
    const { receiver } = observedReceiver()
    const sockets = new Set<unknown>()
    const { port } = await serveReceiver(receiver, (request) => sockets.add(request.socket))
    const send = overOneConnection(port)
    expect(await send(big)).toBe(413)
    expect(await send(JSON.stringify(activity()))).toBe(200)
    expect(sockets.size).toBe(1)
  })

  test('a sender that never stops gets a response and is disconnected', async () => {
    const { port } = await serveReceiver(observedReceiver().receiver)
    const { socket, received, closed } = await rawConnection(port)
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`
    socket.write(`${SIGNED_HEAD}transfer-encoding: chunked\r\n\r\n`)
    let sent = 0
    const pump = (): void => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length
      if (!socket.destroyed) socket.once('drain', pump)
    }
    pump()
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 413 /)
    expect(sent).toBeGreaterThan(262_144)
  })

  test('a sender that stops in the middle of the body is disconnected 5 s after the 413', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { port, finished } = await serveReceiver(observedReceiver().receiver)
    const { socket, closed } = await rawConnection(port)
    socket.write(`${SIGNED_HEAD}content-length: 900000\r\n\r\n${'a'.repeat(1000)}`)
    await finished
    await vi.advanceTimersByTimeAsync(5000)
    await closed
  })
})

describe('a sender', () => {
  test('disconnects in the middle of the body: the request is rejected at once', async () => {
    const { receiver, rejections } = observedReceiver()
    const { port, arrived, finished } = await serveReceiver(receiver)
    const { socket } = await rawConnection(port)
    socket.write(`${SIGNED_HEAD}content-length: 1000\r\n\r\n{"id":`)
    await arrived
    socket.destroy()
    await finished
    expect(rejections).toMatchObject([{ reason: 'body_aborted' }])
  })

  test.each<[name: string, part: string, before: (request: IncomingMessage) => unknown]>([
    ['', '{"id":', () => {}],
    [', while other code is reading the stream', '', (request) => request.resume()],
  ])('disconnects before the receiver is called%s: the request is rejected', async (_, part, before) => {
    const { receiver, rejections } = observedReceiver()
    const { port, arrived, finished } = await serveReceiver(receiver, (request) => {
      before(request)
      return new Promise<void>((resolve) => request.on('close', () => resolve()))
    })
    const { socket } = await rawConnection(port)
    socket.write(`${SIGNED_HEAD}content-length: 1000\r\n\r\n${part}`)
    await arrived
    socket.destroy()
    await finished
    expect(rejections).toMatchObject([{ reason: 'body_aborted' }])
  })

  test('sends half of the body and keeps the connection open: 408 at the deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { receiver } = observedReceiver({ deadlineMs: 3000 })
    const { port, arrived, finished } = await serveReceiver(receiver)
    const { socket, received, closed } = await rawConnection(port)
    socket.write(`${SIGNED_HEAD}content-length: 1000\r\n\r\n{"id":`)
    await arrived
    await vi.advanceTimersByTimeAsync(3000)
    await finished
    await vi.advanceTimersByTimeAsync(5000)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('disconnects while the handler runs: the handler continues, and the next attempt is a duplicate', async () => {
    const running = deferred()
    const started = deferred()
    const signals: AbortSignal[] = []
    const { receiver } = observedReceiver({
      handle: async (_event, { signal }) => {
        signals.push(signal)
        started.resolve()
        await running.promise
      },
    })
    const gone = deferred()
    const { port, finished } = await serveReceiver(receiver, (request) => {
      request.on('close', () => gone.resolve())
    })
    const message = activity()
    const body = JSON.stringify(message)
    const { socket } = await rawConnection(port)
    socket.write(`${HEAD}${HEADER}: ${sign(body)}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    await started.promise
    socket.destroy()
    await gone.promise
    expect(signals[0]?.aborted).toBe(false)
    running.resolve()
    await finished
    const later = await receiver.fetch(deliveryOf(message))
    expect(await later.json()).toEqual({ ok: true, result: 'duplicate' })
  })
})

describe('an unread stream', () => {
  const message = JSON.stringify(activity({ team: 'Zoë ✓' }))

  test.each<[name: string, before: (request: IncomingMessage) => unknown]>([
    [
      'text that a listener is still collecting',
      (request) => {
        const collecting = Object.assign(request, { rawBody: '' })
        request.on('data', (chunk) => {
          collecting.rawBody += chunk
        })
      },
    ],
    ['an empty Buffer', (request) => Object.assign(request, { rawBody: Buffer.alloc(0) })],
    ['other text', (request) => Object.assign(request, { rawBody: 'placeholder', body: 'placeholder' })],
    ['an empty object', (request) => Object.assign(request, { body: {} })],
  ])('is the body, even with %s in rawBody or body', async (_, before) => {
    const { receiver, handled } = observedReceiver()
    const { url } = await serveReceiver(receiver, (request) => void before(request))
    expect((await post(url, message)).status).toBe(200)
    expect(handled).toHaveLength(1)
  })

  test.each<[name: string, stop: (stream: PassThrough) => unknown]>([
    ['is empty', (stream) => stream.end()],
    ['was destroyed', (stream) => stream.destroy()],
  ])('%s: the bytes in rawBody are used', async (_, stop) => {
    const { receiver, handled } = observedReceiver()
    const { url } = await serve(async (request, response) => {
      const bare = new PassThrough()
      stop(bare)
      const { method, headers } = request
      const kept = Object.assign(bare, { method, headers, rawBody: Buffer.from(message) })
      request.resume()
      await receiver.node(kept, response)
    })
    expect((await post(url, message)).status).toBe(200)
    expect(handled).toHaveLength(1)
  })
})

/** A request of Nitro's presets (node-mock-http): it says that it has ended, and emits nothing. */
const placeholder = (): object =>
  Object.assign(new EventEmitter(), {
    readableEnded: true,
    readableFlowing: false,
    readableDidRead: false,
    destroyed: false,
    read() {},
    resume() {},
    destroy() {},
  })

describe('a body that the platform has stored', () => {
  const message = JSON.stringify(activity({ team: 'Zoë ✓' }))
  const streamOf = (bytes: Buffer | undefined): ReadableStream =>
    new ReadableStream({
      start(controller) {
        if (bytes) controller.enqueue(bytes)
        controller.close()
      },
    })

  const BODIES: [name: string, store: (bytes: Buffer) => unknown][] = [
    ['an ArrayBuffer', (bytes) => Uint8Array.from(bytes).buffer],
    ['an ArrayBuffer of another realm', (bytes) => runInNewContext('Uint8Array.from(bytes).buffer', { bytes })],
    ['a Uint8Array', (bytes) => new Uint8Array(bytes)],
    ['a DataView', (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)],
    ['an Int8Array', (bytes) => new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)],
    ['a Blob', (bytes) => new Blob([Uint8Array.from(bytes)])],
    ['a ReadableStream', (bytes) => streamOf(bytes)],
    [
      'a ReadableStream of ArrayBuffers',
      (bytes) => new Blob([Uint8Array.from(bytes)]).stream().pipeThrough(toBuffers()),
    ],
    ['a Node.js stream', (bytes) => Readable.from([bytes.subarray(0, 7), bytes.subarray(7)])],
  ]
  const toBuffers = (): TransformStream<Uint8Array, ArrayBuffer> =>
    new TransformStream({ transform: (chunk, controller) => controller.enqueue(Uint8Array.from(chunk).buffer) })
  const STREAMS: [name: string, make: () => object][] = [
    ['the placeholder of Nitro', placeholder],
    ['an empty stream', () => Readable.from([])],
    ['a stream that never ends', () => new Readable({ read() {} })],
    ['a destroyed stream', () => new PassThrough().destroy()],
  ]
  const TEXT: typeof BODIES = [['text', (bytes) => String(bytes)]]

  /** Passes a request with the given stream and body to the receiver, and returns the status. */
  async function statusOf(
    receiver: WebhookReceiver,
    stream: object,
    stored: { body?: unknown; rawBody?: unknown },
    headers = signedHeaders(message),
  ): Promise<number> {
    const { url } = await serve(async (request, response) => {
      request.resume()
      const { method } = request
      const kept = stream as IncomingMessage
      for (const [name, value] of Object.entries({ method, headers: request.headers, ...stored })) {
        Object.defineProperty(kept, name, { value })
      }
      await receiver.node(kept, response)
    })
    return (await post(url, message, headers)).status
  }

  test.each(
    STREAMS.flatMap(([streamName, make]) =>
      [...BODIES, ...(streamName === 'a stream that never ends' ? [] : TEXT)].flatMap(([name, store]) =>
        (['body', 'rawBody'] as const).map((property) => ({ streamName, make, name, store, property })),
      ),
    ),
  )('as $name in $property, beside $streamName, is handled', async ({ make, store, property }) => {
    const { receiver, handled, errors } = observedReceiver()
    // The bytes are in the middle of their buffer.
    const bytes = Buffer.from(`--${message}--`).subarray(2, -2)
    expect(await statusOf(receiver, make(), { [property]: store(bytes) })).toBe(200)
    expect([handled.length, errors]).toEqual([1, []])
  })

  test.each(BODIES)('as %s is measured and verified', async (_, store) => {
    const { receiver, rejections } = observedReceiver({ maxBodyBytes: message.length + 10 })
    const stored = (text: string) => ({ body: store(Buffer.from(text)) })
    expect(await statusOf(receiver, Readable.from([]), stored(message.padEnd(message.length + 20)))).toBe(413)
    expect(await statusOf(receiver, Readable.from([]), stored(`${message} `))).toBe(401)
    expect(rejections).toMatchObject([{ reason: 'too_large' }, { reason: 'signature_mismatch' }])
  })

  test.each<[name: string, body: unknown]>([
    ['an object', JSON.parse(message)],
    ['an array', [1]],
    ['a number', 1],
    ['a FormData', new FormData()],
    ['a Map', new Map()],
    ['a stream of objects', Readable.from([{ id: '1' }])],
    ['a web stream of objects', Readable.toWeb(Readable.from([{ id: '1' }]))],
  ])('as %s gets 500 beside an empty stream', async (_, body) => {
    const { receiver, errors } = observedReceiver()
    expect(await statusOf(receiver, Readable.from([]), { body })).toBe(500)
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' }, context: { stage: 'body' } }])
  })

  test.each<[name: string, body: () => Promise<unknown>]>([
    [
      'web stream that was read',
      async () => {
        const stream = streamOf(Buffer.from(message))
        await new Response(stream).text()
        return stream
      },
    ],
    [
      'locked web stream',
      async () => {
        const stream = streamOf(Buffer.from(message))
        stream.getReader()
        return stream
      },
    ],
    [
      'Node.js stream that was read',
      async () => {
        const stream = Readable.from([Buffer.from(message)])
        await stream.toArray()
        return stream
      },
    ],
  ])('as a %s gets 500, and onError receives the fix', async (_, body) => {
    const { receiver, errors } = observedReceiver()
    expect(await statusOf(receiver, Readable.from([]), { body: await body() })).toBe(500)
    expect(errors).toMatchObject([
      { error: { code: 'body_not_raw', message: expect.stringMatching(/was read before/) } },
    ])
  })

  test.each<[name: string, body: unknown]>([
    ['null', null],
    ['an empty object', {}],
    ['an empty text', ''],
    ['an empty ArrayBuffer', new ArrayBuffer(0)],
    ['an empty Blob', new Blob([])],
    ['an empty web stream', streamOf(undefined)],
  ])('as %s is verified as an empty body, beside an empty stream', async (_, body) => {
    const { receiver, rejections, errors } = observedReceiver()
    expect(await statusOf(receiver, Readable.from([]), { body })).toBe(401)
    expect(rejections).toMatchObject([{ reason: 'signature_mismatch' }])
    expect(errors).toEqual([])
  })
})

describe('a stream that other code is reading', () => {
  test('is read to its end, and the bytes in rawBody are used', async () => {
    const { receiver, handled } = observedReceiver()
    const begun = deferred()
    const { port } = await serveReceiver(receiver, async (request) => {
      const collecting = Object.assign(request, { rawBody: '' })
      request.on('data', (chunk) => {
        collecting.rawBody += chunk
        begun.resolve()
      })
      await begun.promise
    })
    const { socket, received } = await rawConnection(port)
    const body = JSON.stringify(activity())
    socket.write(`${HEAD}${HEADER}: ${sign(body)}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 20)}`)
    await begun.promise
    socket.write(body.slice(20))
    await expect.poll(() => received()).toMatch(/^HTTP\/1\.1 200 /)
    expect(handled).toHaveLength(1)
  })

  test('is rejected at once when the sender disconnects', async () => {
    const { receiver, rejections } = observedReceiver()
    const begun = deferred()
    const { port, finished } = await serveReceiver(receiver, async (request) => {
      request.on('data', () => begun.resolve())
      await begun.promise
      // The sender disconnects while the receiver waits.
      setImmediate(() => socket.destroy())
    })
    const { socket } = await rawConnection(port)
    socket.write(`${SIGNED_HEAD}content-length: 1000\r\n\r\n{"id":`)
    await finished
    expect(rejections).toMatchObject([{ reason: 'body_aborted' }])
  })
})

describe('a body that was read before', () => {
  async function readAll(request: IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  test('is used when its bytes are stored as req.rawBody, beside a parsed req.body', async () => {
    const { receiver, handled } = observedReceiver()
    const { url } = await serveReceiver(receiver, async (request) => {
      const rawBody = await readAll(request)
      Object.assign(request, { rawBody, body: JSON.parse(String(rawBody)) })
    })
    expect((await post(url, JSON.stringify(activity({ team: 'Zoë ✓' })))).status).toBe(200)
    expect(handled).toHaveLength(1)
  })

  test.each<[name: string, parse: (body: Buffer) => unknown, words: RegExp]>([
    ['as an object', (body) => ({ body: JSON.parse(String(body)) }), /req\.body is parsed.*express\.raw/],
    ['nowhere', () => ({}), /stream was read.*are lost/],
  ])('gets 500 when it is stored %s, and onError receives the fix', async (_, parse, words) => {
    const { receiver, errors, handled } = observedReceiver()
    const { url } = await serveReceiver(receiver, async (request) =>
      Object.assign(request, parse(await readAll(request))),
    )
    const response = await post(url, JSON.stringify(activity()))
    expect([response.status, await response.json()]).toEqual([500, { ok: false, error: 'internal_error' }])
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' }, context: { stage: 'body' } }])
    expect(errors[0]?.error).toBeInstanceOf(WebhookError)
    expect(String(errors[0]?.error)).toMatch(words)
    expect(handled).toEqual([])
  })

  test('gets 500 at once when half of it was read', async () => {
    const { receiver, errors } = observedReceiver()
    const { url } = await serveReceiver(
      receiver,
      (request) => new Promise<void>((resolve) => request.once('data', () => resolve())),
    )
    expect((await post(url, JSON.stringify(activity()))).status).toBe(500)
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' } }])
  })

  test('is verified as an empty body when it was empty', async () => {
    const { receiver, errors, rejections } = observedReceiver()
    const { url } = await serveReceiver(
      receiver,
      (request) => new Promise<void>((resolve) => request.resume().on('end', () => resolve())),
    )
    expect((await post(url, '', WELL_FORMED)).status).toBe(401)
    expect((await post(url, '')).status).toBe(400)
    expect(rejections).toMatchObject([{ reason: 'signature_mismatch' }, { reason: 'invalid_json' }])
    expect(errors).toEqual([])
  })

  test.each([401, 200])('is read from the stream, even if the getter of req.body throws: %i', async (status) => {
    const { receiver, errors } = observedReceiver()
    const { url } = await serveReceiver(receiver, (request) => {
      Object.defineProperty(request, 'body', {
        get() {
          throw new Error('Invalid JSON')
        },
      })
    })
    const body = status === 200 ? JSON.stringify(activity()) : ''
    expect((await post(url, body, status === 200 ? undefined : WELL_FORMED)).status).toBe(status)
    expect(errors).toEqual([])
  })

  test('gets 500 when the getter of req.body throws, and onError receives the fix', async () => {
    const { receiver, errors, rejections } = observedReceiver()
    const { url } = await serveReceiver(receiver, async (request) => {
      await readAll(request)
      Object.defineProperty(request, 'body', {
        get() {
          throw new Error('Invalid JSON')
        },
      })
    })
    expect((await post(url, JSON.stringify(activity()))).status).toBe(500)
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' }, context: { stage: 'body' } }])
    expect(rejections).toMatchObject([{ reason: 'body_not_raw' }])
  })

  test('is converted to bytes when the stream emits text', async () => {
    const { receiver } = observedReceiver()
    const { url } = await serveReceiver(receiver, (request) => request.setEncoding('utf8'))
    expect((await post(url, JSON.stringify(activity({ team: 'Zoë ✓' })))).status).toBe(200)
  })
})

async function connectHttp2(receiver: WebhookReceiver): Promise<ClientHttp2Session> {
  const server = createServer(receiver.node).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  return client
}

test('over HTTP/2, a signed message is handled, a forged one is refused, and a body over the limit is 413', async () => {
  const { receiver, handled } = observedReceiver({ maxBodyBytes: 1_000 })
  const client = await connectHttp2(receiver)
  const statusOf = async (body: string, headers: Record<string, string>): Promise<unknown> => {
    const request = client.request({ ':method': 'POST', ...headers })
    request.on('error', () => undefined)
    request.end(body)
    const [response] = await once(request, 'response')
    request.close()
    return response[':status']
  }
  const body = JSON.stringify(activity())
  expect(await statusOf(body, signedHeaders(body))).toBe(200)
  expect(await statusOf(body, WELL_FORMED)).toBe(401)
  expect(await statusOf('x'.repeat(5_000), WELL_FORMED)).toBe(413)
  expect(handled).toHaveLength(1)
})

test('over http2, a sender that continues after the refusal is stopped', async () => {
  const client = await connectHttp2(observedReceiver().receiver)
  const request = client.request({ ':method': 'POST' })
  const closed = once(request, 'close')
  const [response] = await once(request, 'response')
  expect(response[':status']).toBe(401)
  request.resume()
  let written = 0
  const write = (): void => {
    if (request.closed || written > 64) return
    written += 1
    request.write(Buffer.alloc(65_536), write)
  }
  write()
  await closed
  expect(written).toBeLessThan(64)
})

test('an empty request is refused by its signature, even on a server with optimizeEmptyRequests', async () => {
  const { receiver, rejections, errors } = observedReceiver()
  // Node.js 24 and later never emit `end` for such a request. Earlier versions ignore the option.
  const options: ServerOptions = { optimizeEmptyRequests: true } as ServerOptions
  const { port } = await serve((request, response) => void receiver.node(request, response), options)
  const { socket, received, closed } = await rawConnection(port)
  socket.write(`${SIGNED_HEAD}connection: close\r\n\r\n`)
  await closed
  expect(received()).toMatch(/^HTTP\/1\.1 401 /)
  expect(rejections).toMatchObject([{ reason: 'signature_mismatch' }])
  expect(errors).toEqual([])
})

describe('a request with a readable listener, which pauses the stream', () => {
  test('that does not read: the receiver reads the body', async () => {
    const { receiver, handled } = observedReceiver()
    const { url } = await serveReceiver(receiver, (request) => request.on('readable', () => {}))
    expect((await post(url, JSON.stringify(activity({ team: 'x'.repeat(200_000) })))).status).toBe(200)
    expect(handled).toHaveLength(1)
  })

  test('that was added before the body arrived: the receiver reads the body', async () => {
    const { receiver, handled } = observedReceiver()
    const { url } = await serveReceiver(
      receiver,
      (request) => new Promise<void>((resolve) => request.once('readable', () => setTimeout(resolve, 20))),
    )
    const { url: listening } = await serveReceiver(receiver, (request) => {
      request.on('readable', () => {})
      return new Promise<void>((resolve) => request.once('readable', () => setTimeout(resolve, 20)))
    })
    expect((await post(url, JSON.stringify(activity()))).status).toBe(200)
    expect((await post(listening, JSON.stringify(activity()))).status).toBe(200)
    expect(handled).toHaveLength(2)
  })

  test('with a body that arrives slowly: every part is read', async () => {
    const { receiver, handled } = observedReceiver()
    const { port, arrived, finished } = await serveReceiver(receiver, (request) => request.on('readable', () => {}))
    const { socket, received } = await rawConnection(port)
    const body = JSON.stringify(activity())
    socket.write(`${HEAD}${HEADER}: ${sign(body)}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`)
    await arrived
    await new Promise((resolve) => setImmediate(resolve))
    socket.write(body.slice(10))
    await finished
    expect(handled).toHaveLength(1)
    await expect.poll(() => received()).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('that reads the stream as well: both receive the body', async () => {
    const { receiver, handled } = observedReceiver()
    const copies: Buffer[] = []
    const { url } = await serve((request, response) => {
      request.on('readable', () => {
        for (let chunk = request.read(); chunk !== null; chunk = request.read()) copies.push(chunk)
      })
      return receiver.node(request, response)
    })
    const body = JSON.stringify(activity())
    expect((await post(url, body)).status).toBe(200)
    expect(handled).toHaveLength(1)
    expect(String(Buffer.concat(copies))).toBe(body)
  })

  test('that has read a part: 500, and onError receives the cause', async () => {
    const { receiver, errors } = observedReceiver()
    const { url } = await serveReceiver(
      receiver,
      (request) => new Promise<void>((resolve) => request.once('readable', () => resolve(void request.read(1)))),
    )
    expect((await post(url, JSON.stringify(activity()))).status).toBe(500)
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' } }])
  })

  test('with a body that is too large: 413, and the connection serves the next message', async () => {
    const { receiver } = observedReceiver({ maxBodyBytes: 1000 })
    const sockets = new Set<unknown>()
    const { port } = await serveReceiver(receiver, (request) => {
      sockets.add(request.socket)
      request.on('readable', () => {})
    })
    const statusOf = overOneConnection(port, { 'transfer-encoding': 'chunked' })
    expect(await statusOf('x'.repeat(300_000))).toBe(413)
    expect(await statusOf(JSON.stringify(activity()))).toBe(200)
    expect(sockets.size).toBe(1)
  })
})

describe('shutting down', () => {
  /** Shuts down during a delivery, like `examples/webhook-node.ts` on SIGTERM, and returns the response. */
  async function answerOfShutdown(timeoutMs: number, end: () => void, running: Promise<void>): Promise<Response> {
    const started = deferred()
    const { receiver } = observedReceiver({
      handle: async () => {
        started.resolve()
        await running
      },
    })
    const { url, server } = await serve(receiver.node)
    const answer = post(url, JSON.stringify(activity()))
    await started.promise
    const closed = receiver.close({ timeoutMs })
    end()
    await closed
    server.closeAllConnections()
    return answer
  }

  test('when close() resolves, the response of a finished handler is sent', async () => {
    const running = deferred()
    const answer = await answerOfShutdown(60_000, () => running.resolve(), running.promise)
    expect([answer.status, await answer.json()]).toEqual([200, { ok: true, result: 'handled' }])
  })

  test('when close() resolves, the response of an aborted handler is sent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const answer = await answerOfShutdown(0, () => void vi.advanceTimersByTimeAsync(1000), new Promise(() => {}))
    expect([answer.status, await answer.json()]).toEqual([503, { ok: false, error: 'unavailable' }])
  })
})
