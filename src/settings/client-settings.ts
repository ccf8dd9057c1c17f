import { readQueryNames } from '../endpoints/query-names.ts'
import { readRegistrationPath } from '../endpoints/registration-path.ts'
import { copyOfOptions, optionIssues, refuseOptions } from '../errors/option-checks.ts'
import type {
  AccessTokenSource,
  CampaignClientOptions,
  ClientHooks,
  DerivedClientOptions,
  RequestLimits,
  RetryDelay,
  WriteGuard,
} from '../options.ts'
import { isRecord } from '../shared/type-checks.ts'
import { baseUrlIssues } from './base-url.ts'
import { CLIENT, DERIVED } from './option-rules.ts'
import { bearerToken } from './secrets.ts'

/** The checked options of a client, including defaults. */
export interface ClientSettings {
  /** Ends with a slash. */
  readonly baseUrl: string
  /** A trimmed token, or a function that returns a token. */
  readonly accessToken: string | AccessTokenSource
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly maxRetries: number
  readonly fetch: CampaignClientOptions['fetch']
  readonly transport: CampaignClientOptions['transport']
  readonly maxResponseBytes: number
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly queryNames: ReturnType<typeof readQueryNames>
  readonly webhookRegistrationPath: string | undefined
  readonly responseValidation: 'throw' | 'report'
  readonly hooks: ClientHooks | undefined
  readonly retryDelayMs: RetryDelay | undefined
  readonly limits: RequestLimits | undefined
  readonly guard: WriteGuard
}

/** Copies the options of a client and checks the copy. @throws ConfigurationError with all wrong options */
export function readClientOptions(options: CampaignClientOptions): CampaignClientOptions {
  const own = copyOfOptions(options, CLIENT)
  const issues = optionIssues(own, CLIENT)
  const isWrong = (name: string): boolean => issues.some(({ path }) => path[0] === name)
  if (own?.fetch !== undefined && own.transport !== undefined) {
    issues.push({ path: ['transport'], message: 'replaces fetch', advice: 'pass one of them' })
  }
  if (isRecord(own) && !isWrong('baseUrl') && !isWrong('transport')) issues.push(...baseUrlIssues(own))
  refuseOptions('CampaignClient', issues)
  return own
}

/** Fills in the defaults. @param options - the result of {@link readClientOptions} */
export function clientSettings(options: CampaignClientOptions): ClientSettings {
  const { href } = new URL(options.baseUrl)
  const { accessToken, webhookRegistrationPath } = options
  return {
    baseUrl: href.endsWith('/') ? href : `${href}/`,
    accessToken: typeof accessToken === 'function' ? accessToken : (bearerToken(accessToken) as string),
    timeoutMs: options.timeoutMs ?? 10_000,
    totalTimeoutMs: options.totalTimeoutMs ?? 60_000,
    maxRetries: options.maxRetries ?? 2,
    fetch: options.fetch,
    transport: options.transport,
    maxResponseBytes: options.maxResponseBytes ?? 32 * 1024 * 1024,
    headers: lowerCaseNames(options.headers),
    queryNames: readQueryNames(options.queryNames),
    webhookRegistrationPath: webhookRegistrationPath && readRegistrationPath(webhookRegistrationPath),
    responseValidation: options.responseValidation ?? 'throw',
    hooks: options.hooks,
    retryDelayMs: options.retryDelayMs,
    limits: options.limits,
    guard: options.guard ?? {},
  }
}

/**
 * Returns the options of a derived client.
 *
 * @throws ConfigurationError when an option is wrong, or cannot differ from the parent's
 */
export function derivedOptions(
  parent: CampaignClientOptions,
  options: DerivedClientOptions,
): { readonly options: CampaignClientOptions; readonly hasOwnToken: boolean } {
  const own = copyOfOptions(options, DERIVED)
  const issues = optionIssues(own, DERIVED)
  if (own?.baseUrl !== undefined && own.accessToken === undefined) {
    const message = 'needs its own accessToken, so that the token of the parent is not sent to another base URL'
    issues.push({ path: ['baseUrl'], message })
  }
  refuseOptions('CampaignClient.with', issues)
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
  return {
    options: { ...parent, ...given, guard: narrowed(parent.guard, own.guard) },
    hasOwnToken: own.accessToken !== undefined,
  }
}

export const lowerCaseNames = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Returns a guard that allows only the writes that both guards allow. */
function narrowed(guard: WriteGuard = {}, further: WriteGuard = {}): WriteGuard {
  const campaigns = further.campaigns ?? guard.campaigns
  const maximum = Math.min(...[guard.maxXpPerAward, further.maxXpPerAward].filter((each) => each !== undefined))
  return {
    ...(campaigns && { campaigns: campaigns.filter((each) => guard.campaigns?.includes(each) ?? true) }),
    ...(maximum < Infinity && { maxXpPerAward: maximum }),
  }
}
