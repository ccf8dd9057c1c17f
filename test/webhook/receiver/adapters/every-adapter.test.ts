import type { AddressInfo } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import type { WebhookReceiver } from 'campaign-client/webhook'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { unreadableValues } from '../../../support/unreadable-values.ts'
import { activity, HEADER, sign, signedHeaders } from '../../signed-message.ts'
import { deferred, observedReceiver } from '../observed-receiver.ts'
import { serve } from './loopback-server.ts'
import { rawConnection } from './raw-connection.ts'

const PATH = '/webhooks/campaign'

/** Each function starts a server for the test, and returns its port. */
const SERVERS: Readonly<Record<string, (receiver: WebhookReceiver) => Promise<number>>> = {
  'node:http': async (receiver) => (await serve(receiver.node)).port,
  Express: async (receiver) => (await serve(express().all(PATH, receiver.node))).port,
  async Fastify(receiver) {
    const app = fastify({ forceCloseConnections: true })
    await app.register(receiver.fastify, { prefix: PATH })
    await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    return (app.server.address() as AddressInfo).port
  },
  async 'Hono over node:http'(receiver) {
    const app = new Hono()
    app.all(PATH, (context) => receiver.fetch(context.req.raw))
    // Hono replaces both globals. Restore them after the test.
    for (const name of ['Request', 'Response'] as const) vi.stubGlobal(name, globalThis[name])
    onTestFinished(() => void vi.unstubAllGlobals())
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await new Promise<void>((resolve) => server.once('listening', resolve))
    onTestFinished(() => {
      if ('closeAllConnections' in server) server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  },
}

/** Sends a request, and returns the response. */
type Send = (body: string, headers: Record<string, string>, method?: string) => Promise<Response>

const OVER_HTTP = Object.entries(SERVERS).map(([name, start]) => {
  const connect = async (receiver: WebhookReceiver): Promise<Send> => {
    const url = `http://127.0.0.1:${await start(receiver)}${PATH}`
    return (body, headers, method = 'POST') => fetch(url, { method, headers, ...(method === 'POST' && { body }) })
  }
  return [name, connect] as const
})

const ADAPTERS: Readonly<Record<string, (receiver: WebhookReceiver) => Promise<Send>>> = {
  ...Object.fromEntries(OVER_HTTP),
  'the fetch API':
    async (receiver) =>
    (body, headers, method = 'POST') =>
      receiver.fetch(new Request('http://receiver.test/', { method, headers, ...(method === 'POST' && { body }) })),
  Lambda:
    async (receiver) =>
    async (body, headers, httpMethod = 'POST') => {
      const result = await receiver.lambda({ httpMethod, headers, body })
      return new Response(result.body, { status: result.statusCode, headers: result.headers ?? {} })
    },
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe.each(Object.entries(ADAPTERS))('over %s', (_, connect) => {
  /** Connects to a receiver. The function sends a signed message, and returns the status of the response. */
  async function delivering(receiver: WebhookReceiver): Promise<(message: unknown) => Promise<number>> {
    const send = await connect(receiver)
    return async (message) => {
      const body = JSON.stringify(message)
      return (await send(body, signedHeaders(body))).status
    }
  }

  test('a signed message is handled, a forged one is refused, and a duplicate is recognised', async () => {
    const { receiver, handled } = observedReceiver()
    const send = await connect(receiver)
    const body = JSON.stringify(activity({ team: 'Zoë ✓' }), null, 2)
    const first = await send(body, signedHeaders(body))
    expect([first.status, await first.json()]).toEqual([200, { ok: true, result: 'handled' }])
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect((await send(body, signedHeaders(`${body} `))).status).toBe(401)
    const second = await send(body, signedHeaders(body))
    expect([second.status, await second.json()]).toEqual([200, { ok: true, result: 'duplicate' }])
    expect(handled).toHaveLength(1)
  })

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is 405 with an Allow header', async (method) => {
    const send = await connect(observedReceiver().receiver)
    const response = await send('', {}, method)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('a body over the limit is 413, and the sender receives the response', async () => {
    const send = await connect(observedReceiver().receiver)
    const body = 'a'.repeat(600_000)
    const response = await send(body, signedHeaders(body))
    expect([response.status, await response.json()]).toEqual([413, { ok: false, error: 'payload_too_large' }])
  })

  test.each(unreadableValues)(
    'a handler that throws $name gets 500, its claim is released, and onError receives the value',
    async ({ create }) => {
      const thrown = create()
      let isFirst = true
      const { receiver, errors, rejections } = observedReceiver({
        handle() {
          if (!isFirst) return
          isFirst = false
          throw thrown
        },
      })
      const deliver = await delivering(receiver)
      const message = activity()
      expect(await deliver(message)).toBe(500)
      expect(errors.map(({ context }) => context.stage)).toEqual(['handle'])
      expect(errors[0]?.error === thrown).toBe(true)
      expect(rejections.map(({ reason }) => reason)).toEqual(['handler_failed'])
      expect(await deliver(message)).toBe(200)
    },
  )

  test('a failing handler is written to the console, even if the thrown value cannot be printed', async () => {
    const warnings: unknown[][] = []
    vi.spyOn(console, 'warn').mockImplementation((...words) => {
      warnings.push(words)
      // As the console of Node.js does for a value with such a method.
      if (words.some((word) => typeof word === 'object')) throw new Error('cannot be printed')
    })
    const { receiver } = observedReceiver({ onError: undefined, handle: () => Promise.reject({}) })
    expect(await (await delivering(receiver))(activity())).toBe(500)
    expect(warnings.map((words) => words.length)).toEqual([2, 1])
    expect(warnings[1]?.[0]).toMatch(/handle failed/)
  })

  test('a handler that returns because close() fired its signal gets 503, and the next attempt is handled', async () => {
    const started = deferred()
    const first = observedReceiver({
      handle: (_event, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', resolve)
          started.resolve()
        }),
    })
    const deliver = await delivering(first.receiver)
    const status = deliver(activity())
    await started.promise
    await first.receiver.close({ timeoutMs: 0 })
    expect(await status).toBe(503)
    expect(first.rejections).toMatchObject([{ reason: 'closing' }])
  })
})

const HEAD = `POST ${PATH} HTTP/1.1\r\nhost: receiver.test\r\n`
const BODY = 'x'.repeat(400_000)

const statuses = (text: string): string[] => text.match(/HTTP\/1\.1 \d+/g) ?? []

describe.each(Object.entries(SERVERS))('%s: a malformed signature header', (_, start) => {
  const headers = { 'no header': '', 'the prefix sha256=': `${HEADER}: sha256=${'a'.repeat(64)}\r\n` }

  test.each(Object.entries(headers))('is refused before the body arrives: %s', async (__, header) => {
    const { receiver, rejections } = observedReceiver()
    const { socket, received } = await rawConnection(await start(receiver))
    socket.write(`${HEAD}${header}content-length: ${BODY.length}\r\n\r\n`)
    await expect.poll(() => statuses(received())).toEqual(['HTTP/1.1 401'])
    expect(rejections).toHaveLength(1)
  })

  test('is refused while a body of 400 KB arrives, and the connection is kept or closed cleanly', async () => {
    const { receiver, handled } = observedReceiver()
    const { socket, received, closed } = await rawConnection(await start(receiver))
    socket.write(`${HEAD}content-length: ${BODY.length}\r\n\r\n`)
    await expect.poll(() => statuses(received())).toEqual(['HTTP/1.1 401'])
    socket.write(BODY)
    const message = JSON.stringify(activity())
    socket.write(`${HEAD}${HEADER}: ${sign(message)}\r\ncontent-length: ${message.length}\r\n\r\n${message}`)
    let isClosed = false
    void closed.then(() => {
      isClosed = true
    })
    await expect.poll(() => isClosed || statuses(received()).length > 1).toBe(true)
    // A server must announce that it closes the connection, or the next message is lost.
    if (isClosed) return expect(received()).toMatch(/connection: close/i)
    expect(statuses(received())).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200'])
    expect(handled).toHaveLength(1)
  })

  test('gets a response without a connection reset when the body has 400 KB', async () => {
    const { receiver } = observedReceiver()
    const port = await start(receiver)
    for (let sent = 0; sent < 10; sent++) {
      const { socket, received } = await rawConnection(port)
      const errors: unknown[] = []
      socket.on('error', (error) => errors.push(error))
      socket.write(`${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY}`)
      await expect.poll(() => statuses(received())).toEqual(['HTTP/1.1 401'])
      expect(errors).toEqual([])
    }
  })
})
