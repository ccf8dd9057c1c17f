/**
 * Tests of code that uses the client, without a network or an account:
 *
 *   npx tsx --test examples/testing-in-ci.test.ts
 *
 * The tests use node:test. Every other test runner works too.
 */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { BadRequestError, CampaignClient } from 'campaign-client'
import {
  createCampaignService,
  createManualClock,
} from 'campaign-client/testing'
import { createWebhookReceiver } from 'campaign-client/webhook'

/** The code under test: awards 250 XP to a guest, once. */
async function awardGuest(
  client: CampaignClient,
  address: string,
): Promise<'awarded' | 'awarded before'> {
  try {
    await client.rewardWallet({
      address,
      pid: 'demo',
      id: `party-2026:${address.toLowerCase()}`,
      xp: 250,
    })
    return 'awarded'
  } catch (error) {
    if (error instanceof BadRequestError) return 'awarded before'
    throw error
  }
}

const guest = '0x52908400098527886E0F7030069857D2E4169EE7'
// With a seed, all IDs are the same on each run.
const service = createCampaignService({ seed: 'tests' })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
  fetch: service.fetch,
})

beforeEach(() => service.reset())

test('a guest gets the XP once', async () => {
  assert.equal(await awardGuest(client, guest), 'awarded')
  assert.equal(await awardGuest(client, guest.toLowerCase()), 'awarded before')
  assert.deepEqual(
    service.state.awards.map(({ xp }) => xp),
    [250],
  )
})

test('a lost answer does not award the XP twice', async () => {
  service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
  assert.equal(await awardGuest(client, guest), 'awarded before')
  assert.equal(service.state.awards.length, 1)
  // Fails if no request used the fault.
  assert.deepEqual(service.pendingFaults(), [])
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
  await clock.advance(35_000) // attempts at 0, 5 and 35 seconds, in a moment
  assert.deepEqual(handled, ['action_completed'])
})
