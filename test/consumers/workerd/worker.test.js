import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createCampaignService } from 'campaign-client/testing'
import { bundle, startWorkerd } from './workerd.js'

const ADA = { account: 'ada', platform: 'discord', pid: 'demo' }

test('the example in workerd makes one award for a completed quest', {
  timeout: 120_000,
}, async (context) => {
  await bundle('node_modules/campaign-client/examples/webhook-worker.ts', 'worker.js')
  const service = createCampaignService()
  const { url: baseUrl, close } = await service.listen()
  context.after(close)
  const secret = randomBytes(32).toString('hex')

  const port = await startWorkerd(context, 'config.capnp', {
    CAMPAIGN_BASE_URL: baseUrl,
    CAMPAIGN_ACCESS_TOKEN: 'a-token',
    CAMPAIGN_WEBHOOK_SECRET: secret,
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
