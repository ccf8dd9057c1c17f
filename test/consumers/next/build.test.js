const assert = require('node:assert/strict')
const { execFileSync, spawn } = require('node:child_process')
const { copyFileSync, mkdirSync } = require('node:fs')
const { before, test } = require('node:test')
const { signWebhook } = require('campaign-client/webhook')

const SECRET = 'a secret of this endpoint'
const next = require.resolve('next/dist/bin/next')
const { CAMPAIGN_WEBHOOK_SECRET: _, ...withoutSecrets } = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }

before(() => {
  mkdirSync('app/webhooks/campaign', { recursive: true })
  copyFileSync('node_modules/campaign-client/examples/webhook-next.ts', 'app/webhooks/campaign/route.ts')
})

test('the example builds without a secret, and verifies with a secret', { timeout: 240_000 }, async (context) => {
  const built = execFileSync(process.execPath, [next, 'build'], { env: withoutSecrets, encoding: 'utf8' })
  assert.match(built, /ƒ \/webhooks\/campaign/)

  const server = spawn(process.execPath, [next, 'start', '--hostname', '127.0.0.1', '--port', '0'], {
    env: { ...withoutSecrets, CAMPAIGN_WEBHOOK_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
    // next starts a child process. The test kills the process group, so that both end.
    detached: true,
  })
  context.after(() => process.kill(-server.pid, 'SIGKILL'))
  let printed = ''
  const url = await new Promise((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`next start ended with ${code}:\n${printed}`)))
    server.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text
      const [, address] = /(http:\/\/127\.0\.0\.1:[1-9]\d*)/.exec(printed) ?? []
      if (address !== undefined && printed.includes('Ready')) resolve(`${address}/webhooks/campaign`)
    })
  })

  const body = JSON.stringify({ id: 'message-1', scope: 'user_activity' })
  const post = async (secret) => {
    const headers = { 'content-type': 'application/json', 'x-service-signature': signWebhook(secret, body) }
    const response = await fetch(url, { method: 'POST', headers, body })
    return [response.status, await response.json()]
  }
  assert.deepEqual(await post(SECRET), [200, { ok: true, result: 'handled' }])
  assert.deepEqual(await post(SECRET), [200, { ok: true, result: 'duplicate' }])
  assert.equal((await post('another secret'))[0], 401)
  assert.equal((await fetch(url)).status, 405)
})
