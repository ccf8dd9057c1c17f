import {
  mustBeQueryNames,
  mustBeRegistrationPath,
  type QueryNames,
  readRegistrationPath,
} from './endpoints/undocumented-options.ts'
import {
  copyOfOptions,
  dictionary,
  milliseconds,
  mustBeBoolean,
  mustBeFunction,
  mustBeSignal,
  mustHaveMethods,
  nested,
  type OptionIssue,
  type OptionRule,
  type OptionRules,
  oneOf,
  optional,
  optionIssues,
  positive,
  refuseOptions,
  wholeNumber,
  withCopy,
  within,
} from './errors/option-checks.ts'
import type {
  AccessTokenSource,
  CallOptions,
  CampaignClientOptions,
  ClientHooks,
  DerivedClientOptions,
  RequestLimits,
  RetryDelay,
  WriteGuard,
} from './options.ts'
import { isForbiddenPort, isLoopback } from './shared/http.ts'
import { isWellFormed } from './shared/text.ts'
import { isRecord } from './shared/type-checks.ts'

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
  readonly queryNames: QueryNames
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
    queryNames: options.queryNames ?? {},
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

/** The characters that a header allows in a token. */
const BEARER_TOKEN = /^[\x21-\x7e]+$/

/** The message about an unusable token. */
export const TOKEN_RULE = 'must be a non-empty token without white space, line breaks or the prefix "Bearer "'

/** Returns the trimmed token; `undefined` if the value is not a token. */
export function bearerToken(value: unknown): string | undefined {
  const token = typeof value === 'string' ? value.trim() : ''
  return BEARER_TOKEN.test(token) ? token : undefined
}

const baseUrlProblems: OptionRule = (value) => {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined) return 'must be an absolute URL such as https://host/api/v1'
  const issues: OptionIssue[] = []
  const addIssue = (message: string, advice?: string): number =>
    issues.push({ path: [], message, ...(advice && { advice }) })
  if (url.protocol !== 'https:' && url.protocol !== 'http:') addIssue('must be an https URL')
  if (url.username !== '' || url.password !== '') addIssue('must not contain credentials', 'pass accessToken')
  // `search` and `hash` do not show an empty query or fragment, but `href` does.
  if (url.href.includes('?')) addIssue('must not contain a query', 'pass query with a call')
  if (url.href.includes('#')) addIssue('must not contain a fragment')
  return issues
}

/** Checks `baseUrl` without the other options. Its copy converts a `URL` to a string. */
const mustBeBaseUrl = withCopy(baseUrlProblems, (value) => (value instanceof URL ? value.href : value))

