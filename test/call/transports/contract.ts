import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from 'campaign-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cancellationOf } from '../../../src/shared/timers.ts'
import {
  closedAddress,
  httpServer,
  json,
  type LoopbackServer,
  type Responder,
  reset,
  silence,
  tcpServer,
} from '../loopback-server.ts'

/** A transport under test. */
export interface TransportUnderTest {
  readonly transport: Transport
  /** Called after each test. */
  readonly close?: () => void | Promise<void>
}

const DATA = { success: true, data: { text: 'zoë 🚀' } }
const TEXT = JSON.stringify(DATA)

/**
 * Tests the contract of a transport over real connections.
 *
 * @param options - `sends421`: how often a request is sent if its response is a 421. Node's `fetch` retries it once.
 *   `knowsUnsent`: whether the transport can report `sent: false`. No `fetch` can.
 */
export function transportContract(
  name: string,
  create: () => TransportUnderTest,
  { sends421 = 1, knowsUnsent = true } = {},
): void {
  describe(name, () => {
    let underTest: TransportUnderTest
    const servers: LoopbackServer[] = []
    const unhandled = vi.fn()
    const warnings = vi.fn()

    beforeEach(() => {
      underTest = create()
      unhandled.mockReset()
      warnings.mockReset()
      process.on('unhandledRejection', unhandled)
      process.on('warning', warnings)
    })

    afterEach(async () => {
      await underTest.close?.()
      await Promise.all(servers.splice(0).map((server) => server.close()))
      await new Promise((resolve) => setImmediate(resolve))
      process.off('unhandledRejection', unhandled)
      process.off('warning', warnings)
      expect(unhandled).not.toHaveBeenCalled()
      expect(warnings).not.toHaveBeenCalled()
    })

    async function started(server: Promise<LoopbackServer>): Promise<LoopbackServer> {
      servers.push(await server)
      return server
    }

    function send(
      baseUrl: string,
      request: Partial<TransportRequest> = {},
      signal: AbortSignal = new AbortController().signal,
    ): Promise<TransportResponse> {
      const whole: TransportRequest = {
        method: 'GET',
        url: `${baseUrl}/thing?pid=d%C3%A9mo`,
        headers: { accept: 'application/json', authorization: 'Bearer the-token' },
        idempotent: true,
        maxResponseBytes: 1_000_000,
        ...request,
      }
      return underTest.transport.send(whole, cancellationOf(signal))
    }

    const write = (baseUrl: string, signal?: AbortSignal): Promise<TransportResponse> =>
      send(
        baseUrl,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer the-token' },
          body: '{"id":"zoë 🚀"}',
          idempotent: false,
        },
        signal,
      )

    async function failureOf(sending: Promise<unknown>): Promise<TransportError> {
      const reason = await sending.then(
        (response) => expect.unreachable(`responded ${JSON.stringify(response)}`),
        (error: unknown) => error,
      )
      expect(reason).toBeInstanceOf(TransportError)
      return reason as TransportError
    }

    describe('a request', () => {
      test('has its method, path, query and headers', async () => {
        const server = await started(httpServer(json(DATA)))
        await send(server.baseUrl, { headers: { 'x-mine': 'Zoë', authorization: 'Bearer the-token' } })
        expect(server.requests).toMatchObject([
          {
            method: 'GET',
            url: '/api/v1/thing?pid=d%C3%A9mo',
            headers: { authorization: 'Bearer the-token' },
            body: '',
          },
        ])
        // Node decodes header bytes as Latin-1.
        expect(server.requests[0]?.headers['x-mine']).toBe('Zoë')
      })

      test('has its body in UTF-8 with a content-length', async () => {
        const server = await started(httpServer(json(DATA)))
        await write(server.baseUrl)
        expect(server.requests).toMatchObject([
          {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'content-length': '18' },
            body: '{"id":"zoë 🚀"}',
          },
        ])
      })

      test('with a body has its headers in Latin-1', async () => {
        const server = await started(httpServer(json(DATA)))
        await send(server.baseUrl, {
          method: 'POST',
          headers: { 'x-mine': 'Zoë' },
          body: '{"id":"zoë"}',
          idempotent: false,
        })
        expect(server.requests[0]?.headers['x-mine']).toBe('Zoë')
      })

      test('without a body has no headers about a body', async () => {
        const server = await started(httpServer(json(DATA)))
        await send(server.baseUrl)
        expect(server.requests[0]?.headers).not.toHaveProperty('content-type')
        expect(server.requests[0]?.headers).not.toHaveProperty('transfer-encoding')
      })

      test('has no cookies of earlier responses', async () => {
        const server = await started(httpServer(json(DATA, 200, { 'set-cookie': 'session=1; Path=/' })))
        await send(server.baseUrl)
        await send(server.baseUrl)
        expect(server.requests[1]?.headers).not.toHaveProperty('cookie')
      })
    })

    describe('a response', () => {
      test.each([200, 201, 400, 401, 404, 421, 429, 500, 503])(
        'of %i is returned with its status and its text',
        async (status) => {
          const server = await started(httpServer(json(DATA, status)))
          const response = await write(server.baseUrl)
          expect(response).toMatchObject({ status, text: TEXT, complete: true })
        },
      )

      test("of 421 causes no retry, except by Node's fetch", async () => {
        const server = await started(httpServer(json(DATA, 421)))
        await write(server.baseUrl)
        expect(server.requests).toHaveLength(sends421)
      })

      test('returns headers by name in any letter case, and null for absent ones', async () => {
        const server = await started(httpServer(json(DATA, 200, { 'X-Request-Id': 'r1' })))
        const { header } = await send(server.baseUrl)
        expect([header('x-request-id'), header('X-REQUEST-ID'), header('x-none')]).toEqual(['r1', 'r1', null])
      })

      test.each([204, 304])('of %i has no text', async (status) => {
        const server = await started(httpServer((response) => response.writeHead(status).end()))
        expect(await send(server.baseUrl)).toMatchObject({ status, text: '', complete: true })
      })

      test('without a body has no text', async () => {
        const server = await started(httpServer((response) => response.end()))
        expect(await send(server.baseUrl)).toMatchObject({ status: 200, text: '', complete: true })
      })

      test('in thousands of chunks of one byte, which split characters, is complete', async () => {
        const bytes = Buffer.from(TEXT.repeat(Math.ceil(5_000 / TEXT.length)))
        const server = await started(
          tcpServer((socket) => {
            const pieces = Array.from(bytes, (byte) => Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a]))
            const head = Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
            const response = Buffer.concat([head, ...pieces, Buffer.from('0\r\n\r\n')])
            socket.once('data', () => socket.end(response))
          }),
        )
        expect(await send(server.baseUrl)).toMatchObject({ text: bytes.toString(), complete: true })
      })

      test('has no byte order mark', async () => {
        const server = await started(httpServer((response) => response.end(`\uFEFF${TEXT}`)))
        expect((await send(server.baseUrl)).text).toBe(TEXT)
      })

      test('that ends with the connection is complete', async () => {
        const server = await started(tcpServer((socket) => answerOnce(socket, `HTTP/1.1 200 OK\r\n\r\n${TEXT}`)))
        expect(await send(server.baseUrl)).toMatchObject({ text: TEXT, complete: true })
      })

      test.each([
        ['gzip', gzipSync(TEXT)],
        ['deflate', deflateSync(TEXT)],
        ['br', brotliCompressSync(TEXT)],
        ['gzip, gzip', gzipSync(gzipSync(TEXT))],
        ['deflate,br', brotliCompressSync(deflateSync(TEXT))],
        ['BR , x-gzip', gzipSync(brotliCompressSync(TEXT))],
        [
          'gzip, deflate, br, gzip, deflate',
          [gzipSync, deflateSync, brotliCompressSync, gzipSync, deflateSync].reduce(
            (text, compress) => compress(text),
            Buffer.from(TEXT),
          ),
        ],
      ])('compressed by %s is decompressed in reverse order', async (encodings, body) => {
        const server = await started(
          httpServer((response) => response.writeHead(200, { 'content-encoding': encodings }).end(body)),
        )
        expect(await send(server.baseUrl)).toMatchObject({ text: TEXT, complete: true })
      })

      test.each(['identity', 'gzip, identity', 'made-up, gzip', 'gzip, ', ','])(
        'is returned unchanged if its encoding is unknown: %s',
        async (encodings) => {
          const server = await started(
            httpServer((response) => response.writeHead(200, { 'content-encoding': encodings }).end(TEXT)),
          )
          expect(await send(server.baseUrl)).toMatchObject({ text: TEXT, complete: true })
        },
      )

      test.each([102, 103])('that follows an informational %i is returned', async (status) => {
        const server = await started(
          tcpServer((socket) =>
            answerOnce(
              socket,
              `HTTP/1.1 ${status} Interim\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(TEXT)}\r\n\r\n${TEXT}`,
            ),
          ),
        )
        expect(await send(server.baseUrl)).toMatchObject({ status: 200, text: TEXT })
      })
    })

    describe('a redirect', () => {
      test.each([300, 301, 302, 303, 307, 308])('of %i is not followed', async (status) => {
        const elsewhere = await started(httpServer(json(DATA)))
        const server = await started(
          httpServer((response) => response.writeHead(status, { location: `${elsewhere.baseUrl}/x` }).end('moved')),
        )
        expect(await write(server.baseUrl)).toMatchObject({ status, text: '' })
        expect(server.requests).toHaveLength(1)
        expect(elsewhere.sockets).toHaveLength(0)
      })

      test('with an endless body does not delay the call', async () => {
        const server = await started(
          httpServer((response) => {
            response.writeHead(302, { location: '/' }).write('x')
          }),
        )
        expect(await send(server.baseUrl)).toMatchObject({ status: 302 })
        await expect.poll(() => server.sockets[0]?.destroyed).toBe(true)
      })
    })

    describe('a failed response', () => {
      const beforeAResponse: readonly [string, Responder][] = [
        ['reset', reset],
        ['closed', (response) => response.socket?.end()],
        ['closed within the status line', (response) => response.socket?.end('HTTP/1.1 20')],
        ['closed within the headers', (response) => response.socket?.end('HTTP/1.1 200 OK\r\ncontent-ty')],
        ['closed after bytes that are not HTTP', (response) => response.socket?.end('220 mail.example ESMTP\r\n\r\n')],
      ]

      test.each(beforeAResponse)(
        'lost before the end of its headers (%s) causes an error with sent: true, and no retry',
        async (how, lose) => {
          const server = await started(httpServer(lose))
          for (const sending of [send, write]) {
            const arrived = server.requests.length
            const error = await failureOf(sending(server.baseUrl))
            expect(error).toMatchObject({ kind: 'network', sent: true })
            // From Node 24 on, the error of `fetch` for bytes that are not HTTP has no code.
            if (error.systemCode !== undefined || knowsUnsent || !how.includes('not HTTP')) {
              expect(error.systemCode).toEqual(expect.any(String))
            }
            expect(server.requests).toHaveLength(arrived + 1)
          }
        },
      )

      test('lost before the request was read causes an error with sent: true', async () => {
        const server = await started(tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())))
        expect(await failureOf(write(server.baseUrl))).toMatchObject({ kind: 'network', sent: true })
      })

      const withinTheBody = (status: number): readonly [string, Responder][] => [
        [
          'reset',
          (response) => {
            response.writeHead(status, { 'content-length': '500' })
            response.write(TEXT, () => response.socket?.resetAndDestroy())
          },
        ],
        [
          'reset when the headers have been read',
          async (response) => {
            response.writeHead(status, { 'content-length': '500' })
            response.write(TEXT)
            for (let turn = 0; turn < 10; turn++) await nextTurn()
            response.socket?.resetAndDestroy()
          },
        ],
        [
          'closed too early',
          (response) => response.socket?.end(`HTTP/1.1 ${status} X\r\ncontent-length: 500\r\n\r\n${TEXT}`),
        ],
        [
          'closed within a chunk',
          (response) => response.socket?.end(`HTTP/1.1 ${status} X\r\ntransfer-encoding: chunked\r\n\r\nff\r\n${TEXT}`),
        ],
        [
          'closed within compressed data',
          (response) => {
            response.writeHead(status, { 'content-encoding': 'gzip', 'content-length': '500' })
            response.write(gzipSync(TEXT).subarray(0, 20), () => response.socket?.end())
          },
        ],
        ['not compressed', (response) => response.writeHead(status, { 'content-encoding': 'gzip' }).end(TEXT)],
      ]

      test.each(
        [200, 400, 503].flatMap((status) => withinTheBody(status).map(([how, lose]) => ({ status, how, lose }))),
      )('lost within the body of a $status ($how) keeps the status', async ({ status, lose }) => {
        const server = await started(httpServer(lose))
        expect(await write(server.baseUrl)).toMatchObject({ status, complete: false, cause: expect.any(Error) })
        expect(server.requests).toHaveLength(1)
      })
    })

    describe(`a refused connection causes an error with sent: ${!knowsUnsent}`, () => {
      test.each(['127.0.0.1', 'localhost'])('for %s', async (host) => {
        const error = await failureOf(write((await closedAddress()).replace('127.0.0.1', host)))
        expect(error).toMatchObject({ kind: 'network', sent: !knowsUnsent, systemCode: 'ECONNREFUSED' })
      })
    })

    describe('a response that is too large', () => {
      const size = 5_000
      const text = 'x'.repeat(size)
      const ways: readonly [string, Responder][] = [
        ['with a content-length', (response) => response.writeHead(200, { 'content-length': String(size) }).end(text)],
        [
          'in chunks',
          (response) => {
            response.write(text.slice(0, size / 2), () => response.end(text.slice(size / 2)))
          },
        ],
        ['compressed', (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))],
        [
          'compressed twice',
          (response) =>
            response.writeHead(200, { 'content-encoding': 'br, gzip' }).end(gzipSync(brotliCompressSync(text))),
        ],
      ]

      test.each(ways)('%s is refused, and a response of exactly maxResponseBytes is accepted', async (_, respond) => {
        const server = await started(httpServer(respond))
        expect(await send(server.baseUrl, { maxResponseBytes: size })).toMatchObject({ text, complete: true })
        const error = await failureOf(send(server.baseUrl, { maxResponseBytes: size - 1 }))
        expect(error).toMatchObject({ kind: 'too_large', sent: true, status: 200 })
        expect(error.message).toContain(String(size - 1))
      })

      test('is counted in bytes, not in characters', async () => {
        const server = await started(httpServer((response) => response.end('€'.repeat(100))))
        expect(await send(server.baseUrl, { maxResponseBytes: 300 })).toMatchObject({ complete: true })
        expect(await failureOf(send(server.baseUrl, { maxResponseBytes: 299 }))).toMatchObject({ kind: 'too_large' })
      })

      test('closes the connection', async () => {
        const server = await started(
          httpServer((response) => {
            // Node.js 26 also calls back after the connection was closed. The loop would then never end.
            const next = (error?: Error | null): void => {
              if (!error) setImmediate(more)
            }
            const more = (): boolean => response.write('x'.repeat(1_000), next)
            response.on('error', () => undefined)
            more()
          }),
        )
        expect(await failureOf(send(server.baseUrl, { maxResponseBytes: 10_000 }))).toMatchObject({ kind: 'too_large' })
        await expect.poll(() => server.sockets[0]?.destroyed).toBe(true)
      })

      test.each([400, 500])('keeps the status of a %i', async (status) => {
        const server = await started(httpServer((response) => response.writeHead(status).end(text)))
        expect(await send(server.baseUrl, { maxResponseBytes: 10 })).toMatchObject({ status, complete: false })
      })
    })

    describe('an abort', () => {
      const stages: readonly [string, () => Promise<LoopbackServer>][] = [
        ['before a response', () => httpServer(silence)],
        ['within the headers', () => tcpServer((socket) => socket.resume().write('HTTP/1.1 200 OK\r\ncontent'))],
        [
          'within the body',
          () =>
            httpServer((response) => {
              response.writeHead(200, { 'content-length': '100' }).write('{')
            }),
        ],
        [
          'within the body of an error response',
          () =>
            httpServer((response) => {
              response.writeHead(503, { 'content-length': '100' }).write('{')
            }),
        ],
      ]

      test.each(stages)('%s rejects with its reason, and closes the connection', async (_, start) => {
        const server = await started(start())
        const controller = new AbortController()
        const reason = new Error('enough')
        const sending = write(server.baseUrl, controller.signal).catch((error: unknown) => error)
        await server.clientHasRead()
        controller.abort(reason)
        expect(await sending).toBe(reason)
        await expect.poll(() => server.sockets[0]?.destroyed).toBe(true)
      })

      test('before the request sends nothing', async () => {
        const server = await started(httpServer(json(DATA)))
        const reason = new Error('enough')
        expect(await write(server.baseUrl, AbortSignal.abort(reason)).catch((error: unknown) => error)).toBe(reason)
        await server.connectionsClosed()
        expect(server.requests).toHaveLength(0)
      })

      test('after the response has no effect and leaves no listener', async () => {
        const server = await started(httpServer(json(DATA)))
        const controller = new AbortController()
        const response = await send(server.baseUrl, {}, controller.signal)
        controller.abort(new Error('late'))
        expect(response.text).toBe(TEXT)
        expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
      })
    })

    describe('connections', () => {
      test('are reused by later requests', async () => {
        const server = await started(httpServer(json(DATA)))
        for (let request = 0; request < 10; request++) await send(server.baseUrl)
        // A second connection is possible: the next request may begin before the first is released.
        expect(server.sockets.length).toBeLessThanOrEqual(2)
      })

      test('closed by the server while idle do not lose or duplicate a write', async () => {
        const server = await started(httpServer(json(DATA)))
        for (let request = 1; request <= 3; request++) {
          expect(await write(server.baseUrl)).toMatchObject({ status: 200 })
          for (const socket of server.sockets) socket.end()
          await expect.poll(() => server.sockets.every(({ destroyed }) => destroyed)).toBe(true)
          expect(server.requests).toHaveLength(request)
        }
      })

      test('serve 64 requests at once', async () => {
        const server = await started(
          httpServer((response, { url }) => {
            const query = new URL(url, 'http://loopback').search
            setTimeout(() => response.end(query), query.length % 3)
          }),
        )
        const queries = Array.from({ length: 64 }, (_, index) => `?q=${'x'.repeat(index)}`)
        const responses = await Promise.all(
          queries.map((query) => send(server.baseUrl, { url: `${server.baseUrl}${query}` })),
        )
        expect(responses.map(({ text }) => text)).toEqual(queries)
      })
    })
  })
}

/** Waits for the request, then responds and closes the connection. */
function answerOnce(socket: import('node:net').Socket, text: string): void {
  socket.once('data', () => socket.end(text))
}
