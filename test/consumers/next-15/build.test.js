const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { copyFileSync, mkdirSync } = require('node:fs')
const { test } = require('node:test')

test('the example of a route builds', { timeout: 600_000 }, () => {
  mkdirSync('app/webhooks/campaign', { recursive: true })
  copyFileSync('node_modules/campaign-client/examples/webhook-next.ts', 'app/webhooks/campaign/route.ts')
  const { CAMPAIGN_WEBHOOK_SECRET: _, ...env } = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
  const args = [require.resolve('next/dist/bin/next'), 'build']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  assert.match(stdout, /ƒ \/webhooks\/campaign/)
})
