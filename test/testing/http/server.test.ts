import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { CampaignClient, ConfigurationError } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, test, vi } from 'vitest'
import { caller } from '../rest.ts'

const WALLET = `0x${'1'.repeat(40)}`
const reward = (id: string) => ({ address: WALLET, pid: 'demo', id, xp: 1 })

describe('listen', () => {
  test('rejects without node:http, and names it', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => undefined as never)
    await expect(createCampaignService().listen()).rejects.toThrow('service.listen() needs node:http')
    vi.restoreAllMocks()
  })

  test('returns a server whose close ends all connections and can be called twice', async () => {
    const service = createCampaignService()
    const server = await service.listen()
    const { get } = caller(globalThis.fetch, { baseUrl: server.url })
    expect((await get('/campaign/info', { pid: 'demo' })).status).toBe(200)
    service.fail({ kind: 'hang' })
    const hanging = get('/campaign/info', { pid: 'demo' })
    hanging.catch(() => {})
    while (service.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
    const closing = server.close()
    expect(server.close()).toBe(closing)
    await closing
    await expect(hanging).rejects.toThrow('fetch failed')
    await expect(get('/campaign/info', { pid: 'demo' })).rejects.toThrow('fetch failed')
  })

  test.each([
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
  ])('on %s has a URL with the host %s', async (host, urlHost) => {
    const service = createCampaignService()
    const server = await service.listen({ host })
    expect(server.url).toBe(`http://${urlHost}:${server.port}/api/v1`)
    const client = new CampaignClient({ baseUrl: server.url, accessToken: 'any' })
    expect(await client.getCampaignInfo({ pid: 'demo' })).toHaveProperty('id', 'demo')
    await server.close()
  })

  test('can be called several times', async () => {
    const service = createCampaignService()
    const servers = [await service.listen(), await service.listen()]
    for (const [index, { url, close, port }] of servers.entries()) {
      expect(url).toBe(`http://127.0.0.1:${port}/api/v1`)
      await caller(globalThis.fetch, { baseUrl: url }).post('/wallet/reward', reward(`r${index}`))
      await close()
    }
    expect(service.state.awards).toHaveLength(2)
  })

  test('rejects an invalid port and a port in use', async () => {
    const service = createCampaignService()
    await expect(service.listen({ port: 65_536 })).rejects.toThrow(
      'listen: port must be a whole number, 0 or more and at most 65535, got 65536',
    )
    await expect(service.listen({ port: '80' as never })).rejects.toThrow(ConfigurationError)
    const server = await service.listen()
    await expect(service.listen({ port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await server.close()
  })

  test('lets intercept respond to a request instead of the service', async () => {
    const service = createCampaignService()
    const server = await service.listen({
      intercept(request, response) {
        if ((request as IncomingMessage).url !== '/health') return false
        ;(response as ServerResponse).end('healthy')
        return true
      },
    })
    const { raw } = caller(globalThis.fetch, { baseUrl: `http://127.0.0.1:${server.port}` })
    expect(await (await raw('/health')).text()).toBe('healthy')
    expect((await raw('/healthy')).status).toBe(404)
    expect(service.requests.map(({ path }) => path)).toEqual(['/healthy'])
    await server.close()
  })

  test.each([
    ['before', () => {}],
    ['within', (response: ServerResponse) => response.writeHead(200, { 'content-length': 100 }).write('half')],
  ])('closes the connection if intercept throws %s its response', async (_, begin) => {
    let isFailing = true
    const server = await createCampaignService().listen({
      intercept(_, response) {
        if (!isFailing) return false
        begin(response as ServerResponse)
        throw new Error('the page is broken')
      },
    })
    const client = new CampaignClient({ baseUrl: server.url, accessToken: 'any', maxRetries: 0 })
    await expect(client.getCampaignInfo({ pid: 'demo' })).rejects.toHaveProperty('code', 'network')
    isFailing = false
    expect(await client.getCampaignInfo({ pid: 'demo' })).toHaveProperty('id', 'demo')
    await server.close()
  })

  test('reads a body only up to the limit', async () => {
    const service = createCampaignService()
    const { url, close } = await service.listen()
    const headers = { authorization: 'Bearer any', 'content-type': 'application/json' }
    const response = await fetch(`${url}/user`, { method: 'POST', headers, body: 'x'.repeat(5_000_000) })
    expect(response.status).toBe(400)
    expect(service.requests[0]?.bodySize).toBeGreaterThan(1_048_576)
    expect(service.requests[0]?.bodySize).toBeLessThan(1_200_000)
    await close()
  })

  test.each([9, 6000, 10_080])('refuses port %i, which fetch blocks', async (port) => {
    await expect(createCampaignService().listen({ port })).rejects.toThrow(
      `listen: port must be a port that fetch does not block, got ${port}`,
    )
  })

  test('serves a request without a Host header', async () => {
    const service = createCampaignService()
    const server = await service.listen()
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.write('GET /api/v1/code HTTP/1.0\r\n\r\n'))
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('end', () => resolve(text))
      socket.on('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(service.requests[0]?.url).toBe('http://127.0.0.1/api/v1/code')
    await server.close()
  })

  test('responds with 404 to a path with two slashes', async () => {
    const service = createCampaignService()
    const server = await service.listen()
    const { raw } = caller(globalThis.fetch, { baseUrl: `http://127.0.0.1:${server.port}` })
    expect((await raw('//other.example/api/v1/campaign/info?pid=demo')).status).toBe(404)
    await server.close()
  })
})
