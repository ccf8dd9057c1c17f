import { mustBeBoolean, type OptionRules, optional, readOptions } from '../../errors/option-checks.ts'
import { copyJson } from '../../shared/text.ts'
import type { Campaign, Entry } from '../state/campaign.ts'
import type { Webhook } from '../webhooks/webhook-registry.ts'
import type { ServiceContent } from './load-seed.ts'
import type { CampaignSeed, ServiceSeed, UserSeed, WebhookSeed } from './seed.ts'

/** Options of `service.exportSeed`. */
export interface ExportSeedOptions {
  /**
   * Whether to export the secrets of webhooks. Otherwise each webhook with a secret is marked as `signed`.
   *
   * @defaultValue false
   */
  secrets?: boolean | undefined
}

const EXPORT_SEED: OptionRules<ExportSeedOptions> = { secrets: optional(mustBeBoolean) }

export function exportSeed({ state, webhooks }: ServiceContent, options: ExportSeedOptions = {}): ServiceSeed {
  const { secrets = false } = readOptions('exportSeed', options, EXPORT_SEED)
  // The copy also removes undefined fields.
  return copyJson({
    campaigns: [...state.campaigns.values()].map(exportCampaign),
    webhooks: webhooks.all().map((webhook) => exportWebhook(webhook, secrets)),
    awards: state.awards,
    values: state.values,
  })
}

function exportCampaign(campaign: Campaign): CampaignSeed {
  const { tasks, quests, challenges, ...definition } = campaign.definition
  return {
    ...definition,
    actions: [...tasks.values()],
    quests: [...quests.values()],
    challenges: [...challenges.values()],
    users: campaign.entries().map(exportEntry),
    invite_codes: [...campaign.inviteCodes].map(([code, used_by]) => ({ code, used_by })),
  }
}

function exportEntry({ campaign: _, user, referrer, completed, ...entry }: Entry): UserSeed {
  return {
    ...entry,
    account: user.account,
    platform: user.platform,
    profiles: user.profiles.slice(1),
    wallet: user.wallet || undefined,
    email: user.email || undefined,
    completed: [...completed],
    referrer: referrer && { account: referrer.user.account, platform: referrer.user.platform },
  }
}

const exportWebhook = (
  { urls, secret, secretMissing, campaigns, ...webhook }: Webhook,
  withSecret: boolean,
): WebhookSeed => ({
  ...webhook,
  url: urls,
  secret: withSecret ? secret : undefined,
  signed: secretMissing || (secret !== undefined && !withSecret) || undefined,
  campaigns: [...campaigns],
})
