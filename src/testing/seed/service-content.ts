import type { ConfigurationError } from '../../errors/client-errors.ts'
import {
  configurationError,
  mustBeBoolean,
  type OptionRules,
  optional,
  readOptions,
} from '../../errors/option-checks.ts'
import { copyJson } from '../../shared/text.ts'
import { WALLET_PLATFORM } from '../../shared/wallet-address.ts'
import type { Campaign, Entry } from '../state/campaign.ts'
import { IdGenerator } from '../state/id-generator.ts'
import { ServiceState } from '../state/service-state.ts'
import { type Webhook, WebhookRegistry } from '../webhooks/webhook-registry.ts'
import { demoCampaign } from './demo-campaign.ts'
import type { CampaignSeed, ServiceSeed, UserSeed, WebhookSeed } from './seed.ts'

/** The content of a service. `reset` replaces it. */
export interface ServiceContent {
  readonly ids: IdGenerator
  readonly state: ServiceState
  readonly webhooks: WebhookRegistry
}

/**
 * Creates the content of a service from a seed that has been validated.
 *
 * @param running - webhooks of the running service: a `signed` webhook without a secret keeps its current secret
 * @throws ConfigurationError when two users have the same account, wallet, entry ID or referral link, or a referrer is not
 *   another user of the campaign
 */
export function loadSeed(
  caller: string,
  { campaigns = [demoCampaign], webhooks: webhookSeeds = [], awards = [], values = [] }: ServiceSeed,
  idSeed: number | string | undefined,
  running?: WebhookRegistry,
): ServiceContent {
  const ids = new IdGenerator(idSeed)
  const state = new ServiceState(ids)
  for (const { hook_id } of webhookSeeds) ids.reserve(hook_id)
  for (const { id, ref_id } of campaigns.flatMap(({ users = [] }) => users)) {
    ids.reserve(id)
    ids.reserve(ref_id)
  }
  for (const [index, campaign] of campaigns.entries()) {
    loadCampaign(campaign, state, placeOf(caller, ['campaigns', index]))
  }
  for (const award of awards) state.award(award)
  for (const value of values) state.recordValue(value)

  const webhooks = new WebhookRegistry(ids)
  for (const { secret, signed = false, ...options } of webhookSeeds) {
    const keptSecret = signed && options.hook_id !== undefined ? running?.find(options.hook_id)?.secret : undefined
    const knownSecret = secret ?? keptSecret
    webhooks.register({ ...options, secret: knownSecret, secretMissing: signed && knownSecret === undefined })
  }
  // Loading a seed is not a change.
  state.takeChanges()
  webhooks.takeChanges()
  return { ids, state, webhooks }
}

/** A place in the seed, for the issues of an error. */
interface Place {
  at(...path: readonly (string | number)[]): Place
  error(message: string): ConfigurationError
}

const placeOf = (caller: string, path: readonly (string | number)[]): Place => ({
  at: (...further) => placeOf(caller, [...path, ...further]),
  error: (message) => configurationError(caller, [{ path, message }]),
})

function loadCampaign(seed: CampaignSeed, state: ServiceState, where: Place): void {
  const campaign = state.addCampaign(seed)
  const users = (seed.users ?? []).map((user, index) => {
    const place = where.at('users', index)
    return { user, entry: loadUser(user, campaign, state, place), place }
  })
  // A user may be listed before their referrer.
  for (const { user, entry, place } of users) {
    if (user.referrer === undefined) continue
    const { account, platform } =
      typeof user.referrer === 'string' ? { ...user, account: user.referrer } : user.referrer
    const referrer = campaign.find(state.users.find(account, platform))
    if (!referrer || referrer === entry) throw place.at('referrer').error('must be another user of the campaign')
    campaign.update(entry, { referrer })
  }
}

function loadUser(seed: UserSeed, campaign: Campaign, state: ServiceState, where: Place): Entry {
  const { users } = state
  const user = users.register(seed.account, seed.platform)
  if (campaign.find(user)) throw where.error('is a duplicate')
  for (const [index, profile] of (seed.profiles ?? []).entries()) {
    if (!users.link(user, profile)) throw where.at('profiles', index).error('belongs to another user')
  }
  if (seed.wallet !== undefined) {
    const isOwn = users.link(user, { account: seed.wallet, platform: WALLET_PLATFORM })
    if (!isOwn) throw where.at('wallet').error('belongs to another user')
    user.wallet = seed.wallet
  }
  user.email = seed.email ?? user.email

  for (const field of ['id', 'ref_id'] as const) {
    const id = seed[field]
    if (id !== undefined && campaign.findBy(field, id)) throw where.at(field).error('is a duplicate')
  }
  const { id, ref_id, name, alias, team, xp, ref_xp, ugc_xp, xp_mul, completed = [], rewards = [] } = seed
  const entry = state.enter(campaign, user, { id, ref_id })
  campaign.update(entry, { name, alias, team, xp, ref_xp, ugc_xp, xp_mul, completed: new Set(completed) })
  for (const reward of rewards) {
    campaign.reward(entry, reward)
    state.usedRewardIds.add(reward.id)
  }
  return entry
}

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
