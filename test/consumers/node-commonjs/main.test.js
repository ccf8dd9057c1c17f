const assert = require('node:assert/strict')
const { test } = require('node:test')
const root = require('campaign-client')
const { userProgress } = require('campaign-client/schemas')
const { createCampaignService } = require('campaign-client/testing')
const webhook = require('campaign-client/webhook')
const { postgresStore } = require('campaign-client/webhook/postgres')
const { redisStore } = require('campaign-client/webhook/redis')

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

test('instanceof works for errors of an ESM copy in the same process', async () => {
  const copy = await import('campaign-client')
  assert.notEqual(copy.WebhookError, root.WebhookError)
  assert.ok(new copy.WebhookError('invalid_json') instanceof root.WebhookError)
  assert.ok(!(new copy.WebhookError('invalid_json') instanceof root.ApiError))
})

test('the stores refuse values that are not a client', () => {
  assert.throws(() => redisStore({}), { code: 'configuration' })
  assert.throws(() => postgresStore({}), { code: 'configuration' })
})

test('exports package.json with its version', () => {
  assert.match(require('campaign-client/package.json').version, /^\d+\.\d+\.\d+/)
})
