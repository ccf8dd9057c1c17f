const assert = require('node:assert/strict')
const { once } = require('node:events')
const { after, before, test } = require('node:test')
const express = require('express')
const { CampaignClient, verifyWebhook } = require('campaign-client')
const { createCampaignService } = require('campaign-client/testing')
const { createWebhookReceiver, signWebhook } = require('campaign-client/webhook')

const SECRET = 'a secret of this endpoint'
const handled = []
const rejected = []
let server
let origin

before(async () => {
  const receiver = createWebhookReceiver({
    endpoint: 'express',
    secret: SECRET,
    handle: (event) => {
      handled.push(event)
    },
    onReject: (rejection) => {
      rejected.push(rejection.reason)
    },
    onError: () => undefined,
  })
  const app = express()
  app.post('/raw', express.raw({ type: '*/*' }), receiver.node)
  app.post('/stream', receiver.node)
  app.post('/parsed', express.json(), receiver.node)
  app.post('/plain', express.raw({ type: '*/*' }), (request, response) => {
    response.sendStatus(verifyWebhook(SECRET, request.body, request.headers['x-service-signature']) ? 204 : 401)
  })
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${server.address().port}`
})

after(() => server.close())

const post = (path, body, signature) =>
  fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-signature': signature },
    body,
  })

for (const path of ['/raw', '/stream']) {
  test(`handles each delivery of the service to ${path} once`, async () => {
    handled.length = 0
    const service = createCampaignService()
    service.registerWebhook({ url: `${origin}${path}`, secret: SECRET })
    const client = new CampaignClient({
      baseUrl: 'https://campaign.example/api/v1',
      accessToken: 'token',
      fetch: service.fetch,
    })
    await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
    service.emit({ kind: 'action_completed', account: 'ada', platform: 'discord', pid: 'demo', aid: 'follow' })
    await service.settle()
    const [{ state, body, signature }] = service.deliveries
    assert.equal(state, 'delivered')
    assert.equal((await post(path, body, signature)).status, 200)
    assert.deepEqual(
      handled.map(({ kind }) => kind),
      ['action_completed'],
    )
  })

  test(`refuses a forged message at ${path}`, async () => {
    handled.length = 0
    const body = '{"id":"forged"}'
    assert.equal((await post(path, body, signWebhook('another secret', body))).status, 401)
    assert.deepEqual(handled, [])
  })
}

test('responds with 500 to a parsed body, and reports it to onReject', async () => {
  rejected.length = 0
  const body = '{"id":"parsed"}'
  assert.equal((await post('/parsed', body, signWebhook(SECRET, body))).status, 500)
  assert.deepEqual(rejected, ['body_not_raw'])
})

test('verifyWebhook works in a handler of the partner', async () => {
  const body = '{"id":"plain"}'
  assert.equal((await post('/plain', body, signWebhook(SECRET, body))).status, 204)
  assert.equal((await post('/plain', `${body} `, signWebhook(SECRET, body))).status, 401)
})
