import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'

const require = createRequire(import.meta.url)
const load = async (from) => ({
  root: await from('campaign-client'),
  schemas: await from('campaign-client/schemas'),
  testing: await from('campaign-client/testing'),
  webhook: await from('campaign-client/webhook'),
  postgres: await from('campaign-client/webhook/postgres'),
  redis: await from('campaign-client/webhook/redis'),
})
const esm = await load((name) => import(name))
const commonJs = await load(require)
const ADA = { account: 'ada', platform: 'discord', pid: 'demo' }

for (const [format, { root, schemas, testing, webhook, postgres, redis }] of Object.entries({ esm, commonJs })) {
  describe(`the package as ${format}`, () => {
    test('reads progress that matches its schema', async () => {
      const { fetch } = testing.createCampaignService()
      const client = new root.CampaignClient({
        baseUrl: 'https://campaign.example/api/v1',
        accessToken: 'token',
        fetch,
      })
      const progress = await client.getUserProgress(ADA)
      assert.equal(progress.user_id, 'ada')
      assert.equal(schemas.userProgress.parse(progress).xp, progress.xp)
    })

    test('sends requests over HTTP', async (context) => {
      const service = await testing.createCampaignService().listen()
      context.after(() => service.close())
      const client = new root.CampaignClient({ baseUrl: service.url, accessToken: 'token' })
      assert.equal((await client.getCampaignInfo({ pid: 'demo' })).id, 'demo')
      await assert.rejects(client.getCampaignInfo({ pid: 'elsewhere' }), root.ApiError)
    })

    test('accepts a correct signature, and refuses a wrong signature', () => {
      const signature = webhook.signWebhook('secret', '{"id":"1"}')
      assert.equal(webhook.verifyWebhook('secret', '{"id":"1"}', signature), true)
      assert.equal(webhook.verifyWebhook('secret', '{"id":"2"}', signature), false)
    })

    test('exports the same error classes from all entry points', () => {
      assert.equal(root.WebhookError, webhook.WebhookError)
      assert.throws(() => webhook.parseWebhook('secret', '{}', null), root.CampaignError)
    })

    test('has stores that refuse values that are not a client', () => {
      assert.throws(() => redis.redisStore({}), { code: 'configuration' })
      assert.throws(() => postgres.postgresStore({}), { code: 'configuration' })
    })
  })
}

test('package.json can be imported and required', async () => {
  const { default: manifest } = await import('campaign-client/package.json', { with: { type: 'json' } })
  assert.match(manifest.version, /^\d+\.\d+\.\d+/)
  assert.equal(require('campaign-client/package.json').version, manifest.version)
})
