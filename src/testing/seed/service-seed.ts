import type { WebhookOptions } from '../deliveries/webhook-registry.ts'
import { readBySchema } from '../read-options.ts'
import type { AwardRecord, ValueRecord } from '../world/state.ts'
import type { CampaignSeed } from './campaign-seed.ts'
import { serviceSeed } from './seed-schema.ts'

/** A webhook of a seed. */
export interface WebhookSeed extends WebhookOptions {
  /**
   * `exportSeed` writes `true` here in place of a secret. When such a seed is loaded without `secret`, the webhook keeps
   * the secret that the running service has for its `hook_id`. Where there is none, messages go out unsigned until
   * `registerWebhook` gives the secret; `secretMissing` of its record says so.
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
  /** Rewards that `rewardWallet` gave. Their IDs count as used; they add no XP. @defaultValue none */
  awards?: readonly AwardRecord[] | undefined
  /** Values that `recordActionValue` recorded. They complete nothing. @defaultValue none */
  values?: readonly ValueRecord[] | undefined
}

/**
 * Returns a copy of a seed: changes that its owner makes later have no effect.
 *
 * @throws TypeError when the seed is wrong or contradicts itself, naming each place
 */
export const readSeed = (caller: string, seed: ServiceSeed): ServiceSeed => readBySchema(caller, serviceSeed, seed)
