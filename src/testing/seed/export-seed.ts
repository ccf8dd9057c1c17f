import { isBoolean, type OptionRules, optional, readOptions } from '../../shared/options.ts'
import { copyJson } from '../../shared/text/json.ts'
import type { Webhook } from '../deliveries/webhook-registry.ts'
import type { Campaign, Entry } from '../world/campaign.ts'
import type { Challenge } from '../world/campaign-definition.ts'
import type { CampaignSeed, UserSeed } from './campaign-seed.ts'
import type { World } from './load-seed.ts'
import type { ServiceSeed, WebhookSeed } from './service-seed.ts'

/** Options of `service.exportSeed`. */
export interface ExportSeedOptions {
  /**
   * Whether the secrets of webhooks are exported. Without them each webhook that has a secret is marked as `signed`.
   *
   * @defaultValue false
   */
  secrets?: boolean | undefined
}

const EXPORT_SEED: OptionRules<ExportSeedOptions> = { secrets: optional(isBoolean) }

/** Returns the content of a service as a seed. */
export function exportSeed({ state, webhooks }: World, options: ExportSeedOptions = {}): ServiceSeed {
  const { secrets = false } = readOptions('exportSeed', options, EXPORT_SEED)
  return {
    campaigns: [...state.campaigns.values()].map(exportCampaign),
    webhooks: webhooks.all().map((webhook) => exportWebhook(webhook, secrets)),
    awards: state.awards.map((award) => ({ ...award })),
    values: state.values.map((value) => ({ ...value })),
  }
}

function exportCampaign(campaign: Campaign): CampaignSeed {
  const { id, name, organization, registration, tasks, quests, challenges, seasons } = campaign.definition
  return {
    id,
    name,
    organization,
    registration,
    actions: [...tasks.values()].map(copyItem),
    quests: [...quests.values()].map((quest) => ({ ...copyItem(quest), actions: [...quest.actions] })),
    challenges: [...challenges.values()].map(copyItem),
    seasons: seasons.map((season) => ({ ...season })),
    users: [...campaign.entries()].map(exportEntry),
    invite_codes: [...campaign.inviteCodes].map(([code, used_by]) => ({ code, used_by: [...used_by] })),
  }
}

// Absent values are left out: a seed is kept as JSON, which has no `undefined`.
const copyItem = <Item extends Challenge>({ meta, ...item }: Item) => ({
  ...item,
  ...(meta && { meta: copyJson(meta) }),
  deps: [...item.deps],
})

function exportEntry({ user, referrer, completed, rewards, referred: _, ...entry }: Entry): UserSeed {
  const [, ...profiles] = user.profiles
  return {
    ...entry,
    account: user.account,
    platform: user.platform,
    profiles: profiles.map((profile) => ({ ...profile })),
    ...(user.wallet !== '' && { wallet: user.wallet }),
    ...(user.email !== '' && { email: user.email }),
    completed: [...completed],
    rewards: rewards.map(copyJson),
    ...(referrer && { referrer: { account: referrer.user.account, platform: referrer.user.platform } }),
  }
}

const exportWebhook = (
  { hook_id, scope, urls, secret, secretMissing, campaigns, organization }: Webhook,
  withSecret: boolean,
): WebhookSeed => ({
  hook_id,
  scope,
  url: [...urls],
  ...(secret !== undefined && withSecret && { secret }),
  ...((secretMissing || (secret !== undefined && !withSecret)) && { signed: true }),
  campaigns: [...campaigns],
  ...(organization !== undefined && { organization }),
})
