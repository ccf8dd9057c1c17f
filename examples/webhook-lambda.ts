/**
 * A webhook endpoint as an AWS Lambda function, behind API Gateway, a load
 * balancer or a function URL.
 *
 * Bundle this file, set CAMPAIGN_WEBHOOK_SECRET, and choose `handler` as the
 * handler:
 *
 *   npm install esbuild@0.28
 *   npx esbuild webhook-lambda.ts --bundle --platform=node --format=cjs \
 *     --outfile=build/index.js
 *
 * Lambda environments do not share memory: set a shared `store`, from
 * `campaign-client/webhook/redis` or `campaign-client/webhook/postgres`.
 */
import { createWebhookReceiver } from 'campaign-client/webhook'

const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  // A function, so that a build can import this file without the secret.
  secret: () => process.env.CAMPAIGN_WEBHOOK_SECRET ?? '',
  async handle(event, { signal }) {
    if (event.kind !== 'action_completed') return
    // The signal aborts shortly before the function's timeout.
    signal.throwIfAborted()
    const { user, event: activity } = event.payload
    console.log(
      `${event.id}: ${user} earned ${activity.data.xp} XP ` +
        `for task ${activity.data.action.id}`,
    )
  },
})

export const handler = receiver.lambda
