import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createCampaignService } from 'campaign-client/testing'
import { build } from 'esbuild'

const WORKERD = 'node_modules/@cloudflare/workerd-linux-64/bin/workerd'
const ADA = { account: 'ada', platform: 'discord', pid: 'demo' }

test('the example in workerd makes one award for a completed quest', {
  timeout: 120_000,
}, async (context) => {
  await build({
    entryPoints: ['node_modules/campaign-client/examples/webhook-worker.ts'],
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker'],
    outfile: 'worker.js',
    logLevel: 'silent',
  })
  const service = createCampaignService()
  const { url: baseUrl, close } = await service.listen()
  context.after(close)
  const secret = randomBytes(32).toString('hex')

  const worker = spawn(WORKERD, ['serve', 'config.capnp', '--control-fd=3'], {
    env: { CAMPAIGN_BASE_URL: baseUrl, CAMPAIGN_ACCESS_TOKEN: 'a-token', CAMPAIGN_WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  context.after(() => worker.kill('SIGKILL'))
  const port = await new Promise((resolve, reject) => {
    worker.once('exit', (code) => reject(new Error(`workerd ended with ${code}`)))
    worker.stdio[3].setEncoding('utf8').on('data', (text) => {
      const event = JSON.parse(text.trim().split('\n')[0])
      if (event.event === 'listen') resolve(event.port)
    })
  })
  const url = `http://127.0.0.1:${port}/webhooks/campaign`

  service.registerWebhook({ scope: 'user_activity', url, secret })
  service.emit({ kind: 'quest_completed', ...ADA, cid: 'welcome' })
  await service.settle()
  const [delivery] = service.deliveries
  assert.equal(delivery.state, 'delivered')
  service.redeliver(delivery.deliveryId)
  await service.settle()
  // The message of the quest, the message of the award, and the second delivery of the quest.
  assert.deepEqual(
    service.deliveries.map(({ attempts }) => attempts.map(({ status }) => status)),
    [[200], [200], [200]],
  )
  assert.equal(
    (await fetch(url, { method: 'POST', body: '{}', headers: { 'x-service-signature': 'forged' } })).status,
    401,
  )
  assert.deepEqual(
    service.state.awards.map(({ xp }) => xp),
    [50],
  )
})
