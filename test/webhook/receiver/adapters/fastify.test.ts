import { Readable } from 'node:stream'
import fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { activity, HEADER, sign, signedHeaders, WELL_FORMED } from '../../signed-message.ts'
import { type ObservedReceiver, observedReceiver } from '../observed-receiver.ts'
import { rawConnection } from './raw-connection.ts'

interface Mounted extends ObservedReceiver {
  app: FastifyInstance
  post(body: string, headers?: Record<string, string>): Promise<Response>
  url: string
}

async function mounted(
  options: FastifyServerOptions = {},
  prepare: (app: FastifyInstance) => void = () => {},
): Promise<Mounted> {
  const observed = observedReceiver()
  const app = fastify({ ...options, forceCloseConnections: true }) as FastifyInstance
  prepare(app)
  await app.register(observed.receiver.fastify, { prefix: '/webhooks/campaign' })
  app.post('/echo', async (request) => ({ body: request.body }))
  onTestFinished(() => app.close())
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/webhooks/campaign`
  const post: Mounted['post'] = (body, headers) =>
    fetch(url, { method: 'POST', headers: { ...signedHeaders(body), ...headers }, body })
  return { ...observed, app, post, url }
}

const message = (): string => JSON.stringify(activity({ team: 'Zoë ✓' }), null, 2)

describe('Fastify 5', () => {
  test('the content type parsers of the application are not changed', async () => {
    const { app } = await mounted()
    const response = await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 } })
    expect(response.json()).toEqual({ body: { a: 1 } })
    const text = await app.inject({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': 'image/png' },
      payload: 'x',
    })
    expect(text.statusCode).toBe(415)
  })

  const documented = ['application/json', 'application/json; charset=utf-8', 'text/plain', 'image/png']
  // Fastify refuses these.
  const odd = ['x', 'json', ';', 'application/', 'application/json, text/plain', 'a/b/c', '*', '*/*', 'ü/json']
  test.each([...documented, ...odd])('the content type %j does not matter', async (type) => {
    const { post, handled, rejections } = await mounted()
    const body = message()
    expect((await post(body, { 'content-type': type })).status).toBe(200)
    expect(handled).toHaveLength(1)
    expect((await post(body, { 'content-type': type, ...WELL_FORMED })).status).toBe(401)
    expect(rejections).toMatchObject([{ reason: 'signature_mismatch' }])
  })

  test('an error in a hook of the application does not reach the receiver', async () => {
    const { post, handled, errors } = await mounted({}, (app) => {
      app.addHook('preParsing', async () => {
        throw Object.assign(new Error('not today'), { statusCode: 418 })
      })
    })
    const response = await post(message())
    expect([response.status, await response.json()]).toMatchObject([418, { message: 'not today' }])
    expect([handled, errors]).toEqual([[], []])
  })

  test('an empty request is refused by its signature, even on a server with optimizeEmptyRequests', async () => {
    const { url, rejections, errors } = await mounted({ http: { optimizeEmptyRequests: true } } as object)
    const { port } = new URL(url)
    const { socket, received, closed } = await rawConnection(Number(port))
    const [name, value] = Object.entries(WELL_FORMED)[0] as [string, string]
    socket.write(`POST /webhooks/campaign HTTP/1.1\r\nhost: a\r\n${name}: ${value}\r\nconnection: close\r\n\r\n`)
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 401 /)
    expect(rejections).toMatchObject([{ reason: 'signature_mismatch' }])
    expect(errors).toEqual([])
  })

  test('a message without a content type is handled', async () => {
    const { app } = await mounted()
    const body = message()
    const response = await app.inject({
      method: 'POST',
      url: '/webhooks/campaign',
      headers: { [HEADER]: sign(body) },
      payload: Readable.from([Buffer.from(body)]),
    })
    expect(response.statusCode).toBe(200)
  })

  test('the limit of the receiver applies, not the limit of the application', async () => {
    const { post } = await mounted({ bodyLimit: 50 })
    expect((await post(message())).status).toBe(200)
    expect((await post('a'.repeat(300_000))).status).toBe(413)
  })

  test('the receiver reads the stream that a hook returns, such as a decompressed one', async () => {
    const body = message()
    const { post } = await mounted({}, (app) => {
      app.addHook('preParsing', async (_request, _reply, payload) => {
        payload.resume()
        return Readable.from([Buffer.from(body)])
      })
    })
    expect((await post('x', signedHeaders(body))).status).toBe(200)
  })

  test('a hook that returns a stream of objects: 500, and onError receives the cause', async () => {
    const { post, errors } = await mounted({}, (app) => {
      app.addHook('preParsing', async (_request, _reply, payload) => {
        payload.resume()
        return Readable.from([{ id: 1 }])
      })
    })
    expect((await post(message())).status).toBe(500)
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' }, context: { stage: 'body' } }])
  })

  test.each(['onRequest', 'preParsing', 'preValidation'] as const)(
    'a hook (%s) that consumes the body: 500, and onError receives the cause',
    async (hook) => {
      const { post, errors } = await mounted({}, (app) => {
        app.addHook(hook, async (request: FastifyRequest) => {
          for await (const _ of request.raw);
        })
      })
      expect((await post(message())).status).toBe(500)
      expect(errors).toMatchObject([{ error: { code: 'body_not_raw' }, context: { stage: 'body' } }])
    },
  )

  test('two receivers work in one application', async () => {
    const { app, handled } = await mounted()
    const other = observedReceiver({ endpoint: 'other', secret: 'other' })
    const second = fastify()
    onTestFinished(() => second.close())
    await second.register(other.receiver.fastify, { prefix: '/a' })
    await second.register(observedReceiver().receiver.fastify, { prefix: '/b' })
    const body = message()
    const headers = signedHeaders(body, 'other')
    expect((await second.inject({ method: 'POST', url: '/a', headers, payload: body })).statusCode).toBe(200)
    expect((await second.inject({ method: 'POST', url: '/b', headers, payload: body })).statusCode).toBe(401)
    expect((await app.inject({ method: 'POST', url: '/webhooks/campaign', headers, payload: body })).statusCode).toBe(
      401,
    )
    expect(handled).toEqual([])
  })
})
