import { type QueryNames, queryNamesRule } from '../endpoints/query-names.ts'
import { registrationPathRule } from '../endpoints/registration-path.ts'
import { isFunction, milliseconds, type OptionRule, type OptionRules, optional } from '../shared/options.ts'
import { isWellFormed } from '../shared/text/well-formed.ts'
import { isRecord, typeName } from '../shared/types.ts'
import { isClock, type ServiceClock } from './clock.ts'
import type { Deliver } from './deliveries/post.ts'
import { ownSeed, SEED_RULES, type ServiceSeed } from './seed.ts'
import { areTokens, ownTokens, type TokenOptions } from './tokens.ts'

/** Options of {@link createCampaignService}, read once, when it is made. All have defaults. */
export interface CampaignServiceOptions extends ServiceSeed {
  /** The tokens to accept. Default: any that is not empty, for everything. */
  tokens?: TokenOptions | undefined
  /** The time it lives in. Default: the system's. */
  clock?: ServiceClock | undefined
  /** Makes all identifiers the same on each run. Default: none, so that they differ. */
  seed?: number | string | undefined
  /** Other names for the query parameters that the interface leaves open. Default: the client's own defaults. */
  queryNames?: QueryNames | undefined
  /** Where webhooks are registered, below the base URL. Default: `'webhook'` (assumed: the interface shows none). */
  webhookRegistrationPath?: string | undefined
  /**
   * Sends webhook messages: hand in `receiver.fetch` to do without a network. Default: the platform's `fetch`, read
   * at each delivery.
   */
  deliver?: Deliver | undefined
  /** How long an endpoint may take to answer, in milliseconds. Default: 10 000 (assumed: the interface shows none). */
  deliveryTimeoutMs?: number | undefined
}

const isIdentifierSeed: OptionRule = (value) =>
  Number.isFinite(value) || (typeof value === 'string' && isWellFormed(value))
    ? undefined
    : `must be a finite number or a string without half a surrogate pair, got ${typeName(value)}`

export const SERVICE_RULES: OptionRules<CampaignServiceOptions> = {
  ...SEED_RULES,
  tokens: optional(areTokens),
  clock: optional(isClock),
  seed: optional(isIdentifierSeed),
  queryNames: optional(queryNamesRule),
  webhookRegistrationPath: optional(registrationPathRule),
  deliver: optional(isFunction),
  deliveryTimeoutMs: optional(milliseconds),
}

/** The options of a service as they are when it is made; clock and `deliver` stay who they are. */
export function ownOptions(options: CampaignServiceOptions): CampaignServiceOptions {
  const own: CampaignServiceOptions = ownSeed(options, SERVICE_RULES)
  return isRecord(own) ? { ...own, tokens: ownTokens(own.tokens as TokenOptions | undefined) } : own
}
