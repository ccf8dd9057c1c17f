import type { AddressInfo } from 'node:net'
import { diagnoseWebhook } from 'campaign-client/webhook'
import express, { type RequestHandler } from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { activity, HEADER, SECRET, signedHeaders } from '../../signed-message.ts'
import { type ObservedReceiver, observedReceiver } from '../observed-receiver.ts'

interface Mounted extends ObservedReceiver {
  post(body: string, headers?: Record<string, string>): Promise<Response>
  url: string
}

async function mounted(...front: RequestHandler[]): Promise<Mounted> {
  const observed = observedReceiver()
  const app = express()
  if (front.length > 0) app.use(...front)
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
  return { ...observed, post, url }
}

const message = (): string => JSON.stringify(activity({ team: 'Zoë ✓' }), null, 2)

describe('Express 5', () => {
  test('no body parser: handled', async () => {
    const { post, handled, url } = await mounted()
    const body = message()
    expect((await post(body)).status).toBe(200)
    expect((await post(body)).status).toBe(200)
    expect(handled).toHaveLength(1)
    expect((await post(body, signedHeaders('other'))).status).toBe(401)
    expect((await fetch(url)).status).toBe(405)
  })

  test('after express.json(): 500, and the log names the parser', async () => {
    const { post, handled, errors } = await mounted(express.json())
    const response = await post(message())
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('express')
    expect(String(errors[0]?.error)).toContain('express.json()')
    expect(handled).toEqual([])
  })

  test('after express.json() for another content type: handled', async () => {
    const { post } = await mounted(express.json())
    expect((await post(message(), { 'content-type': 'application/vnd.campaign' })).status).toBe(200)
  })

  test('after express.json() that keeps the bytes: handled', async () => {
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

  test('after express.text() with another charset: diagnose() equals diagnoseWebhook', async () => {
    const given: unknown[] = []
    const keep: RequestHandler = (request, _response, next) => {
      given.push(request.body)
      next()
    }
    const { post, rejections } = await mounted(express.text({ type: '*/*', defaultCharset: 'latin1' }), keep)
    const body = message()
    expect((await post(body)).status).toBe(401)
    const found = rejections[0]?.diagnose().map(({ code }) => code)
    expect(found).toEqual(['wrong_charset'])
    const signature = signedHeaders(body)[HEADER]
    expect(diagnoseWebhook(SECRET, given[0] as string, signature).map(({ code }) => code)).toEqual(found)
  })

  test('after express.json(): diagnose() equals diagnoseWebhook', async () => {
    const { post, rejections } = await mounted(express.json())
    expect((await post(message())).status).toBe(500)
    expect(rejections[0]?.diagnose().map(({ code }) => code)).toEqual(['parsed_body'])
  })

  test('a body that is too large: 413', async () => {
    const { post } = await mounted()
    expect((await post('a'.repeat(300_000))).status).toBe(413)
  })
})
