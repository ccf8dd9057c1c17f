/**
 * Replaces the secret of a webhook without losing a message:
 *
 *   npx tsx examples/rotate-webhook-secret.ts
 *
 * The admin panel knows one secret at a time, so the receivers have to know
 * both before it changes. Here the local service plays the panel, and each
 * step is a change of settings alone.
 */
import {
  createCampaignService,
  createManualClock,
} from 'campaign-client/testing'
import { createWebhookReceiver } from 'campaign-client/webhook'

/** Stands for `process.env`: set by whatever deploys your receivers. */
const settings: {
  CAMPAIGN_WEBHOOK_SECRET: string
  CAMPAIGN_WEBHOOK_SECRET_BEFORE?: string
} = {
  CAMPAIGN_WEBHOOK_SECRET: 'the-old-secret',
}

const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  // The newest first. A function is asked for each message, so that new
  // settings need no new receiver.
  secret: () => {
    const {
      CAMPAIGN_WEBHOOK_SECRET: current,
      CAMPAIGN_WEBHOOK_SECRET_BEFORE: before,
    } = settings
    return before === undefined ? current : [current, before]
  },
  handle: (event, { secretIndex }) => {
    console.log(
      `  ${event.kind}, signed with the ` +
        `${secretIndex === 0 ? 'current secret' : 'secret before'}`,
    )
  },
  onReject: ({ reason }) => console.log(`  refused: ${reason}`),
})

const clock = createManualClock()
const service = createCampaignService({
  seed: 'rotation',
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

console.log('1. Every receiver accepts the new secret and the old one')
settings.CAMPAIGN_WEBHOOK_SECRET = 'the-new-secret'
settings.CAMPAIGN_WEBHOOK_SECRET_BEFORE = 'the-old-secret'
await completeTask()

console.log('2. The panel gets the new secret, and its Test button says 200')
service.registerWebhook({ ...webhook, secret: 'the-new-secret' })
const { Status } = await service.testWebhook({ ...ada, hook_id: 'events' })
console.log(`  Status ${Status}`)
await completeTask()

console.log(
  '3. Ten minutes later, no retry of an old message can come any more. ' +
    'The old secret goes',
)
await clock.advance(600_000)
delete settings.CAMPAIGN_WEBHOOK_SECRET_BEFORE
await completeTask()

const lost = service.deliveries.filter(({ state }) => state !== 'delivered')
console.log(`${service.deliveries.length} messages, ${lost.length} lost`)
