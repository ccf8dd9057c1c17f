/**
 * A webhook endpoint in an Express application. Other routes parse JSON.
 *
 *   npm pkg set type=module
 *   npm install tsx@4 express@5
 *   CAMPAIGN_WEBHOOK_SECRET=… npx tsx webhook-express.ts
 */
import type { AddressInfo } from 'node:net'
import { createWebhookReceiver } from 'campaign-client/webhook'
import express from 'express'

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

const app = express()
// Before express.json(): the receiver needs the unparsed body to verify the
// signature.
app.all('/webhooks/campaign', receiver.node)
app.use(express.json())
app.post('/echo', (request, response) => {
  response.json(request.body)
})

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`listening on http://127.0.0.1:${port}/webhooks/campaign`)
})

process.once('SIGTERM', async () => {
  server.close()
  // Waits until running handlers have finished.
  await receiver.close()
  server.closeAllConnections()
})
