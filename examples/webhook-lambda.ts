/**
 * A webhook endpoint as an AWS Lambda function, behind API Gateway, a load
 * balancer or a function URL.
 *
 * Bundle it, set CAMPAIGN_WEBHOOK_SECRET, and name `handler` as the entry. Each
 * environment has a memory of its own: give the receiver a store they share
 * (`campaign-client/webhook/redis` or `/postgres`).
 */
import { createWebhookReceiver } from 'campaign-client/webhook'

const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  // A function: platforms and builds import this file without the secret.
  secret: () => process.env.CAMPAIGN_WEBHOOK_SECRET ?? '',
  async handle(event, { signal }) {
    if (event.kind !== 'action_completed') return
    // Fires shortly before the function's time is up.
    signal.throwIfAborted()
    const { user, event: activity } = event.payload
    console.log(
      `${event.id}: ${user} earned ${activity.data.xp} XP ` +
        `for "${activity.data.action.name}"`,
    )
  },
})

export const handler = receiver.lambda
