import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { compiled } from '../../support/compiled.ts'
import { type RunningExample, startExample } from '../../support/running-example.ts'
import { activity, SECRET, signedHeaders } from '../signed-message.ts'

const FRAMEWORKS = ['node', 'express', 'fastify', 'nest']
const fileOf = (framework: string): string => `examples/webhook-${framework}.ts`
const pathOf = compiled(...FRAMEWORKS.map(fileOf))

const start = (name: string): Promise<RunningExample> =>
  startExample(pathOf(fileOf(name)), { CAMPAIGN_WEBHOOK_SECRET: SECRET })

describe.each(FRAMEWORKS)('examples/webhook-%s.ts', (name) => {
  test('handles a message once, refuses a forged one, and ends on SIGTERM', async () => {
    const example = await start(name)
    const body = JSON.stringify(activity({ id: 'm-1', user: 'ada' }))
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(example.url, { method: 'POST', headers, body })
    const first = await post(signedHeaders(body))
    expect([first.status, await first.json()]).toEqual([200, { ok: true, result: 'handled' }])
    const second = await post(signedHeaders(body))
    expect([second.status, await second.json()]).toEqual([200, { ok: true, result: 'duplicate' }])
    expect((await post(signedHeaders(body, 'forged'))).status).toBe(401)
    expect((await fetch(example.url)).status).toBe(405)
    expect((await fetch(new URL('/elsewhere', example.url))).status).toBe(404)

    const exited = once(example.process, 'close')
    example.process.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    expect(example.lines).toEqual(['m-1: ada earned 10 XP for task a-1'])
  })
})

test.each(['express', 'fastify'])(
  'examples/webhook-%s.ts lets the framework parse the JSON of other routes',
  async (name) => {
    const { url } = await start(name)
    const response = await fetch(new URL('/echo', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    })
    expect(await response.json()).toEqual({ a: 1 })
  },
)
