import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as root from 'campaign-client'
import manifest from 'campaign-client/package.json' with { type: 'json' }
import { userProgress } from 'campaign-client/schemas'
import { createCampaignService } from 'campaign-client/testing'
import * as webhook from 'campaign-client/webhook'
import { postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'

const ADA = { account: 'ada', platform: 'discord', pid: 'demo' }
const baseUrl = 'https://campaign.example/api/v1'

test('reads progress that matches its schema', async () => {
  const client = new root.CampaignClient({ baseUrl, accessToken: 'token', fetch: createCampaignService().fetch })
  const progress = await client.getUserProgress(ADA)
  assert.equal(progress.user_id, 'ada')
  assert.equal(userProgress.parse(progress).xp, progress.xp)
})

test('sends requests over HTTP', async () => {
  const service = await createCampaignService().listen()
  try {
    const client = new root.CampaignClient({ baseUrl: service.url, accessToken: 'token' })
    assert.equal((await client.getCampaignInfo({ pid: 'demo' })).id, 'demo')
    await assert.rejects(client.getCampaignInfo({ pid: 'elsewhere' }), root.ApiError)
  } finally {
    await service.close()
  }
})

test('accepts a correct signature, and refuses a wrong signature', () => {
  const signature = webhook.signWebhook('secret', '{"id":"1"}')
  assert.equal(webhook.verifyWebhook('secret', '{"id":"1"}', signature), true)
  assert.equal(webhook.verifyWebhook('secret', '{"id":"2"}', signature), false)
})

test('all entry points export the same error classes', () => {
  assert.equal(root.WebhookError, webhook.WebhookError)
  assert.throws(() => webhook.parseWebhook('secret', '{}', null), root.CampaignError)
})

test('instanceof works for errors of a CommonJS copy in the same process', () => {
  const copy = createRequire(import.meta.url)('campaign-client')
  assert.notEqual(copy.WebhookError, root.WebhookError)
  assert.ok(new copy.WebhookError('invalid_json') instanceof root.WebhookError)
  assert.ok(!(new copy.WebhookError('invalid_json') instanceof root.ApiError))
})

test('the stores refuse values that are not a client', () => {
  assert.throws(() => redisStore({}), { code: 'configuration' })
  assert.throws(() => postgresStore({}), { code: 'configuration' })
})

test('exports package.json with its version', () => {
  assert.match(manifest.version, /^\d+\.\d+\.\d+/)
})
