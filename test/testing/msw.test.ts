import { createCampaignService } from 'campaign-client/testing'
import { campaignHandlers } from 'campaign-client/testing/msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { BASE_URL, caller, ok, refused } from './rest.ts'

const service = createCampaignService()
const server = setupServer(...campaignHandlers(service, { baseUrl: BASE_URL }))
const { get, post, raw } = caller((...args) => globalThis.fetch(...args))
const reward = { address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'r', xp: 1 }

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => server.close())

test('the handlers respond to the global fetch from the service', async () => {
  expect(await get('/code', { code: 'UNUSED-2026', pid: 'demo' })).toMatchObject(ok({ used_by: [] }))
  expect(await post('/wallet/reward', reward)).toMatchObject(ok())
  expect(await post('/wallet/reward', reward)).toMatchObject(refused(400))
  expect(service.state.awards).toHaveLength(1)
  expect((await raw('/code?code=UNUSED-2026&pid=demo')).status).toBe(401)
  expect((await get('/nothing')).status).toBe(404)
})

test('a lost response is a network error, and a status fault is a response', async () => {
  service.fail({ kind: 'applied_then_reset' })
  await expect(post('/wallet/reward', reward)).rejects.toThrow(TypeError)
  expect(service.state.awards).toHaveLength(1)
  service.fail({ kind: 'status', status: 503, headers: { 'Retry-After': '1' } })
  const busy = await get('/campaign/info', { pid: 'demo' })
  expect(busy.status).toBe(503)
  expect(busy.headers.get('retry-after')).toBe('1')
})

test('a hanging request ends when the caller aborts', async () => {
  service.fail({ kind: 'hang' })
  const controller = new AbortController()
  const call = get('/campaign/info', { pid: 'demo' }, { signal: controller.signal })
  call.catch(() => {})
  while (service.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  controller.abort()
  await expect(call).rejects.toMatchObject({ name: 'AbortError' })
})

test('a truncated response is incomplete', async () => {
  service.fail({ kind: 'truncate' })
  await expect(get('/campaign/info', { pid: 'demo' })).rejects.toThrow(TypeError)
})

test('a redirect is returned unchanged', async () => {
  service.fail({ kind: 'status', status: 302, headers: { location: '/api/v1/code' } })
  expect((await raw('/campaign/info', { redirect: 'manual' })).status).toBe(302)
  expect(service.requests).toHaveLength(1)
})

test.each([
  'https://campaign.example',
  'https://campaign.example/api/v2',
  'https://campaign.example/api/v10',
  'https://campaign.example/proxy/api/v1',
  '/api/v1',
  'https://h/api/v1?x',
  'https://h/api/v1#x',
])('campaignHandlers refuses the baseUrl %s', (baseUrl) => {
  expect(() => campaignHandlers(service, { baseUrl })).toThrow(/^campaignHandlers: baseUrl must/)
})

test('campaignHandlers accepts a trailing slash and a URL object', () => {
  expect(campaignHandlers(service, { baseUrl: `${BASE_URL}/` })).toHaveLength(1)
  expect(campaignHandlers(service, { baseUrl: new URL(BASE_URL) })).toHaveLength(1)
})
