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

test('reads a progress that its own schema accepts', async () => {
  const client = new root.CampaignClient({ baseUrl, accessToken: 'token', fetch: createCampaignService().fetch })
  const progress = await client.getUserProgress(ADA)
  assert.equal(progress.user_id, 'ada')
  assert.equal(userProgress.parse(progress).xp, progress.xp)
})

test('speaks real HTTP', async () => {
  const service = await createCampaignService().listen()
  try {
    const client = new root.CampaignClient({ baseUrl: service.url, accessToken: 'token' })
    assert.equal((await client.getCampaignInfo({ pid: 'demo' })).id, 'demo')
    await assert.rejects(client.getCampaignInfo({ pid: 'elsewhere' }), root.ApiError)
  } finally {
    await service.close()
  }
})

test('verifies its own signature and no other', () => {
  const signature = webhook.signWebhook('secret', '{"id":"1"}')
  assert.equal(webhook.verifyWebhook('secret', '{"id":"1"}', signature), true)
  assert.equal(webhook.verifyWebhook('secret', '{"id":"2"}', signature), false)
})

test('has one class for an error, whichever entry point it came from', () => {
  assert.equal(root.WebhookError, webhook.WebhookError)
  assert.throws(() => webhook.parseWebhook('secret', '{}', null), root.CampaignError)
})

test('knows the errors of an ESM copy in the same process', async () => {
  const copy = await import('campaign-client')
  assert.notEqual(copy.WebhookError, root.WebhookError)
  assert.ok(new copy.WebhookError('invalid_json') instanceof root.WebhookError)
  assert.ok(!(new copy.WebhookError('invalid_json') instanceof root.ApiError))
})

test('has stores that refuse values that are not a client', () => {
  assert.throws(() => redisStore({}), TypeError)
  assert.throws(() => postgresStore({}), TypeError)
})

test('shows its version', () => {
  assert.match(require('campaign-client/package.json').version, /^\d+\.\d+\.\d+/)
})
