import { queryNamesRule, readQueryNames } from './endpoints/query-names.ts'
import { readRegistrationPath, registrationPathRule } from './endpoints/registration-path.ts'
import { ConfigurationError, type Issue } from './errors.ts'
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
import { bearerToken, TOKEN_RULE } from './shared/bearer-token.ts'
import {
  copyOfOptions,
  describeProblems,
  dictionary,
  hasMethods,
  isBoolean,
  isFunction,
  isSignal,
  milliseconds,
  nested,
  type OptionProblem,
  type OptionRule,
  type OptionRules,
  oneOf,
  optional,
  optionProblems,
  positive,
  signalRule,
  wholeNumber,
  within,
} from './shared/options.ts'
import { isWellFormed } from './shared/text/well-formed.ts'
import { isRecord } from './shared/types.ts'

/** A client's options, checked, with their defaults. */
export interface ClientSettings {
  /** Ends with a slash. */
  readonly baseUrl: string
  /** A token that a header can carry, or a source of one. */
  readonly accessToken: string | AccessTokenSource
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly maxRetries: number
  readonly fetch: CampaignClientOptions['fetch']
  readonly transport: CampaignClientOptions['transport']
  readonly maxResponseBytes: number
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly queryNames: ReturnType<typeof readQueryNames>
  readonly webhookRegistrationPath: string | undefined
  readonly responseValidation: 'throw' | 'report'
  readonly hooks: ClientHooks | undefined
  readonly retryDelayMs: RetryDelay | undefined
  readonly limits: RequestLimits | undefined
  readonly guard: WriteGuard
}

