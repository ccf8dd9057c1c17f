/**
 * A webhook endpoint on Node, without a framework.
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   CAMPAIGN_WEBHOOK_SECRET=… npx tsx webhook-node.ts
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWebhookReceiver } from 'campaign-client/webhook'

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

const server = createServer((request, response) => {
  if (request.url === '/webhooks/campaign')
    return receiver.node(request, response)
  response.writeHead(404).end()
})
server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`listening on http://127.0.0.1:${port}/webhooks/campaign`)
})

process.once('SIGTERM', async () => {
  server.close()
  // Waits until running handlers have finished.
  await receiver.close()
  server.closeAllConnections()
})
