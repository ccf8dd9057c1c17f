/**
 * A webhook endpoint in a Next.js application. Save this file as
 * `app/webhooks/campaign/route.ts`.
 *
 *   CAMPAIGN_WEBHOOK_SECRET=… npx next start
 *
 * Next.js responds to other methods with 405 and does not parse the body. If it
 * runs in several processes or as functions, set a shared `store`, for example
 * from `campaign-client/webhook/redis`.
 */
import { createWebhookReceiver } from 'campaign-client/webhook'

const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  // A function, because `next build` imports this file without the secret.
  secret: () => process.env.CAMPAIGN_WEBHOOK_SECRET ?? '',
  async handle(event) {
    if (event.kind !== 'action_completed') return
    const { user, event: activity } = event.payload
    console.log(
      `${event.id}: ${user} earned ${activity.data.xp} XP ` +
        `for task ${activity.data.action.id}`,
    )
  },
})

// One parameter: Next.js refuses to build a route with other types.
export const POST = (request: Request): Promise<Response> =>
  receiver.fetch(request)
