import { readQueryNames } from '../endpoints/query-names.ts'
import { readRegistrationPath } from '../endpoints/registration-path.ts'
import { ConfigurationError } from '../errors/client-errors.ts'
import type {
  AccessTokenSource,
  CampaignClientOptions,
  ClientHooks,
  DerivedClientOptions,
  RequestLimits,
  RetryDelay,
  WriteGuard,
} from '../options.ts'
import { copyOfOptions, optionIssues, refuse } from '../shared/option-checks.ts'
import { isRecord } from '../shared/type-checks.ts'
import { baseUrlIssues } from './base-url.ts'
import { CLIENT, DERIVED, GUARD, HOOKS, hasEntries, LIMITS } from './option-rules.ts'
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

/** Copies the options of a client. It reads each field once and binds hooks to their object. */
export function copyOfClientOptions(options: CampaignClientOptions): CampaignClientOptions {
  const copy = copyOfOptions(options, CLIENT)
  return isRecord(copy) ? copyOfFields(copy) : copy
}

function copyOfFields<Options extends CampaignClientOptions | DerivedClientOptions>(copy: Options): Options {
  const { baseUrl, headers, queryNames, hooks, guard, limits } = copy as CampaignClientOptions
  const guardCopy = copyOfOptions(guard, GUARD)
  return {
    ...copy,
    ...(baseUrl instanceof URL && { baseUrl: baseUrl.href }),
    ...(hasEntries(headers) && { headers: { ...headers } }),
    ...(isRecord(queryNames) && { queryNames: copyOfQueryNames(queryNames) }),
    ...(isRecord(hooks) && { hooks: boundHooks(hooks) }),
    ...(isRecord(guardCopy) && { guard: { ...guardCopy, campaigns: copyOfList(guardCopy.campaigns) } }),
    ...(limits !== undefined && { limits: copyOfOptions(limits, LIMITS) }),
  }
}

const copyOfList = <List>(list: List): List => (Array.isArray(list) ? (Array.from(list) as List) : list)

const copyOfQueryNames = (queryNames: object): object =>
  Object.fromEntries(
    Object.entries(queryNames).map(([operation, names]) => [operation, isRecord(names) ? { ...names } : names]),
  )

/**
 * Binds hooks to their object. Keeps the unknown fields of a plain object, so that the rules report misspelt names. Omits the
 * unknown fields of a class instance.
 */
function boundHooks(hooks: Record<string, unknown>): object {
  const prototype: unknown = Object.getPrototypeOf(hooks)
  const isInstance = prototype !== null && Object.getPrototypeOf(prototype) !== null
  const names = new Set([...(isInstance ? [] : Object.keys(hooks)), ...Object.keys(HOOKS)])
  const bind = (hook: unknown): unknown => (typeof hook === 'function' ? hook.bind(hooks) : hook)
  return Object.fromEntries([...names].map((name) => [name, bind(hooks[name])]))
}

/**
 * Checks the options of a client and fills in the defaults.
 *
 * @param options - the result of {@link copyOfClientOptions}
 * @throws ConfigurationError when an option is wrong
 */
export function clientSettings(options: CampaignClientOptions): ClientSettings {
  if (!isRecord(options)) throw new ConfigurationError('CampaignClient takes an object with baseUrl and accessToken')
  refuse('CampaignClient', optionIssues(options, CLIENT), ConfigurationError)
  const issues = baseUrlIssues(options)
  if (options.fetch !== undefined && options.transport !== undefined) {
    issues.push({ path: ['transport'], message: 'replaces fetch; pass one of them' })
  }
  refuse('CampaignClient', issues, ConfigurationError)

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
  const copy = copyOfOptions(options, DERIVED)
  const differences = isRecord(copy) ? copyOfFields(copy) : copy
  const issues = optionIssues(differences, DERIVED)
  if (differences?.baseUrl !== undefined && differences.accessToken === undefined) {
    const message = 'needs its own accessToken, so that the token of the parent is not sent to another base URL'
    issues.push({ path: ['baseUrl'], message })
  }
  refuse('CampaignClient.with', issues, ConfigurationError)
  const given = Object.fromEntries(Object.entries(differences).filter(([, value]) => value !== undefined))
  return {
    options: { ...parent, ...given, guard: narrowed(parent.guard, differences.guard) },
    hasOwnToken: differences.accessToken !== undefined,
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
    ...(maximum < Number.POSITIVE_INFINITY && { maxXpPerAward: maximum }),
  }
}
