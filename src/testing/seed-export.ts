import { isBoolean, type OptionRules, optional, readOptions } from '../shared/options.ts'
import type { Webhook } from './deliveries/webhook-registry.ts'
import type { ServiceSeed, WebhookSeed } from './seed.ts'
import type { World } from './start.ts'
import { exportCampaign } from './world/campaign-export.ts'

/** Options of `service.exportSeed`. */
export interface ExportSeedOptions {
  /**
   * Whether the secrets of webhooks are in it. Without them each webhook that has one is marked as `signed`, and whoever
   * starts with the seed must fill its `secret` in. Default: false.
   */
  secrets?: boolean | undefined
}

const EXPORT_SEED: OptionRules<ExportSeedOptions> = { secrets: optional(isBoolean) }

/** Everything that there is now, for a service to start with. */
export function exportSeed({ state, webhooks }: World, options: ExportSeedOptions = {}): ServiceSeed {
  const { secrets = false } = readOptions('exportSeed', options, EXPORT_SEED)
  return {
    campaigns: [...state.campaigns.values()].map(exportCampaign),
    webhooks: webhooks.all().map((webhook) => exportWebhook(webhook, secrets)),
    awards: state.awards.map((award) => ({ ...award })),
    values: state.values.map((value) => ({ ...value })),
  }
}

const exportWebhook = (
  { hook_id, scope, urls, secret, campaigns, organization }: Webhook,
  withSecret: boolean,
): WebhookSeed => ({
  hook_id,
  scope,
  url: [...urls],
  ...(secret !== undefined && (withSecret ? { secret } : { signed: true })),
  campaigns: [...campaigns],
  ...(organization !== undefined && { organization }),
})