/** One call's options, checked, with the client's in the place of what they leave out. */
export interface CallSettings {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly maxRetries: number
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>> | undefined
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** The client's, or the connection's: a `fetch` that refuses one of those looks like a network that failed. */
const RESERVED_HEADER =
  /^(?:authorization|content-(?:type|length)|transfer-encoding|trailer|host|keep-alive|upgrade|expect)$/i

const eachHeader = dictionary((content, name) => {
  if (!HEADER_NAME.test(name)) return 'is not a header name'
  if (RESERVED_HEADER.test(name)) return 'is set by the client or the connection'
  return typeof content === 'string' && HEADER_VALUE.test(content) ? undefined : 'must be one line of Latin-1 text'
})

/** Lists and maps have no fields of their own, so what they hold would be lost without a word. */
const hasFields = (value: unknown): boolean => isRecord(value) && !(Symbol.iterator in value)

const headers: OptionRule = (value) =>
  hasFields(value) && !(typeof Headers !== 'undefined' && value instanceof Headers)
    ? eachHeader(value)
    : 'must be a plain object of header names and values'

const eachParameter = dictionary((content, name) => {
  if (content === undefined) return undefined
  const isSendable = typeof content === 'string' || typeof content === 'boolean' || Number.isFinite(content)
  if (!isSendable) return 'must be a string, a finite number or a boolean'
  return isWellFormed(`${name} ${content}`) ? undefined : 'must not hold half a surrogate pair'
})

const query: OptionRule = (value) =>
  hasFields(value) ? eachParameter(value) : 'must be a plain object of parameter names and values'

/** It must not carry what would travel, or be lost, with every request. */
const baseUrl: OptionRule = (value) => {
  const url = readUrl(value)
  if (url === undefined) return 'must be an absolute URL such as https://host/api/v1'
  const problems: OptionProblem[] = []
  const complain = (message: string): number => problems.push({ path: [], message })
  if (url.protocol !== 'https:' && url.protocol !== 'http:') complain('must be an https URL')
  if (url.username !== '' || url.password !== '') complain('must not hold credentials; pass accessToken')
  // The serialised address shows an empty `?` or `#` too, which `search` and `hash` hide.
  if (url.href.includes('?')) complain('must not hold a query; pass query with a call')
  if (url.href.includes('#')) complain('must not hold a fragment')
  return problems
}

const accessToken: OptionRule = (value) =>
  typeof value === 'function' || bearerToken(value) !== undefined ? undefined : `${TOKEN_RULE}, or a function`

const hook = optional(isFunction)
const HOOKS: OptionRules<ClientHooks> = {
  onRequest: hook,
  onResponse: hook,
  onRetry: hook,
  onInvalidResponse: hook,
  onEnd: hook,
}

/** An instance of a class has fields of its own; in a plain object, a name that is none of these is misspelt. */
const hooks: OptionRule = (value) =>
  optionProblems(isInstance(value) ? picked(value, Object.keys(HOOKS)) : value, HOOKS)

function isInstance(value: unknown): value is Record<string, unknown> {
  const prototype: unknown = isRecord(value) ? Object.getPrototypeOf(value) : null
  return prototype !== null && Object.getPrototypeOf(prototype) !== null
}

const picked = (value: Record<string, unknown>, names: readonly string[]): object =>
  Object.fromEntries(names.map((name) => [name, value[name]]))

const LIMITS: OptionRules<RequestLimits> = {
  maxConcurrency: optional(wholeNumber(1)),
  requestsPerSecond: optional(positive('requests', 1_000_000)),
}

const campaigns: OptionRule = (value) =>
  // `every` alone passes over holes.
  Array.isArray(value) && Array.from(value).every((each) => typeof each === 'string' && each !== '')
    ? undefined
    : 'must be a list of campaign IDs'

const GUARD: OptionRules<WriteGuard> = {
  campaigns: optional(campaigns),
  maxXpPerAward: optional(within('XP', 0, Number.MAX_VALUE)),
}

const DIFFERENCES = {
  timeoutMs: optional(milliseconds),
  totalTimeoutMs: optional(milliseconds),
  maxRetries: optional(wholeNumber(0)),
  headers: optional(headers),
  hooks: optional(hooks),
  retryDelayMs: optional(isFunction),
  guard: optional(nested(GUARD)),
}

const isTransport: OptionRule = (value) => {
  const problem = hasMethods('send')(value)
  if (problem !== undefined) return problem
  const asked: unknown = Reflect.get(value as object, 'baseUrlProblem')
  return asked === undefined || typeof asked === 'function' ? undefined : 'has a baseUrlProblem that is no function'
}

const CLIENT: OptionRules<CampaignClientOptions> = {
  baseUrl,
  accessToken,
  ...DIFFERENCES,
  fetch: optional(isFunction),
  transport: optional(isTransport),
  maxResponseBytes: optional(wholeNumber(1)),
  allowInsecureHttp: optional(isBoolean),
  queryNames: optional(queryNamesRule),
  webhookRegistrationPath: optional(registrationPathRule),
  responseValidation: optional(oneOf('throw', 'report')),
  limits: optional(nested(LIMITS)),
}

const DERIVED: OptionRules<DerivedClientOptions> = {
  baseUrl: optional(baseUrl),
  accessToken: optional(accessToken),
  ...DIFFERENCES,
}

const CALL: OptionRules<CallOptions> = {
  signal: optional(signalRule),
  timeoutMs: optional(milliseconds),
  totalTimeoutMs: optional(milliseconds),
  maxRetries: optional(wholeNumber(0)),
  headers: optional(headers),
  query: optional(query),
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

function plainHttpProblems({ baseUrl, allowInsecureHttp }: Record<string, unknown>): OptionProblem[] {
  const url = readUrl(baseUrl)
  if (url?.protocol !== 'http:' || allowInsecureHttp === true || LOOPBACK.test(url.hostname)) return []
  const message = 'must be https, since the token would travel in the clear; allowInsecureHttp: true accepts it'
  return [{ path: ['baseUrl'], message }]
}

function twoSendersProblems({ fetch, transport }: Record<string, unknown>): OptionProblem[] {
  if (fetch === undefined || transport === undefined) return []
  return [{ path: ['transport'], message: 'takes the place of fetch; pass one of them' }]
}

/** A client's options as they are when it is made: what is changed afterwards changes nothing, the methods of the hooks apart. */
export function ownOptions(options: CampaignClientOptions): CampaignClientOptions {
  const own = copyOfOptions(options, CLIENT)
  return isRecord(own) ? { ...own, guard: ownGuard(own.guard), limits: copyOfOptions(own.limits, LIMITS) } : own
}

function ownGuard(guard: WriteGuard | undefined): WriteGuard | undefined {
  const own = copyOfOptions(guard, GUARD)
  return Array.isArray(own?.campaigns) ? { ...own, campaigns: Array.from(own.campaigns) } : own
}

/**
 * Checks a client's options and fills in the defaults.
 *
 * @param options - As `ownOptions` gives them.
 * @throws ConfigurationError when one of them is wrong.
 */
export function clientSettings(options: CampaignClientOptions): ClientSettings {
  if (!isRecord(options)) throw new ConfigurationError('CampaignClient takes an object with baseUrl and accessToken')
  const problems = [...optionProblems(options, CLIENT), ...plainHttpProblems(options), ...twoSendersProblems(options)]
  if (problems.length > 0) throw new ConfigurationError(`CampaignClient: ${describeProblems(problems)}`)

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

/** The options of a derived client. @throws ConfigurationError when a difference is wrong, or none that it may have. */
export function derivedOptions(
  parent: CampaignClientOptions,
  differences: DerivedClientOptions,
): CampaignClientOptions {
  const read = copyOfOptions(differences, DERIVED)
  const copy = read?.guard === undefined ? read : { ...read, guard: ownGuard(read.guard) }
  const problems = [...optionProblems(copy, DERIVED)]
  if (copy?.baseUrl !== undefined && copy.accessToken === undefined) {
    problems.push({
      path: ['baseUrl'],
      message: 'takes accessToken with it: no token goes to two addresses by mistake',
    })
  }
  if (problems.length > 0) throw new ConfigurationError(`CampaignClient.with: ${describeProblems(problems)}`)
  const given = Object.fromEntries(Object.entries(copy).filter(([, value]) => value !== undefined))
  return { ...parent, ...given, guard: narrowed(parent.guard, copy.guard) }
}

/** Checks one call's options. Gives what is wrong with them to `issues`, to be thrown with the arguments' own. */
export function callSettings(client: ClientSettings, options: CallOptions | undefined, issues: Issue[]): CallSettings {
  const own = options && copyOfOptions(options, CALL)
  const problems = options === undefined ? [] : callProblems(options, own)
  for (const { path, message } of problems) issues.push({ path: ['options', ...path], message })
  const { signal, timeoutMs, totalTimeoutMs, maxRetries, headers, query } = problems.length === 0 ? (own ?? {}) : {}
  return {
    signal,
    timeoutMs: timeoutMs ?? client.timeoutMs,
    totalTimeoutMs: totalTimeoutMs ?? client.totalTimeoutMs,
    maxRetries: maxRetries ?? client.maxRetries,
    headers: headers === undefined ? client.headers : { ...client.headers, ...lowerCaseNames(headers) },
    query: query && textsOf(query),
  }
}

/** A signal in the place of the options has no fields of its own, so it would pass and never be listened to. */
const callProblems = (options: unknown, own: CallOptions | undefined): OptionProblem[] =>
  isRecord(options) && !isSignal(options)
    ? optionProblems(own, CALL)
    : [{ path: [], message: 'must be an object such as { signal }' }]

function readUrl(value: unknown): URL | undefined {
  try {
    return typeof value === 'string' || value instanceof URL ? new URL(value) : undefined
  } catch {
    // It is no address, or a Proxy around one.
    return undefined
  }
}

const lowerCaseNames = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const textsOf = (query: NonNullable<CallOptions['query']>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )

/** The guard that allows what both allow. */
function narrowed(guard: WriteGuard = {}, further: WriteGuard = {}): WriteGuard {
  const campaigns = further.campaigns ?? guard.campaigns
  const maximum = Math.min(...[guard.maxXpPerAward, further.maxXpPerAward].filter((each) => each !== undefined))
  return {
    ...(campaigns && { campaigns: campaigns.filter((each) => guard.campaigns?.includes(each) ?? true) }),
    ...(maximum < Number.POSITIVE_INFINITY && { maxXpPerAward: maximum }),
  }
}
