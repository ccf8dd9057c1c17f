import type { AddressInfo } from 'node:net'
import { diagnoseWebhook } from 'campaign-client/webhook'
import express, { type RequestHandler } from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { activity, HEADER, SECRET, signedHeaders } from '../../signed-message.ts'
import { type ObservedReceiver, observedReceiver } from '../observed-receiver.ts'

interface Mounted extends ObservedReceiver {
  post(body: string, headers?: Record<string, string>): Promise<Response>
}

async function mounted(...middleware: RequestHandler[]): Promise<Mounted> {
  const observed = observedReceiver()
  const app = express()
  if (middleware.length > 0) app.use(...middleware)
  app.all('/webhooks/campaign', observed.receiver.node)
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/campaign`
  const post: Mounted['post'] = (body, headers) =>
    fetch(url, { method: 'POST', headers: { ...signedHeaders(body), ...headers }, body })
  return { ...observed, post }
}

const message = (): string => JSON.stringify(activity({ team: 'Zoë ✓' }), null, 2)

describe('Express 5', () => {
  test('after express.json(): 500, and onError receives the name of the parser', async () => {
    const { post, handled, errors, rejections } = await mounted(express.json())
    const response = await post(message())
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('express')
    expect(String(errors[0]?.error)).toContain('express.json()')
    expect(handled).toEqual([])
    expect(rejections[0]?.diagnose().map(({ code }) => code)).toEqual(['parsed_body'])
  })

  test('after express.json() for another content type: handled', async () => {
    const { post } = await mounted(express.json())
    expect((await post(message(), { 'content-type': 'application/vnd.campaign' })).status).toBe(200)
  })

  test('after express.json() that stores the bytes in rawBody: handled', async () => {
    const { post } = await mounted(
      express.json({
        verify(request, _response, bytes) {
          Object.assign(request, { rawBody: bytes })
        },
      }),
    )
    expect((await post(message())).status).toBe(200)
  })

  test.each([
    ['express.raw()', express.raw({ type: '*/*' })],
    ['express.text()', express.text({ type: '*/*' })],
    ['express.urlencoded()', express.urlencoded()],
  ])('after %s: handled', async (_, parser) => {
    const { post } = await mounted(parser)
    expect((await post(message())).status).toBe(200)
  })

  test('after express.text() with another charset: diagnose() finds the same causes as diagnoseWebhook()', async () => {
    const bodies: unknown[] = []
    const recordBody: RequestHandler = (request, _response, next) => {
      bodies.push(request.body)
      next()
    }
    const { post, rejections } = await mounted(express.text({ type: '*/*', defaultCharset: 'latin1' }), recordBody)
    const body = message()
    expect((await post(body)).status).toBe(401)
    const found = rejections[0]?.diagnose().map(({ code }) => code)
    expect(found).toEqual(['wrong_charset'])
    const signature = signedHeaders(body)[HEADER]
    expect(diagnoseWebhook(SECRET, bodies[0] as string, signature).map(({ code }) => code)).toEqual(found)
  })
})
