import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { activity, deliveryOf, signedHeaders } from '../../signed-message.ts'
import { observedReceiver } from '../observed-receiver.ts'
import { serve } from './loopback-server.ts'

describe('Next', () => {
  test('a route handler: export const POST = receiver.fetch', async () => {
    const { receiver, handled } = observedReceiver()
    // The type that Next requires for an export of a route file.
    const POST: (request: Request, context: { params: Promise<Record<string, string>> }) => Promise<Response> =
      receiver.fetch
    const message = activity()
    const context = { params: Promise.resolve({}) }
    expect((await POST(deliveryOf(message), context)).status).toBe(200)
    expect((await POST(deliveryOf(message), context)).status).toBe(200)
    expect((await POST(deliveryOf(message, { secret: 'forged' }), context)).status).toBe(401)
    expect(handled).toHaveLength(1)
  })

  /** Prepares a request as Next does for an API route of the pages directory. */
  function pagesRoute(
    handler: (request: IncomingMessage & { body?: unknown }, response: ServerResponse) => Promise<void>,
    { bodyParser }: { bodyParser: boolean },
  ): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
    return async (request, response) => {
      if (bodyParser) {
        let text = ''
        request.setEncoding('utf8')
        for await (const chunk of request) text += chunk
        Object.assign(request, { body: JSON.parse(text) })
      }
      await handler(request, response)
    }
  }

  test.each([
    [false, 200],
    [true, 500],
  ])('an API route with bodyParser %s gets %d', async (bodyParser, status) => {
    const { receiver, errors } = observedReceiver()
    const { url } = await serve(pagesRoute(receiver.node, { bodyParser }))
    const body = JSON.stringify(activity())
    expect((await fetch(url, { method: 'POST', headers: signedHeaders(body), body })).status).toBe(status)
    if (bodyParser) expect(String(errors[0]?.error)).toContain('api: { bodyParser: false }')
    else expect(errors).toEqual([])
  })
})
