import type { CampaignService, WebhookSeed } from 'campaign-client/testing'

/** Returns a webhook with its secret, which `service.webhooks` does not have. */
export const savedWebhook = (service: CampaignService, hook_id: string | undefined): WebhookSeed | undefined =>
  service.exportSeed({ secrets: true }).webhooks?.find((webhook) => webhook.hook_id === hook_id)
