import {
  copyOfOptions,
  isBoolean,
  listOf,
  type OptionProblem,
  type OptionRule,
  type OptionRules,
  optional,
  optionProblems,
} from '../shared/options.ts'
import { isRecord } from '../shared/types.ts'
import { ownWebhook, WEBHOOK_RULES, type WebhookOptions } from './deliveries/webhook-registry.ts'
import { asRead, fits } from './schema-rule.ts'
import type { CampaignSeed } from './world/campaign-seed.ts'
import { duplicates, referenceProblems } from './world/seed-references.ts'
import { awardRecords, campaignSeeds, valueRecords } from './world/seed-schema.ts'
import type { AwardRecord, ValueRecord } from './world/state.ts'

/** A webhook to start with. */
export interface WebhookSeed extends WebhookOptions {
  /** Written by `exportSeed` in place of a secret, which then has to be given again. */
  signed?: boolean | undefined
}

/**
 * What a service starts with. It can be kept as JSON: `service.exportSeed` gives it, `createCampaignService` and
 * `service.reset` take it.
 */
export interface ServiceSeed {
  /** The campaigns, with their users and what these have reached. Default: `[demoCampaign]`. */
  campaigns?: readonly CampaignSeed[] | undefined
  /** The webhooks. Default: none. */
  webhooks?: readonly WebhookSeed[] | undefined
  /** Rewards that `rewardWallet` has given. Their IDs count as used; they add no XP. Default: none. */
  awards?: readonly AwardRecord[] | undefined
  /** Values that `recordActionValue` has recorded. They complete nothing. Default: none. */
  values?: readonly ValueRecord[] | undefined
}

/** The second rule is asked about what the first has found nothing wrong with. */
const both =
  (first: OptionRule, second: (value: never) => OptionProblem[]): OptionRule =>
  (value) => {
    const problems = first(value)
    return problems !== undefined && problems.length > 0 ? problems : second(value as never)
  }

const WEBHOOK_SEED_RULES: OptionRules<WebhookSeed> = { ...WEBHOOK_RULES, signed: optional(isBoolean) }

const isWebhookSeed = both(
  (value) => optionProblems(value, WEBHOOK_SEED_RULES),
  ({ signed, secret }: WebhookSeed) =>
    signed === true && secret === undefined
      ? [{ path: ['secret'], message: 'must be given: the webhook is signed, and was exported without its secret' }]
      : [],
)

const twice = (field: string, ids: readonly (string | undefined)[]): OptionProblem[] =>
  duplicates(ids).map((index) => ({ path: [String(index), field], message: 'is there twice' }))

export const SEED_RULES: OptionRules<ServiceSeed> = {
  campaigns: optional(both(fits(campaignSeeds), referenceProblems)),
  webhooks: optional(
    both(listOf(isWebhookSeed), (webhooks: readonly WebhookSeed[]) =>
      twice(
        'hook_id',
        webhooks.map(({ hook_id }) => hook_id),
      ),
    ),
  ),
  awards: optional(
    both(fits(awardRecords), (awards: readonly AwardRecord[]) =>
      twice(
        'id',
        awards.map(({ id }) => id),
      ),
    ),
  ),
  values: optional(fits(valueRecords)),
}

/** A seed as it is now, in every depth: what its owner changes later is in no `reset`. */
export function ownSeed<Seed extends ServiceSeed>(seed: Seed, rules: OptionRules<Seed>): Seed {
  const own: Seed = copyOfOptions<Seed>(seed, rules as never)
  if (!isRecord(own)) return own
  const { campaigns, webhooks, awards, values } = own
  return {
    ...own,
    campaigns: asRead(campaignSeeds, campaigns),
    webhooks: Array.isArray(webhooks)
      ? Array.from(webhooks, (webhook: WebhookSeed) => ownWebhook(webhook, WEBHOOK_SEED_RULES))
      : webhooks,
    awards: asRead(awardRecords, awards),
    values: asRead(valueRecords, values),
  }
}
