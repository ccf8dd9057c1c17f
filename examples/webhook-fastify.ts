/**
 * A webhook endpoint in a Fastify application.
 *
 *   npm pkg set type=module
 *   npm install tsx@4 fastify@5
 *   CAMPAIGN_WEBHOOK_SECRET=… npx tsx webhook-fastify.ts
 */
import { createWebhookReceiver } from 'campaign-client/webhook'
import fastify from 'fastify'

const { PORT = '3000' } = process.env

const receiver = createWebhookReceiver({
  endpoint: 'campaign',
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

const app = fastify({ forceCloseConnections: true })
// The plugin reads the body itself. Other routes keep their JSON parser.
app.register(receiver.fastify, { prefix: '/webhooks/campaign' })
app.post('/echo', async (request) => request.body)
// Waits until running handlers have finished, before connections are closed.
app.addHook('preClose', () => receiver.close())

const url = await app.listen({ port: Number(PORT), host: '127.0.0.1' })
console.log(`listening on ${url}/webhooks/campaign`)

process.once('SIGTERM', () => app.close())
