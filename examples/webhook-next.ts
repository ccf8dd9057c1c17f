/**
 * A webhook endpoint in a Next application: this file is
 * `app/webhooks/campaign/route.ts`. Next answers other methods with 405 by
 * itself, and leaves the body alone.
 *
 *   CAMPAIGN_WEBHOOK_SECRET=… next start
 *
 * Where Next runs in more than one process or as functions, give the receiver a
 * store they share.
 */
import { createWebhookReceiver } from 'campaign-client/webhook'

const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  // A function: `next build` imports this file without the secret.
  secret: () => process.env.CAMPAIGN_WEBHOOK_SECRET ?? '',
  async handle(event) {
    if (event.kind !== 'action_completed') return
    const { user, event: activity } = event.payload
    console.log(
      `${event.id}: ${user} earned ${activity.data.xp} XP ` +
        `for "${activity.data.action.name}"`,
    )
  },
})

export const POST = receiver.fetch
