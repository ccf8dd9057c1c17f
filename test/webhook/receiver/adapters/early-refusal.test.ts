import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import type { WebhookReceiver } from 'campaign-client/webhook'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { activity, HEADER, sign } from '../../signed-message.ts'
import { observedReceiver } from '../observed-receiver.ts'
import { rawConnection } from './raw-connection.ts'

const PATH = '/webhooks/campaign'

/** Each function starts a server for the test, and returns its port. */
const servers: Readonly<Record<string, (receiver: WebhookReceiver) => Promise<number>>> = {
  async 'node:http'(receiver) {
    const server = createServer(receiver.node)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  },
  async Express(receiver) {
    const server = express().all(PATH, receiver.node).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  },
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

const HEAD = `POST ${PATH} HTTP/1.1\r\nhost: receiver.test\r\n`
const BODY = 'x'.repeat(400_000)

const statuses = (text: string): string[] => text.match(/HTTP\/1\.1 \d+/g) ?? []

describe.each(Object.entries(servers))('%s: a malformed signature header', (_, start) => {
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

  test('gets 401 when fetch() sent it', async () => {
    const { receiver, rejections } = observedReceiver()
    const url = `http://127.0.0.1:${await start(receiver)}${PATH}`
    for (let sent = 0; sent < 5; sent++) {
      const response = await fetch(url, { method: 'POST', headers: { [HEADER]: 'none' }, body: BODY })
      expect([response.status, await response.json()]).toEqual([401, { ok: false, error: 'unauthorized' }])
    }
    expect(rejections).toHaveLength(5)
  })
})
