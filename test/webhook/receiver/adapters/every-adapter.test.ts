import type { WebhookReceiver } from 'campaign-client/webhook'
import fastify from 'fastify'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { unreadableValues } from '../../../support/unreadable-values.ts'
import { activity, deliveryOf, signedHeaders } from '../../signed-message.ts'
import { deferred, observedReceiver } from '../observed-receiver.ts'
import { serve } from './loopback-server.ts'

/** Delivers a message and returns the status of the response. */
type Deliver = (message: unknown) => Promise<number>

async function post(url: string, message: unknown): Promise<number> {
  const body = JSON.stringify(message)
  return (await fetch(url, { method: 'POST', headers: signedHeaders(body), body })).status
}

const ADAPTERS: Record<string, (receiver: WebhookReceiver) => Promise<Deliver>> = {
  fetch: async (receiver) => async (message) => (await receiver.fetch(deliveryOf(message))).status,
  async node(receiver) {
    const { url } = await serve(receiver.node)
    return (message) => post(url, message)
  },
  lambda: async (receiver) => async (message) => {
    const body = JSON.stringify(message)
    return (await receiver.lambda({ httpMethod: 'POST', headers: signedHeaders(body), body })).statusCode
  },
  async fastify(receiver) {
    const app = fastify({ forceCloseConnections: true })
    await app.register(receiver.fastify, { prefix: '/webhooks/campaign' })
    onTestFinished(() => app.close())
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    return (message) => post(`${address}/webhooks/campaign`, message)
  },
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe.each(Object.entries(ADAPTERS))('receiver.%s', (_, connect) => {
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
      const deliver = await connect(receiver)
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
    expect(await (await connect(receiver))(activity())).toBe(500)
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
    const deliver = await connect(first.receiver)
    const status = deliver(activity())
    await started.promise
    await first.receiver.close({ timeoutMs: 0 })
    expect(await status).toBe(503)
    expect(first.rejections).toMatchObject([{ reason: 'closing' }])
  })
})
