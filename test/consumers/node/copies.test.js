import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import * as esm from 'campaign-client'
import * as esmBulk from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'

// A process that imports and requires the package has two copies of it. Each works with what the other created.
const require = createRequire(import.meta.url)
const commonJs = require('campaign-client')
const commonJsBulk = require('campaign-client/bulk')

const ROWS = [1, 2].map((n) => {
  const address = `0x${String(n).padStart(40, '0')}`
  return { address, pid: 'demo', id: esmBulk.rewardId({ pid: 'demo', address, reason: 'launch party' }), xp: 10 }
})

function setUp(context, { CampaignClient }, more) {
  const folder = mkdtempSync(join(tmpdir(), 'copies-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const service = createCampaignService()
  const options = { baseUrl: 'https://campaign.example/api/v1', accessToken: 'token', fetch: service.fetch, ...more }
  return { client: new CampaignClient(options), service, path: join(folder, 'awards.ledger') }
}

for (const [one, other] of [
  [esm, commonJs],
  [commonJs, esm],
]) {
  test(`errors of the ${other === esm ? 'ES module' : 'CommonJS copy'} are instances of the other copy's classes`, () => {
    assert.notEqual(other.WebhookError, one.WebhookError)
    assert.ok(new other.WebhookError('invalid_json') instanceof one.WebhookError)
    assert.ok(!(new other.WebhookError('invalid_json') instanceof one.ApiError))
  })
}

describe('the ES module /bulk', () => {
  const { awardOne, fileLedger, rewardWallets } = esmBulk

  test('awards a list with a CommonJS client, which leaves the pause after a 429 to the run', async (context) => {
    const retries = []
    const hooks = { onRetry: (event) => retries.push(event) }
    const { client, service, path } = setUp(context, commonJs, { hooks })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 429, headers: { 'retry-after': '1' } })
    const report = await rewardWallets(client, ROWS, { ledger: fileLedger(path) })
    assert.deepEqual([report.complete, report.counts.awarded], [true, 2])
    assert.deepEqual(retries, [])
  })

  test('stops if a CommonJS client gets the token of another account', async (context) => {
    const tokens = ['one', 'other'].map((sub) => `${btoa('{}')}.${btoa(JSON.stringify({ sub }))}.signature`)
    const { client, service, path } = setUp(context, commonJs, { accessToken: () => tokens.shift() })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 401 })
    const run = rewardWallets(client, ROWS, { ledger: fileLedger(path), concurrency: 1 })
    await assert.rejects(run, { code: 'award_run_stopped' })
    assert.deepEqual(service.state.awards, [])
  })

  test('awards once with a CommonJS client and a CommonJS ledger', async (context) => {
    const { client, service, path } = setUp(context, commonJs)
    const [row] = ROWS
    for (const ledger of [fileLedger(path), commonJsBulk.fileLedger(path)]) await awardOne(client, row, { ledger })
    assert.deepEqual(
      service.state.awards.map(({ id }) => id),
      [row.id],
    )
    assert.equal(service.requests.length, 1)
  })
})
