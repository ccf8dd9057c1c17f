import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { bundle, startWorkerd } from './workerd.js'

const LIMITED = { status: 429, headers: { 'retry-after': '1' } }

// The responses to the abandoned calls of each situation. The service is silent after the last one.
const situations = [
  {
    title: 'a call abandoned after a 429',
    responses: [LIMITED],
    abandonedAt: ['retry 1'],
  },
  {
    title: 'a call abandoned while it waits for a slow token source',
    slowSource: 1,
    abandonedAt: ['source 1'],
    sourceCalls: 2,
  },
  {
    title: 'a call abandoned while it renews the token after a 401',
    slowSource: 2,
    responses: [{ status: 401 }],
    abandonedAt: ['source 2'],
    sourceCalls: 3,
  },
  {
    title: 'a probe abandoned after a 429',
    responses: [LIMITED],
    abandonedAt: ['request 2'],
  },
  {
    title: 'two calls abandoned under maxConcurrency: 2',
    options: { limits: { maxConcurrency: 2 } },
    abandonedAt: ['request 1', 'request 1'],
  },
  {
    title: 'a call abandoned in the queue',
    options: { limits: { maxConcurrency: 1 } },
    abandonedAt: ['request 1', 'start'],
  },
]

test('in one isolate, the next calls succeed after', { timeout: 300_000, concurrency: true }, async (context) => {
  await bundle('isolate.js', 'isolate.bundle.js')
  const responses = new Map()
  const server = createServer(async (request, response) => {
    const [, name] = /token-(\w+)-/.exec(request.headers.authorization)
    const { id } = await json(request)
    const next = id.startsWith('abandoned') ? responses.get(name).shift() : { status: 200 }
    if (next === undefined) return
    response.writeHead(next.status, next.headers).end(JSON.stringify({ success: next.status === 200, data: {} }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => server.close().closeAllConnections())
  const port = await startWorkerd(context, 'isolate.capnp', {
    BASE_URL: `http://127.0.0.1:${server.address().port}/api/v1`,
  })
  const call = async (body) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(body) })
    return response.json()
  }

  await Promise.all(
    situations.map(({ title, responses: given = [], abandonedAt, options, slowSource, sourceCalls = 1 }, index) =>
      context.test(title, async () => {
        const client = { name: `client${index}`, options: { timeoutMs: 5_000, ...options }, slowSource }
        responses.set(client.name, [...given])
        for (const [nth, leaveAt] of abandonedAt.entries()) {
          assert.equal((await call({ ...client, id: `abandoned-${nth}`, leaveAt })).state, 'left')
        }
        for (const id of ['next', 'last']) {
          assert.deepEqual(await call({ ...client, id }), { state: 'awarded', sourceCalls })
        }
      }),
    ),
  )
})
