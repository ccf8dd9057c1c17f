import { type QueryNames, queryNamesRule } from '../endpoints/query-names.ts'
import { registrationPathRule } from '../endpoints/registration-path.ts'
import {
  isFunction,
  milliseconds,
  type OptionRule,
  type OptionRules,
  optional,
  readOptions,
} from '../shared/options.ts'
import { isWellFormed } from '../shared/text/well-formed.ts'
import { typeName } from '../shared/types.ts'
import { isClock, type ServiceClock } from './clock/service-clock.ts'
import type { Deliver } from './deliveries/post-message.ts'
import { readSeed, type ServiceSeed } from './seed/service-seed.ts'
import { readTokens, type TokenOptions } from './tokens.ts'

/** Options of {@link createCampaignService}. All have defaults. They are read once, when the service is created. */
export interface CampaignServiceOptions extends ServiceSeed {
  /** The accepted tokens. @defaultValue any non-empty token, with all permissions */
  tokens?: TokenOptions | undefined
  /** The clock of the service. @defaultValue the system's */
  clock?: ServiceClock | undefined
  /** Makes all identifiers the same on each run. @defaultValue none, so that they differ */
  seed?: number | string | undefined
  /** Other names for the query parameters that the interface leaves open. @defaultValue the client's own defaults */
  queryNames?: QueryNames | undefined
  /** Path of webhook registration below the base URL. @defaultValue `'webhook'` (assumed: the interface shows none) */
  webhookRegistrationPath?: string | undefined
  /**
   * Sends webhook messages. Pass `receiver.fetch` to deliver without a network.
   *
   * @defaultValue the platform's `fetch`, looked up at each delivery
   */
  deliver?: Deliver | undefined
  /** How long an endpoint may take to answer, in milliseconds. @defaultValue 10 000 (assumed: the interface shows none) */
  deliveryTimeoutMs?: number | undefined
}

const isIdentifierSeed: OptionRule = (value) =>
  Number.isFinite(value) || (typeof value === 'string' && isWellFormed(value))
    ? undefined
    : `must be a finite number or a string without half a surrogate pair, got ${typeName(value)}`

/** For options that are read by a schema of their own. */
const isReadBelow: OptionRule = () => undefined

const SERVICE_OPTIONS: OptionRules<CampaignServiceOptions> = {
  campaigns: isReadBelow,
  webhooks: isReadBelow,
  awards: isReadBelow,
  values: isReadBelow,
  tokens: isReadBelow,
  clock: optional(isClock),
  seed: optional(isIdentifierSeed),
  queryNames: optional(queryNamesRule),
  webhookRegistrationPath: optional(registrationPathRule),
  deliver: optional(isFunction),
  deliveryTimeoutMs: optional(milliseconds),
}

/**
 * Returns a copy of the options, with the parts of the seed as `beginning`. Clock and `deliver` stay references.
 *
 * @throws TypeError when an option is unknown or wrong
 * @throws RangeError when the only problems are numbers out of range
 */
export function readServiceOptions(options: CampaignServiceOptions) {
  const caller = 'createCampaignService'
  const { campaigns, webhooks, awards, values, tokens, ...rest } = readOptions(caller, options, SERVICE_OPTIONS)
  return {
    ...rest,
    grants: readTokens(caller, tokens),
    beginning: readSeed(caller, { campaigns, webhooks, awards, values }),
  }
}
