/**
 * A webhook endpoint in a Hono application, for Bun, Deno, Workers and Node.
 *
 *   npm install hono@4
 *   CAMPAIGN_WEBHOOK_SECRET=… bun run webhook-hono.ts
 *   CAMPAIGN_WEBHOOK_SECRET=… deno serve -A webhook-hono.ts
 *
 * On Node, pass `app` to `serve()` of @hono/node-server. On Workers, isolates
 * do not share memory: set a shared `store`.
 */
import {
  createWebhookReceiver,
  type WaitUntilContext,
} from 'campaign-client/webhook'
import { type Context, Hono } from 'hono'

const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  // A function, because builds import this file without the secret.
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

const app = new Hono()
app.all('/webhooks/campaign', (c) =>
  receiver.fetch(c.req.raw, executionContext(c)),
)

export default app

/**
 * Returns the context with which a Worker continues after its response. On other
 * runtimes Hono throws, because there is no context.
 */
function executionContext(c: Context): WaitUntilContext | undefined {
  try {
    return c.executionCtx
  } catch {
    return undefined
  }
}
