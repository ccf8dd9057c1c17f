import { mustBeQueryNames } from '../endpoints/query-names.ts'
import { mustBeRegistrationPath } from '../endpoints/registration-path.ts'
import {
  dictionary,
  milliseconds,
  mustBeBoolean,
  mustBeFunction,
  mustBeSignal,
  mustHaveMethods,
  nested,
  type OptionRule,
  type OptionRules,
  oneOf,
  optional,
  positive,
  wholeNumber,
  withCopy,
  within,
} from '../errors/option-checks.ts'
import type {
  CallOptions,
  CampaignClientOptions,
  ClientHooks,
  DerivedClientOptions,
  RequestLimits,
  WriteGuard,
} from '../options.ts'
import { isWellFormed } from '../shared/text.ts'
import { isRecord } from '../shared/type-checks.ts'
import { mustBeBaseUrl } from './base-url.ts'
import { bearerToken, TOKEN_RULE } from './secrets.ts'

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Headers that the client or the connection sets. Some `fetch` implementations report them as a network failure. */
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
  const problem = mustHaveMethods('send')(value)
  if (problem !== undefined) return problem
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

export const CLIENT: OptionRules<CampaignClientOptions> = {
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

export const DERIVED: OptionRules<DerivedClientOptions> = {
  baseUrl: optional(mustBeBaseUrl),
  accessToken: optional(mustBeAccessToken),
  ...OVERRIDABLE,
}

export const CALL: OptionRules<CallOptions> = {
  signal: optional(mustBeSignal),
  ...SHARED,
  query: optional(mustBeQuery),
}
