/**
 * Tests of code that uses the client, without a network or an account:
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   npx tsx --test testing-in-ci.test.ts
 *
 * The tests use node:test. Every other test runner works too.
 */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { BadRequestError, CampaignClient } from 'campaign-client'
import { rewardId } from 'campaign-client/bulk'
import {
  createCampaignService,
  createManualClock,
} from 'campaign-client/testing'
import { createWebhookReceiver } from 'campaign-client/webhook'

/**
 * The code under test: awards 250 XP to a guest, once. `records` are the ids of
 * earlier awards: in production, a table.
 */
async function awardGuest(
  client: CampaignClient,
  records: Set<string>,
  address: string,
): Promise<'awarded' | 'awarded before' | 'probably awarded'> {
  const id = rewardId({ pid: 'demo', address, reason: 'party 2026' })
  if (records.has(id)) return 'awarded before'
  try {
    await client.rewardWallet({ address, pid: 'demo', id, xp: 250 })
    records.add(id)
    return 'awarded'
  } catch (error) {
    // A 400 alone proves nothing. With the outcome `unknown`, an earlier
    // attempt of this call lost its response: it has probably used the id.
    const isProbable =
      error instanceof BadRequestError && error.outcome === 'unknown'
    if (!isProbable) throw error
    records.add(id)
    return 'probably awarded'
  }
}

const guest = '0x52908400098527886E0F7030069857D2E4169EE7'
// With an `idSeed`, all IDs are the same on each run.
const service = createCampaignService({ idSeed: 'tests' })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
  fetch: service.fetch,
})

beforeEach(() => service.reset())

test('a guest gets the XP once', async () => {
  const records = new Set<string>()
  const again = guest.toLowerCase()
  assert.equal(await awardGuest(client, records, guest), 'awarded')
  assert.equal(await awardGuest(client, records, again), 'awarded before')
  assert.deepEqual(
    service.state.awards.map(({ xp }) => xp),
    [250],
  )
})

test('XP is awarded once even if a response is lost', async () => {
  service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
  const result = await awardGuest(client, new Set(), guest)
  assert.equal(result, 'probably awarded')
  assert.equal(service.state.awards.length, 1)
  // Fails if no request used the fault.
  assert.deepEqual(service.pendingFaults(), [])
})

test('a refusal is an error', async () => {
  service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
  const records = new Set<string>()
  await assert.rejects(awardGuest(client, records, guest), {
    code: 'bad_request',
    outcome: 'not_applied',
  })
  assert.equal(records.size, 0)
})

test('a message is handled in a retry after two failures', async () => {
  const handled: string[] = []
  let failures = 2
  const receiver = createWebhookReceiver({
    endpoint: 'test',
    secret: 'a-webhook-secret',
    handle: (event) => {
      if (failures-- > 0) throw new Error('the database is down')
      handled.push(event.kind)
    },
    onError: () => undefined,
    onReject: () => undefined,
  })
  const clock = createManualClock()
  const timed = createCampaignService({ clock, deliver: receiver.fetch })
  timed.registerWebhook({
    scope: 'user_activity',
    url: 'https://partner.example/hook',
    secret: 'a-webhook-secret',
  })
  timed.emit({
    kind: 'action_completed',
    account: 'ada',
    platform: 'discord',
    pid: 'demo',
    aid: 'follow',
  })
  // Runs the attempts at 0, 5 and 35 seconds, without waiting.
  await clock.advance(35_000)
  assert.deepEqual(handled, ['action_completed'])
})
