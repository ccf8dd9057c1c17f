import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { describe, expect, test } from 'vitest'
import { activity, deliveryOf, HEADER, signedHeaders } from '../../signed-message.ts'
import { deferred, observedReceiver } from '../observed-receiver.ts'

const PATH = '/webhooks/campaign'

describe('Hono 4', () => {
  test('after a middleware that reads only the headers, a message is handled', async () => {
    const { receiver } = observedReceiver()
    const app = new Hono()
    app.use(bodyLimit({ maxSize: 100_000 }))
    app.post(PATH, (c) => receiver.fetch(c.req.raw))
    const body = JSON.stringify(activity())
    const headers = { ...signedHeaders(body), 'content-length': String(body.length) }
    expect((await app.request(PATH, { method: 'POST', headers, body })).status).toBe(200)
  })

  test('after a middleware that parses the body: 500, and onError receives the cause', async () => {
    const { receiver, errors } = observedReceiver()
    const app = new Hono()
    app.use(async (c, next) => {
      await c.req.json()
      await next()
    })
    app.post(PATH, (c) => receiver.fetch(c.req.raw))
    expect((await app.request(deliveryOf(activity()))).status).toBe(500)
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' }, context: { stage: 'body' } }])
  })

  test('in a Worker, the receiver calls waitUntil of the execution context', async () => {
    const running = deferred()
    const { receiver } = observedReceiver({ handle: () => running.promise })
    const app = new Hono()
    app.post(PATH, (c) => receiver.fetch(c.req.raw, c.executionCtx))
    const work: Promise<unknown>[] = []
    const context = {
      waitUntil: (promise: Promise<unknown>) => void work.push(promise),
      passThroughOnException() {},
      props: {},
    }
    const response = app.fetch(deliveryOf(activity()), {}, context)
    running.resolve()
    expect((await response).status).toBe(200)
    expect(work).toHaveLength(1)
  })

  test('the receiver can be mounted as a fetch handler', async () => {
    const { receiver } = observedReceiver()
    const app = new Hono()
    app.mount('/webhooks', receiver.fetch)
    expect((await app.request(deliveryOf(activity()))).status).toBe(200)
    expect((await app.request(PATH, { method: 'POST', headers: { [HEADER]: 'x' } })).status).toBe(401)
  })
})
