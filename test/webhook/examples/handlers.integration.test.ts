import { createCampaignService } from 'campaign-client/testing'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { activity, deliveryOf, HEADER, SECRET, sign } from '../signed-message.ts'

let printed: string[]

beforeEach(() => {
  vi.resetModules()
  vi.stubEnv('CAMPAIGN_WEBHOOK_SECRET', SECRET)
  printed = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line))
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

const message = activity({ id: 'm-1', user: 'ada' })
const line = 'm-1: ada earned 10 XP for task a-1'

function lambdaEvent(secret?: string) {
  const body = JSON.stringify(message)
  return {
    headers: { [HEADER]: sign(body, secret) },
    requestContext: { http: { method: 'POST' } },
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  }
}

test('examples/webhook-hono.ts handles a message once, and refuses a forged one', async () => {
  const { default: app } = await import('../../../examples/webhook-hono.ts')
  expect((await app.fetch(deliveryOf(message))).status).toBe(200)
  const work: Promise<unknown>[] = []
  const context = {
    waitUntil: (promise: Promise<unknown>) => void work.push(promise),
    passThroughOnException() {},
    props: {},
  }
  expect((await app.fetch(deliveryOf(activity()), {}, context)).status).toBe(200)
  expect(work).toHaveLength(1)
  expect((await app.fetch(deliveryOf(message))).status).toBe(200)
  expect((await app.fetch(deliveryOf(message, { secret: 'forged' }))).status).toBe(401)
  expect((await app.request('/webhooks/campaign')).status).toBe(405)
  expect(printed.filter((text) => text === line)).toHaveLength(1)
})

test('examples/webhook-worker.ts awards once when a message reaches several isolates', async () => {
  const wallet = '0x52908400098527886E0F7030069857D2E4169EE7'
  const service = createCampaignService()
  vi.stubGlobal('fetch', service.fetch)
  onTestFinished(() => void vi.unstubAllGlobals())
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const env = {
    CAMPAIGN_BASE_URL: 'https://service.example/api/v1',
    CAMPAIGN_ACCESS_TOKEN: 'a-token',
    CAMPAIGN_WEBHOOK_SECRET: SECRET,
  }
  const work: Promise<unknown>[] = []
  const context = { waitUntil: (promise: Promise<unknown>) => void work.push(promise) }
  const quest = activity({ id: 'm-2', wallet, event: { type: 'quest_completed', data: {} } })
  const newIsolate = async () => {
    vi.resetModules()
    return (await import('../../../examples/webhook-worker.ts')).default
  }
  const [first, second] = [await newIsolate(), await newIsolate()]
  for (const isolate of [first, first, second]) {
    expect((await isolate.fetch(deliveryOf(quest), env, context)).status).toBe(200)
  }
  expect((await first.fetch(deliveryOf(quest, { secret: 'forged' }), env, context)).status).toBe(401)
  expect((await first.fetch(new Request('https://partner.example/'), env, context)).status).toBe(404)
  await Promise.all(work)
  expect(service.state.awards.map(({ id, xp }) => `${id} ${xp}`)).toEqual(['quest-bonus:m-2 50'])
  const refused = errors.mock.calls.filter(([text]) => String(text).startsWith('quest-bonus:m-2 was refused'))
  expect(refused).toHaveLength(1)
})

test('examples/webhook-next.ts handles a message once, and refuses a forged one', async () => {
  const { POST } = await import('../../../examples/webhook-next.ts')
  expect((await POST(deliveryOf(message))).status).toBe(200)
  expect((await POST(deliveryOf(message))).status).toBe(200)
  expect((await POST(deliveryOf(message, { secret: 'forged' }))).status).toBe(401)
  expect(printed).toEqual([line])
})

test('examples/webhook-lambda.ts handles a message once, and refuses a forged one', async () => {
  const { handler } = await import('../../../examples/webhook-lambda.ts')
  const context = { getRemainingTimeInMillis: () => 30_000 }
  expect((await handler(lambdaEvent(), context)).statusCode).toBe(200)
  expect((await handler(lambdaEvent(), context)).statusCode).toBe(200)
  expect((await handler(lambdaEvent('forged'), context)).statusCode).toBe(401)
  expect(printed).toEqual([line])
})

test.each(['hono', 'next', 'lambda'])(
  'examples/webhook-%s.ts can be imported without a secret; a message then causes a 503 and a warning',
  async (name) => {
    vi.stubEnv('CAMPAIGN_WEBHOOK_SECRET', undefined)
    const warnings = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { default: app, POST, handler } = await import(`../../../examples/webhook-${name}.ts`)
    const answer = handler ? await handler(lambdaEvent()) : await (POST ?? app.fetch)(deliveryOf(message))
    expect(answer.statusCode ?? answer.status).toBe(503)
    expect(warnings).toHaveBeenCalledTimes(1)
  },
)