/** Checks `baseUrl` with the other options. `baseUrl` must be a valid URL. */
function baseUrlIssues({ baseUrl, allowInsecureHttp, fetch, transport }: CampaignClientOptions): OptionIssue[] {
  const { href, protocol, hostname, port } = new URL(baseUrl)
  const issues: OptionIssue[] = []
  const addIssue = (message: string, advice: string): number => issues.push({ path: ['baseUrl'], message, advice })
  if (protocol === 'http:' && allowInsecureHttp !== true && !isLoopback(hostname)) {
    addIssue('must be https, because http sends the token unencrypted', 'allowInsecureHttp: true accepts it')
  }
  if (fetch === undefined && transport === undefined && port !== '' && isForbiddenPort(Number(port))) {
    addIssue(`must not use port ${port}, which fetch refuses`, 'use another port or a transport')
  }
  const transportProblem = transport?.baseUrlProblem?.(href.endsWith('/') ? href : `${href}/`)
  if (transportProblem !== undefined) {
    issues.push({ path: ['baseUrl'], message: `is refused by the transport: ${transportProblem}` })
  }
  return issues
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Headers that the client or the connection sets. Some `fetch` implementations report such a header as a network failure. */
const RESERVED_HEADER =
  /^(?:authorization|content-(?:type|length)|transfer-encoding|trailer|te|host|(?:proxy-)?connection|keep-alive|upgrade|expect)$/i
/** Headers that replace the method or URL of a request on some servers. Many servers read `_` as `-`. */
const OVERRIDING_HEADER =
  /^x[-_](?:http[-_]method(?:[-_]override)?|method[-_]override|original[-_]url|rewrite[-_]url)$/i

/** Whether a value is an object, but not a list, a map or `Headers`. */
const hasEntries = <Value>(value: Value): value is Value & object => isRecord(value) && !(Symbol.iterator in value)

/** The rule for a plain object of headers or parameters. `rule` checks each entry. */
function plainObject(entries: string, rule: Parameters<typeof dictionary>[0]): OptionRule {
  const eachEntry = dictionary(rule)
  return withCopy(
    (value) => (hasEntries(value) ? eachEntry(value) : `must be a plain object of ${entries} names and values`),
    (value) => (hasEntries(value) ? { ...value } : value),
  )
}

const mustBeHeaders = plainObject('header', (content, name) => {
  if (!HEADER_NAME.test(name)) return 'is not a header name'
  if (RESERVED_HEADER.test(name)) return 'is set by the client or the connection'
  if (OVERRIDING_HEADER.test(name)) return 'would replace the method or the URL of the request'
  return typeof content === 'string' && HEADER_VALUE.test(content) ? undefined : 'must be one line of Latin-1 text'
})

const mustBeQuery = plainObject('parameter', (content, name) => {
  if (content === undefined) return undefined
  const isSendable = typeof content === 'string' || typeof content === 'boolean' || Number.isFinite(content)
  if (!isSendable) return 'must be a string, a finite number or a boolean'
  return isWellFormed(`${name} ${content}`) ? undefined : 'must not contain a lone surrogate'
})

const mustBeAccessToken: OptionRule = (value) => {
  if (typeof value === 'function' || bearerToken(value) !== undefined) return undefined
  const unset = value === undefined ? 'undefined' : value === '' ? 'an empty value' : undefined
  const advice = 'a function may return the token'
  if (unset === undefined) return [{ path: [], message: TOKEN_RULE, advice }]
  return [{ path: [], message: `${TOKEN_RULE}, got ${unset}. Is it set?`, advice }]
}

const hook = optional(mustBeFunction)
const HOOKS: OptionRules<ClientHooks> = {
  onRequest: hook,
  onResponse: hook,
  onRetry: hook,
  onInvalidResponse: hook,
  onEnd: hook,
}

/**
 * Binds hooks to their object. Keeps the unknown names of a plain object, so that the rules report misspelt names. Omits the
 * unknown names of a class instance.
 */
function boundHooks(hooks: unknown): unknown {
  if (!isRecord(hooks)) return hooks
  const prototype: unknown = Object.getPrototypeOf(hooks)
  const isInstance = prototype !== null && Object.getPrototypeOf(prototype) !== null
  const unknown = isInstance ? [] : Object.keys(hooks).filter((name) => !Object.hasOwn(HOOKS, name))
  const bind = (hook: unknown): unknown => (typeof hook === 'function' ? hook.bind(hooks) : hook)
  return Object.fromEntries([
    ...unknown.map((name) => [name, undefined]),
    ...Object.keys(HOOKS).map((name) => [name, bind(hooks[name])]),
  ])
}

const LIMITS: OptionRules<RequestLimits> = {
  maxConcurrency: optional(wholeNumber(1)),
  requestsPerSecond: optional(positive('requests', 1_000_000)),
}

const mustBeCampaigns: OptionRule = (value) =>
  // `Array.from` turns holes into `undefined`; `every` would skip them.
  Array.isArray(value) && Array.from(value).every((each) => typeof each === 'string' && each !== '')
    ? undefined
    : 'must be a list of campaign IDs'

const GUARD: OptionRules<WriteGuard> = {
  campaigns: optional(mustBeCampaigns),
  maxXpPerAward: optional(within('XP', 0, Number.MAX_VALUE)),
}

const mustBeTransport: OptionRule = (value) => {
  const issue = mustHaveMethods('send')(value)
  if (issue !== undefined) return issue
  const baseUrlProblem: unknown = Reflect.get(value as object, 'baseUrlProblem')
  return optional(mustBeFunction)(baseUrlProblem) === undefined
    ? undefined
    : 'has a baseUrlProblem that is not a function'
}

/** The options that a client, a derived client and a call have. */
const SHARED = {
  timeoutMs: optional(milliseconds),
  totalTimeoutMs: optional(milliseconds),
  maxRetries: optional(wholeNumber(0)),
  headers: optional(mustBeHeaders),
}

const OVERRIDABLE = {
  ...SHARED,
  hooks: optional(withCopy(nested(HOOKS), boundHooks)),
  retryDelayMs: optional(mustBeFunction),
  guard: optional(nested(GUARD)),
}

const CLIENT: OptionRules<CampaignClientOptions> = {
  baseUrl: mustBeBaseUrl,
  accessToken: mustBeAccessToken,
  ...OVERRIDABLE,
  fetch: optional(mustBeFunction),
  transport: optional(mustBeTransport),
  maxResponseBytes: optional(wholeNumber(1)),
  allowInsecureHttp: optional(mustBeBoolean),
  queryNames: optional(mustBeQueryNames),
  webhookRegistrationPath: optional(mustBeRegistrationPath),
  responseValidation: optional(oneOf('throw', 'report')),
  limits: optional(nested(LIMITS)),
}

const DERIVED: OptionRules<DerivedClientOptions> = {
  baseUrl: optional(mustBeBaseUrl),
  accessToken: optional(mustBeAccessToken),
  ...OVERRIDABLE,
}

export const CALL: OptionRules<CallOptions> = {
  signal: optional(mustBeSignal),
  ...SHARED,
  query: optional(mustBeQuery),
}
