import { createWebhookReceiver } from 'campaign-client/webhook'

export const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  secret: () => process.env.CAMPAIGN_WEBHOOK_SECRET ?? '',
  handle() {},
})
