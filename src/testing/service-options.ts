import { mustBeQueryNames, mustBeRegistrationPath, type QueryNames } from '../endpoints/undocumented-options.ts'
import {
  copyOfOptions,
  milliseconds,
  mustBeFunction,
  nested,
  type OptionRule,
  type OptionRules,
  optional,
  optionIssues,
  positive,
  refuseOptions,
} from '../errors/option-checks.ts'
import { copyJson, isWellFormed } from '../shared/text.ts'
import { isRecord, typeName } from '../shared/type-checks.ts'
import { mustBeClock, type ServiceClock } from './clock.ts'
import { RateLimit, readTokens, type ServiceRateLimit, type TokenOptions } from './http/access.ts'
import { parseBySchema } from './option-readers.ts'
import { type ServiceSeed, serviceSeed } from './seed/seed.ts'
import type { Deliver } from './webhooks/delivery.ts'

/** Options of {@link createCampaignService}. */
export interface CampaignServiceOptions extends ServiceSeed {
  /** The accepted tokens. @defaultValue any non-empty token, with all permissions */
  tokens?: TokenOptions | undefined
  /** The clock of the service. @defaultValue the system's clock */
  clock?: ServiceClock | undefined
  /** Makes all generated IDs the same on each run. @defaultValue none: IDs are random */
  idSeed?: number | string | undefined
  /** Other names for the query parameters that the API description does not name. @defaultValue the client's own defaults */
  queryNames?: QueryNames | undefined
  /** Path of webhook registration below the base URL. @defaultValue `'webhook'` (assumed: the API description shows no path) */
  webhookRegistrationPath?: string | undefined
  /**
   * Sends webhook messages. Set it to `receiver.fetch` to deliver without a network.
   *
   * @defaultValue the platform's `fetch`
   */
  deliver?: Deliver | undefined
  /** Timeout of a delivery attempt, in milliseconds. @defaultValue 10 000 (assumed: the API description shows no timeout) */
  deliveryTimeoutMs?: number | undefined
  /**
   * Limits the requests of each token, on the service's clock. Requests beyond the limit get 429 with `Retry-After`, and use
   * no fault. Requests under `/control/` are not limited.
   *
   * @defaultValue no limit
   */
  rateLimit?: ServiceRateLimit | undefined
}

const mustBeIdSeed: OptionRule = (value) =>
  Number.isFinite(value) || (typeof value === 'string' && isWellFormed(value))
    ? undefined
    : `must be a finite number or a well-formed string, got ${typeName(value)}`

/** For options that a schema checks. */
const checkedBySchema: OptionRule = () => undefined

const RATE_LIMIT: OptionRules<ServiceRateLimit> = { perSecond: positive('requests', 1_000_000) }

const SERVICE_OPTIONS: OptionRules<CampaignServiceOptions> = {
  campaigns: checkedBySchema,
  webhooks: checkedBySchema,
  awards: checkedBySchema,
  values: checkedBySchema,
  tokens: checkedBySchema,
  clock: optional(mustBeClock),
  idSeed: optional(mustBeIdSeed),
  queryNames: optional(mustBeQueryNames),
  webhookRegistrationPath: optional(mustBeRegistrationPath),
  deliver: optional(mustBeFunction),
  deliveryTimeoutMs: optional(milliseconds),
  rateLimit: optional(nested(RATE_LIMIT)),
}

/** Returns a copy of the options. `start` is the initial content of the service. @throws ConfigurationError with all issues */
export function readServiceOptions(options: CampaignServiceOptions) {
  const own = copyOfOptions(options, SERVICE_OPTIONS)
  const known: CampaignServiceOptions = isRecord(own) ? own : {}
  const { campaigns, webhooks, awards, values, tokens, rateLimit, ...rest } = known
  const { grants, issues: tokenIssues } = readTokens(tokens)
  const seed = parseBySchema(serviceSeed, { campaigns, webhooks, awards, values })
  refuseOptions('createCampaignService', [...optionIssues(own, SERVICE_OPTIONS), ...tokenIssues, ...seed.issues])
  return {
    ...rest,
    grants,
    rateLimit: rateLimit && new RateLimit(rateLimit),
    start: copyJson(seed.data as ServiceSeed),
  }
}
