import type { DeliveryQueue } from './deliveries/delivery-queue.ts'
import { WebhookSender } from './deliveries/sender.ts'
import { type Webhook, type WebhookChange, WebhookRegistry } from './deliveries/webhook-registry.ts'
import type { ServiceSeed } from './seed.ts'
import { demoCampaign } from './world/demo-campaign.ts'
import { Identifiers } from './world/identifiers.ts'
import { seedCampaigns } from './world/seeding.ts'
import { ServiceState } from './world/state.ts'

/** What begins anew with each reset. */
export interface World {
  readonly ids: Identifiers
  readonly state: ServiceState
  readonly webhooks: WebhookRegistry
  readonly sender: WebhookSender
}

export interface WorldParts {
  /** What identifiers are made from. */
  readonly idSeed: number | string | undefined
  readonly deliveries: DeliveryQueue
  /** Told of webhooks that change later on. */
  onWebhookChange(change: WebhookChange, webhook: Webhook): void
}

/**
 * A world as its seed says, which has been checked.
 *
 * @throws TypeError when two users of the seed claim the same, saying where
 */
export function startWorld(
  caller: string,
  seed: ServiceSeed,
  { idSeed, deliveries, onWebhookChange }: WorldParts,
): World {
  const ids = new Identifiers(idSeed)
  const state = new ServiceState(ids)
  for (const { hook_id } of seed.webhooks ?? []) if (hook_id !== undefined) ids.reserve(hook_id)
  seedCampaigns(caller, seed.campaigns ?? [demoCampaign], state, ids)
  for (const award of seed.awards ?? []) state.award({ ...award })
  for (const value of seed.values ?? []) state.recordValue({ ...value })
  state.takeChanges()

  const webhooks = new WebhookRegistry(ids)
  for (const { signed: _, ...webhook } of seed.webhooks ?? []) webhooks.register(webhook)
  webhooks.watch(onWebhookChange)
  return { ids, state, webhooks, sender: new WebhookSender(state, webhooks, deliveries, ids) }
}
