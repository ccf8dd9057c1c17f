import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { signWebhook } from 'campaign-client/webhook'

const SECRET = 'a secret of this endpoint'
const nitro = 'node_modules/nitropack/dist/cli/index.mjs'

before(() => {
  const page = readFileSync('node_modules/campaign-client/docs/webhook-frameworks.md', 'utf8')
  const [, sample] = /^```js \[Nuxt, Nitro\]\n([\s\S]*?)^```$/m.exec(page)
  writeFileSync('server/routes/webhooks/campaign.js', sample)
})

/** Builds the project for a preset, and imports the file that the platform runs. */
async function build(preset, output) {
  execFileSync(process.execPath, [nitro, 'build', '--preset', preset], { encoding: 'utf8' })
  return import(pathToFileURL(output).href)
}

/** Asks the routes of `receiver.node` and of the documented sample for the status of genuine, forged and repeated messages. */
async function checkRoutes(send) {
  process.env.CAMPAIGN_WEBHOOK_SECRET = SECRET
  for (const route of ['node', 'campaign']) {
    const body = JSON.stringify({ id: `message-${route}`, scope: 'other', user: 'Zoë ✓' })
    const post = async (secret, text = body) => {
      const headers = { 'content-type': 'application/json', 'x-service-signature': signWebhook(secret, text) }
      const request = new Request(`http://site.example/webhooks/${route}`, { method: 'POST', headers, body: text })
      const response = await send(request)
      return [response.status, await response.json()]
    }
    assert.deepEqual(await post(SECRET), [200, { ok: true, result: 'handled' }], route)
    assert.deepEqual(await post(SECRET), [200, { ok: true, result: 'duplicate' }], route)
    assert.equal((await post('another secret'))[0], 401, route)
    assert.equal((await post('another secret', ''))[0], 401, route)
    assert.equal((await post(SECRET, `"${'a'.repeat(300_000)}"`))[0], 413, route)
    assert.equal((await send(new Request(`http://site.example/webhooks/${route}`))).status, 405, route)
  }
}

test('the preset netlify, which passes a stream as the body, verifies messages', { timeout: 240_000 }, async () => {
  const { default: handler } = await build('netlify', '.netlify/functions-internal/server/server.mjs')
  await checkRoutes((request) => handler(request, {}))
})

test('the preset bun, which passes an ArrayBuffer as the body, verifies messages', { timeout: 240_000 }, async () => {
  // The test calls the function that the output passes to Bun.
  let options
  globalThis.Bun = {
    serve(given) {
      options = given
      return { url: 'http://site.example/' }
    },
  }
  await build('bun', '.output/server/index.mjs')
  await checkRoutes((request) => options.fetch(request, { requestIP: () => null }))
})
