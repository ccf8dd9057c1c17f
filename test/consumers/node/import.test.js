import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { test } from 'node:test'

// Node loads its HTTP stack when one of these names is first read: half the time of an import. ky reads them when it is loaded.
const used = new Set()
for (const name of ['fetch', 'FormData', 'Headers', 'Request', 'Response', 'WebSocket', 'EventSource']) {
  const value = globalThis[name]
  Object.defineProperty(globalThis, name, {
    get() {
      used.add(name)
      return value
    },
  })
}
const entryPoints = ['', '/node', '/webhook', '/bulk', '/schemas', '/testing'].map((path) => `campaign-client${path}`)

test('an import does not load the HTTP stack of Node', async () => {
  for (const name of entryPoints) await import(name)
  assert.deepEqual([...used], [])
})

test('a require does not load the HTTP stack of Node', () => {
  const require = createRequire(import.meta.url)
  for (const name of entryPoints) require(name)
  assert.deepEqual([...used], [])
})

test('only calls over fetch load it', async (context) => {
  const { CampaignClient } = await import('campaign-client')
  const { nodeTransport } = await import('campaign-client/node')
  const server = createServer((_request, response) => response.end('{"success":true,"data":{}}')).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  context.after(() => server.close().closeAllConnections())
  const options = { baseUrl: `http://127.0.0.1:${server.address().port}/api/v1`, accessToken: 'a-long-token' }
  const call = (more) =>
    new CampaignClient({ ...options, ...more }).updateUser({ account: 'ada', platform: 'discord', pid: 'demo' })

  const transport = nodeTransport()
  context.after(() => transport.close())
  await call({ transport })
  assert.deepEqual([...used], [])
  await call({})
  assert.ok(used.has('Request') && used.has('FormData'))
})
