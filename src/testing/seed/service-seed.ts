import type { AwardRecord, ValueRecord } from '../state/service-state.ts'
import type { WebhookOptions } from '../webhooks/webhook-registry.ts'
import type { CampaignSeed } from './campaign-seed.ts'

/** A webhook of a seed. */
export interface WebhookSeed extends WebhookOptions {
  /**
   * Whether the webhook has a secret that was not exported. When `reset` loads the seed, the webhook gets the secret of the
   * running service's webhook with the same `hook_id`. Without it, the webhook has `secretMissing: true` and sends
   * unsigned messages until `registerWebhook` sets the secret.
   */
  signed?: boolean | undefined
}

/**
 * The content of a service, as plain JSON. `service.exportSeed` returns it; `createCampaignService` and `service.reset`
 * load it.
 */
export interface ServiceSeed {
  /** Campaigns with their users and progress. @defaultValue `[demoCampaign]` */
  campaigns?: readonly CampaignSeed[] | undefined
  /** Webhooks. @defaultValue none */
  webhooks?: readonly WebhookSeed[] | undefined
  /** Earlier rewards of `rewardWallet`. Their IDs count as used; they add no XP. @defaultValue none */
  awards?: readonly AwardRecord[] | undefined
  /** Earlier values of `recordActionValue`. They complete no task. @defaultValue none */
  values?: readonly ValueRecord[] | undefined
}
