import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { test } from 'node:test'
import { CampaignClient } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { createCampaignService } from 'campaign-client/testing'
import { campaignHandlers } from 'campaign-client/testing/msw'
import { setupServer } from 'msw/node'
import { exporter } from './tracing.js'

const clientOf = (baseUrl, transport) => new CampaignClient({ baseUrl, accessToken: 'secret-token', transport })

test('msw intercepts requests of nodeTransport', async () => {
  const service = createCampaignService()
  const baseUrl = 'https://campaign.example/api/v1'
  const server = setupServer(...campaignHandlers(service, { baseUrl }))
  server.listen({ onUnhandledFrame: 'error' })
  const transport = nodeTransport()
  const client = clientOf(baseUrl, transport)
  await client.rewardWallet({ address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'reward-1', xp: 10 })
  assert.equal(service.state.awards.length, 1)
  service.fail({ on: 'getCampaignInfo', kind: 'status', status: 503 })
  assert.equal((await client.getCampaignInfo({ pid: 'demo' })).id, 'demo')
  server.close()
  transport.close()
})

test('nock intercepts requests of nodeTransport', async () => {
  // On import, nock replaces `fetch`, which msw does, too.
  const { default: nock } = await import('nock')
  nock.disableNetConnect()
  const scope = nock('https://campaign.example')
    .get('/api/v1/code?code=c&pid=demo')
    .matchHeader('authorization', 'Bearer secret-token')
    .reply(200, { success: true, data: { used_by: ['ada'] } })
  const transport = nodeTransport()
  const { used_by } = await clientOf('https://campaign.example/api/v1', transport).getInviteCode({
    code: 'c',
    pid: 'demo',
  })
  assert.deepEqual(used_by, ['ada'])
  scope.done()
  nock.cleanAll()
  nock.enableNetConnect()
  nock.restore()
  transport.close()
})

test('OpenTelemetry records a span for each attempt, without the token', async () => {
  const service = createCampaignService()
  const { url, close } = await service.listen()
  const transport = nodeTransport()
  exporter.reset()
  await clientOf(url, transport).getCampaignInfo({ pid: 'demo' })
  const sent = exporter.getFinishedSpans().filter(({ kind }) => kind === 2)
  assert.equal(sent.length, 1)
  assert.match(JSON.stringify(sent[0].attributes), /campaign\/info/)
  assert.doesNotMatch(JSON.stringify(sent[0].attributes), /secret-token/)
  transport.close()
  await close()
})

test('10 000 calls with the same signal leave no listener on the signal', async () => {
  const warnings = []
  const warned = (warning) => warnings.push(warning.message)
  process.on('warning', warned)
  const service = createCampaignService()
  const { url, close } = await service.listen()
  const transport = nodeTransport()
  const client = clientOf(url, transport)
  const { signal } = new AbortController()
  for (let round = 0; round < 200; round++) {
    await Promise.all(Array.from({ length: 50 }, () => client.getCampaignPoints({ pid: 'demo' }, { signal })))
    exporter.reset()
  }
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
  transport.close()
  await close()
  process.off('warning', warned)
  assert.deepEqual(warnings, [])
})

test('idle connections do not delay process.exit', { timeout: 60_000 }, async () => {
  const service = createCampaignService()
  const { url, close } = await service.listen()
  const child = spawn(process.execPath, ['idle.js', url, 'exit'], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  assert.equal(code, 7)
  await close()
})

test('idle connections do not keep the process alive', { timeout: 60_000 }, async () => {
  const service = createCampaignService()
  const { url, close } = await service.listen()
  const child = spawn(process.execPath, ['idle.js', url], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output] = await once(child.stdout, 'data')
  assert.equal(String(output), 'demo\n')
  await once(child, 'exit')
  await close()
})
