const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { copyFileSync, mkdirSync } = require('node:fs')
const { after, before, describe, test } = require('node:test')
const { CampaignClient } = require('campaign-client')
const { createCampaignService } = require('campaign-client/testing')
const { signWebhook } = require('campaign-client/webhook')

const SECRET = 'a secret of this endpoint'
const { CAMPAIGN_WEBHOOK_SECRET: _, ...withoutSecrets } = process.env
const next = require.resolve('next/dist/bin/next')
const service = createCampaignService()
let listening
let env

before(async () => {
  mkdirSync('app/webhooks/campaign', { recursive: true })
  copyFileSync('node_modules/campaign-client/examples/webhook-next.ts', 'app/webhooks/campaign/route.ts')
  listening = await service.listen()
  env = { ...withoutSecrets, NEXT_TELEMETRY_DISABLED: '1', CAMPAIGN_BASE_URL: listening.url }
})
after(() => listening.close())

/** Runs `next build`, while the local service responds, and returns its output. */
async function build(folder, ...flags) {
  const child = spawn(process.execPath, [next, 'build', folder, ...flags], { env })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text))
  const [code] = await once(child, 'close')
  assert.equal(code, 0, printed)
  return printed
}

/** Runs `next start`, and returns the URL. */
async function start(folder, context) {
  const server = spawn(process.execPath, [next, 'start', folder, '--hostname', '127.0.0.1', '--port', '0'], {
    env: { ...env, CAMPAIGN_WEBHOOK_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
    // next starts a child process. The test kills the process group, so that both end.
    detached: true,
  })
  context.after(() => process.kill(-server.pid, 'SIGKILL'))
  let printed = ''
  return new Promise((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`next start ended with ${code}:\n${printed}`)))
    server.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text
      const [, url] = /(http:\/\/127\.0\.0\.1:[1-9]\d*)/.exec(printed) ?? []
      if (url !== undefined && printed.includes('Ready')) resolve(url)
    })
  })
}

const calls = (path) => service.requests.filter((request) => request.path.endsWith(path)).length

/** Opens a page twice, and returns the number of requests to the service. */
async function viewTwice(url, init) {
  const before = calls('/user/progress')
  for (let i = 0; i < 2; i++) {
    const response = await fetch(url, init)
    assert.equal(response.status, 200, url)
    assert.match(await response.text(), /\bxp\b/, url)
  }
  return calls('/user/progress') - before
}

test('without cacheComponents, every page reads and writes at each request', { timeout: 600_000 }, async (context) => {
  const built = await build('.')
  for (const page of ['static', 'expiring', 'session', 'redirecting']) assert.match(built, new RegExp(`ƒ /${page}`))
  assert.match(built, /○ \/cached/)
  // The example builds without a secret.
  assert.match(built, /ƒ \/webhooks\/campaign/)
  const url = await start('.', context)

  assert.equal(await viewTwice(`${url}/static`), 2)
  assert.equal(await viewTwice(`${url}/expiring`), 2)
  assert.equal(await viewTwice(`${url}/session`), 2)
  assert.equal(await viewTwice(`${url}/cached`), 0)
  assert.equal(await viewTwice(`${url}/edge`), 2)
  const redirected = await fetch(`${url}/redirecting`, { redirect: 'manual' })
  assert.deepEqual([redirected.status, redirected.headers.get('location')], [307, '/login'])
  assert.equal(await viewTwice(`${url}/redirecting`, { headers: { cookie: 'token=the-token-of-ada' } }), 2)

  const before = calls('/action/value')
  assert.equal(await (await fetch(`${url}/writes`)).text(), 'recorded')
  assert.equal(calls('/action/value') - before, 3)

  const [, id] = /name="(\$ACTION_ID_\w+)"/.exec(await (await fetch(`${url}/action`)).text())
  const form = new FormData()
  form.set(id, '')
  const done = await fetch(`${url}/action`, { method: 'POST', body: form, redirect: 'manual' })
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/login'])
  assert.equal(calls('/action/value') - before, 4)

  const body = JSON.stringify({ id: 'message-1', scope: 'user_activity' })
  const post = async (secret) => {
    const headers = { 'content-type': 'application/json', 'x-service-signature': signWebhook(secret, body) }
    const response = await fetch(`${url}/webhooks/campaign`, { method: 'POST', headers, body })
    return [response.status, await response.json()]
  }
  assert.deepEqual(await post(SECRET), [200, { ok: true, result: 'handled' }])
  assert.deepEqual(await post(SECRET), [200, { ok: true, result: 'duplicate' }])
  assert.equal((await post('another secret'))[0], 401)
  assert.equal((await fetch(`${url}/webhooks/campaign`)).status, 405)
})

// Webpack also checks the types of the parameters of routes.
test('the example of a route builds with webpack', { timeout: 600_000 }, async () => {
  assert.match(await build('.', '--webpack'), /ƒ \/webhooks\/campaign/)
})

test('with cacheComponents, pages read at each request, except "use cache"', { timeout: 600_000 }, async (context) => {
  const built = await build('cache-components')
  for (const page of ['', 'session']) assert.match(built, new RegExp(`◐ /${page}\\s`))
  assert.match(built, /○ \/cached/)
  const url = await start('cache-components', context)
  assert.equal(await viewTwice(url), 2)
  assert.equal(await viewTwice(`${url}/session`, { headers: { cookie: 'token=the-token-of-ada' } }), 2)
  assert.equal(await viewTwice(`${url}/cached`), 0)
  // The response has begun when the token function calls redirect().
  const redirected = await fetch(`${url}/session`)
  assert.equal(redirected.status, 200)
  assert.match(await redirected.text(), /http-equiv="refresh" content="[^"]*url=\/login"/)
})

describe('the list of digests', () => {
  const { unstable_rethrow } = require('next/dist/client/components/unstable-rethrow')
  const { redirect, notFound } = require('next/dist/client/components/navigation')
  const { DynamicServerError } = require('next/dist/client/components/hooks-server-context')
  const { BailoutToCSRError } = require('next/dist/shared/lib/lazy-dynamic/bailout-to-csr')
  const { makeDynamicHangingPromise } = require('next/dist/server/dynamic-rendering-utils')

  const thrownBy = async (make) => {
    try {
      return await make()
    } catch (error) {
      return error
    }
  }
  const SIGNALS = {
    redirect: () => redirect('/login'),
    notFound: () => notFound(),
    DynamicServerError: () => new DynamicServerError('cookies'),
    BailoutToCSRError: () => new BailoutToCSRError('useSearchParams'),
    'a promise that hangs in a prerender': () => makeDynamicHangingPromise(AbortSignal.abort(), '/', 'cookies()'),
  }
  for (const [name, make] of Object.entries(SIGNALS)) {
    test(`has ${name}, which Next.js itself rethrows`, async () => {
      const signal = await thrownBy(make)
      assert.throws(
        () => unstable_rethrow(signal),
        (error) => error === signal,
      )
      const fetch = () => Promise.reject(signal)
      const client = new CampaignClient({
        baseUrl: 'https://service.example/api/v1',
        accessToken: 'a-static-token',
        fetch,
      })
      await assert.rejects(client.getCampaignInfo({ pid: 'demo' }), (error) => error === signal)
    })
  }
})
