/**
 * Replaces the secret of a webhook without losing a message:
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   npx tsx rotate-webhook-secret.ts
 *
 * The admin panel has one secret at a time. So the receivers must accept both
 * secrets before you change it. Here the local service replaces the panel. Each
 * step changes only settings.
 */
import {
  createCampaignService,
  createManualClock,
} from 'campaign-client/testing'
import { createWebhookReceiver, isTestMessage } from 'campaign-client/webhook'

/** The settings of your receivers: environment variables in production. */
const settings: {
  CAMPAIGN_WEBHOOK_SECRET: string
  CAMPAIGN_WEBHOOK_SECRET_OLD?: string
} = {
  CAMPAIGN_WEBHOOK_SECRET: 'the-old-secret',
}

const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  // The newest secret first. The function is called for each message, so new
  // settings apply at once.
  secret: () => {
    const {
      CAMPAIGN_WEBHOOK_SECRET: current,
      CAMPAIGN_WEBHOOK_SECRET_OLD: old,
    } = settings
    return old === undefined ? current : [current, old]
  },
  handle: (event, { secretIndex }) => {
    // Nobody earned the XP of a Test message: do not credit it.
    const name = isTestMessage(event) ? 'Test message' : event.kind
    const signer = secretIndex === 0 ? 'current secret' : 'old secret'
    console.log(`  ${name}, signed with the ${signer}`)
  },
  onReject: ({ reason }) => console.log(`  refused: ${reason}`),
})

const clock = createManualClock()
const service = createCampaignService({
  idSeed: 'rotation',
  clock,
  deliver: receiver.fetch,
})
const webhook = {
  hook_id: 'events',
  scope: 'user_activity',
  url: 'https://partner.example/webhooks/campaign',
}
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }

async function completeTask(): Promise<void> {
  service.emit({ kind: 'action_completed', ...ada, aid: 'follow' })
  await clock.advance(0)
}

service.registerWebhook({ ...webhook, secret: 'the-old-secret' })
console.log('Before')
await completeTask()

console.log('1. Every receiver accepts the new and the old secret')
settings.CAMPAIGN_WEBHOOK_SECRET = 'the-new-secret'
settings.CAMPAIGN_WEBHOOK_SECRET_OLD = 'the-old-secret'
await completeTask()

console.log('2. The panel has the new secret, and its Test button shows 200')
service.registerWebhook({ ...webhook, secret: 'the-new-secret' })
const { Status } = await service.testWebhook({ ...ada, hook_id: 'events' })
console.log(`  Status ${Status}`)
await completeTask()

console.log('3. After ten minutes all retries have ended. Remove the old one')
await clock.advance(600_000)
delete settings.CAMPAIGN_WEBHOOK_SECRET_OLD
await completeTask()

const lost = service.deliveries.filter(({ state }) => state !== 'delivered')
console.log(`${service.deliveries.length} messages, ${lost.length} lost`)
