import { endpoints, type OpenQueryOperation, type OperationName, type RequestOf } from './endpoints/index.ts'
import { type CampaignError, ConfigurationError, InvalidRequestError, type Issue } from './errors.ts'
import type { Transport } from './http/transport.ts'
import { optional, wholeNumber } from './shared/options.ts'
import { isRecord } from './shared/record.ts'
import { LONGEST_TIMER_MS } from './shared/timer-limit.ts'
import { isWellFormed } from './shared/well-formed.ts'

/** Gives a bearer token (a JWT) each time one is needed. */
export type AccessTokenSource = () => string | Promise<string>

/** Other names for the query parameters that the interface leaves open: `{ getCampaignInfo: { pid: 'id' } }`. */
export type QueryNames = {
  readonly [Name in OpenQueryOperation]?:
    | { readonly [Argument in keyof RequestOf<Name>]?: string | undefined }
    | undefined
}

/** An attempt is about to be sent. */
export interface RequestEvent {
  /** The method of `CampaignClient`. */
  readonly operation: OperationName
  readonly method: 'GET' | 'POST'
  /** Path below the base URL, without the query. */
  readonly path: string
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** An answer has arrived, whatever its status. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number
  /** From sending to the last byte of the body, in milliseconds. */
  readonly durationMs: number
  /** Headers that help to trace the answer: an allow-list, never cookies or credentials. */
  readonly headers: Readonly<Record<string, string>>
}

/** An attempt has failed and will be repeated. */
export interface RetryEvent extends RequestEvent {
  /** How long the client waits before it repeats, in milliseconds. */
  readonly delayMs: number
  /** What the failed attempt would have thrown. */
  readonly error: CampaignError
}

/** The data of an answer does not fit its schema and is handed over as it came. */
export interface InvalidResponseEvent {
  readonly operation: OperationName
  readonly status: number
  /** What did not fit, with paths from the root of the body. Never values. */
  readonly issues: readonly Issue[]
}

/** What a logger or a tracer needs. No hook ever gets a secret, and one that throws or rejects breaks no call. */
export interface ClientHooks {
  /** Called before each attempt. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  /** Called after each answer, error answers included. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined
  /** Called before the wait that precedes a repeat. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined
  /** Called with `responseValidation: 'report'` when data does not fit its schema. */
  readonly onInvalidResponse?: ((event: InvalidResponseEvent) => void) | undefined
}

/** How a client is set up. */
export interface CampaignClientOptions {
  /** Address of the service, `/api/v1` included; a trailing slash makes no difference. */
  readonly baseUrl: string | URL
  /** The bearer token, or a source of one. White space around it is trimmed. */
  readonly accessToken: string | AccessTokenSource
  /** Limit of one attempt in milliseconds, its body included. Default 10 000. */
  readonly timeoutMs?: number | undefined
  /** Limit of a whole call in milliseconds: attempts, waits and the token source. Default 60 000. */
  readonly totalTimeoutMs?: number | undefined
  /** How many further attempts a call may make, the replay after a 401 included. Default 2; 0 means one attempt. */
  readonly maxRetries?: number | undefined
  /** A `fetch` of your own, for a proxy or a test. Default: the global one at the time of the call. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * What sends the requests, in place of `fetch`: `nodeTransport()` of `campaign-client/node`, or your own. You made it,
   * so you close it.
   */
  readonly transport?: Transport | undefined
  /**
   * The longest answer to be read, in bytes after decompression. Default 32 MiB. A longer one is an
   * `UnexpectedResponseError`, and a write's outcome is unknown.
   */
  readonly maxResponseBytes?: number | undefined
  /** Headers of every request. `authorization` belongs to `accessToken`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Accept plain http for hosts other than loopback. Default false: the token would travel in the clear. */
  readonly allowInsecureHttp?: boolean | undefined
  /** Other names for the query parameters that the interface leaves open. Defaults (assumed): the argument's name. */
  readonly queryNames?: QueryNames | undefined
  /** Path of the webhook registration, which the interface does not show. Without it `registerWebhook` refuses. */
  readonly webhookRegistrationPath?: string | undefined
  /**
   * What happens to data of another shape: `'throw'` (default) an `UnexpectedResponseError`, or `'report'` it to
   * `hooks.onInvalidResponse` and return it as it came.
   */
  readonly responseValidation?: 'throw' | 'report' | undefined
  /** Called around every attempt. */
  readonly hooks?: ClientHooks | undefined
}

/** How one call differs from the client's setup. */
export interface CallOptions {
  /** Aborts the call at once, waits included. The call rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
  /** As on the client. */
  readonly timeoutMs?: number | undefined
  /** As on the client. */
  readonly totalTimeoutMs?: number | undefined
  /** As on the client. */
  readonly maxRetries?: number | undefined
  /** Further headers. They win over the client's. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Undocumented query parameters, for instance the environment of a campaign. They cannot replace the call's own. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
}

/** A client's setup, checked, with its defaults. */
export interface ClientSettings {
  /** Ends with a slash. */
  readonly baseUrl: string
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly maxRetries: number
  readonly fetch: typeof globalThis.fetch | undefined
  readonly transport: Transport | undefined
  readonly maxResponseBytes: number
  readonly headers: Readonly<Record<string, string>>
  readonly queryNames: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly webhookRegistrationPath: string | undefined
  readonly responseValidation: 'throw' | 'report'
  readonly hooks: ClientHooks
}

/** One call's setup, checked, with the client's in the place of what it leaves out. */
export interface CallSettings {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly maxRetries: number
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>> | undefined
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** What a header can carry in one word. */
const BEARER_TOKEN = /^[\x21-\x7e]+$/
export const TOKEN_RULE = 'must be a non-empty token without white space, line breaks or a "Bearer " in front'
/** The client's, or the connection's: a `fetch` that refuses one of those looks like a network that failed. */
const RESERVED_HEADER = /^(?:authorization|content-(?:type|length)|transfer-encoding|host|keep-alive|upgrade|expect)$/i

const CLIENT_OPTIONS = [
  'baseUrl',
  'accessToken',
  'timeoutMs',
  'totalTimeoutMs',
  'maxRetries',
  'fetch',
  'transport',
  'maxResponseBytes',
  'headers',
  'allowInsecureHttp',
  'queryNames',
  'webhookRegistrationPath',
  'responseValidation',
  'hooks',
] as const satisfies readonly (keyof CampaignClientOptions)[]

const CALL_OPTIONS = [
  'signal',
  'timeoutMs',
  'totalTimeoutMs',
  'maxRetries',
  'headers',
  'query',
] as const satisfies readonly (keyof CallOptions)[]

const HOOKS = [
  'onRequest',
  'onResponse',
  'onRetry',
  'onInvalidResponse',
] as const satisfies readonly (keyof ClientHooks)[]

type Complaint = (path: (string | number)[], message: string) => void

function checkKnown(value: Record<string, unknown>, known: readonly string[], at: string[], complain: Complaint): void {
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) complain([...at, name], `is not an option; there are ${known.join(', ')}`)
  }
}

function checkMilliseconds(value: unknown, path: string[], complain: Complaint): void {
  if (value === undefined) return
  if (typeof value !== 'number' || !(value > 0) || value > LONGEST_TIMER_MS) {
    complain(path, `must be a number of milliseconds above 0 and at most ${LONGEST_TIMER_MS}`)
  }
}

function checkRetries(value: unknown, path: string[], complain: Complaint): void {
  if (value === undefined) return
  if (!Number.isInteger(value) || (value as number) < 0) complain(path, 'must be a whole number, 0 or more')
}

function checkHeaders(value: unknown, path: string[], complain: Complaint): void {
  if (value === undefined) return
  if (!isRecord(value) || Symbol.iterator in value || (typeof Headers !== 'undefined' && value instanceof Headers)) {
    complain(path, 'must be a plain object of header names and values')
    return
  }
  for (const [name, content] of Object.entries(value)) {
    if (!HEADER_NAME.test(name)) complain([...path, name], 'is not a header name')
    else if (RESERVED_HEADER.test(name)) complain([...path, name], 'is set by the client or the connection')
    else if (typeof content !== 'string' || !HEADER_VALUE.test(content)) {
      complain([...path, name], 'must be one line of Latin-1 text')
    }
  }
}

function lowerCaseNames(headers: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
}

function checkLimits(options: Record<string, unknown>, at: string[], complain: Complaint): void {
  checkMilliseconds(options.timeoutMs, [...at, 'timeoutMs'], complain)
  checkMilliseconds(options.totalTimeoutMs, [...at, 'totalTimeoutMs'], complain)
  checkRetries(options.maxRetries, [...at, 'maxRetries'], complain)
  checkHeaders(options.headers, [...at, 'headers'], complain)
}

/** The address with one slash at its end. It must not carry what would travel, or be lost, with every request. */
function checkBaseUrl(value: unknown, allowInsecureHttp: boolean, complain: Complaint): string {
  const at = ['baseUrl']
  let url: URL
  try {
    if (typeof value !== 'string' && !(value instanceof URL)) throw new TypeError()
    url = new URL(value)
  } catch {
    complain(at, 'must be an absolute URL such as https://host/api/v1')
    return ''
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') complain(at, 'must be an https URL')
  if (url.username !== '' || url.password !== '') complain(at, 'must not hold credentials; pass accessToken')
  // The serialised address shows an empty `?` or `#` too, which `search` and `hash` hide.
  if (url.href.includes('?')) complain(at, 'must not hold a query; pass query with a call')
  if (url.href.includes('#')) complain(at, 'must not hold a fragment')
  if (url.protocol === 'http:' && !allowInsecureHttp && !LOOPBACK.test(url.hostname)) {
    complain(at, 'must be https, since the token would travel in the clear; allowInsecureHttp: true accepts it')
  }
  return url.href.endsWith('/') ? url.href : `${url.href}/`
}

/** The text as a header can carry it, without the white space around it. `undefined` for what is no token. */
export function bearerToken(value: unknown): string | undefined {
  const token = typeof value === 'string' ? value.trim() : ''
  return BEARER_TOKEN.test(token) ? token : undefined
}

function checkQueryNames(value: unknown, complain: Complaint): Record<string, Record<string, string>> {
  if (value === undefined) return {}
  if (!isRecord(value)) {
    complain(['queryNames'], 'must be an object such as { getCampaignInfo: { pid: "id" } }')
    return {}
  }
  const open = Object.entries(endpoints).flatMap(([name, { assumedQueryNames }]): [string, readonly string[]][] =>
    assumedQueryNames === undefined ? [] : [[name, assumedQueryNames]],
  )
  checkKnown(
    value,
    open.map(([name]) => name),
    ['queryNames'],
    complain,
  )
  for (const [operation, renamable] of open) {
    const names = value[operation]
    if (names === undefined) continue
    if (!isRecord(names)) {
      complain(['queryNames', operation], 'must be an object of argument names and query names')
      continue
    }
    checkKnown(names, renamable, ['queryNames', operation], complain)
    for (const [argument, name] of Object.entries(names)) {
      if (name !== undefined && (typeof name !== 'string' || name === '' || !isWellFormed(name))) {
        complain(['queryNames', operation, argument], 'must be a non-empty string without half a surrogate pair')
      }
    }
    const sent = renamable.map((argument) => names[argument] ?? argument)
    if (new Set(sent).size < sent.length) complain(['queryNames', operation], 'gives two arguments the same name')
  }
  return value as Record<string, Record<string, string>>
}

function checkRegistrationPath(value: unknown, complain: Complaint): string | undefined {
  if (value === undefined) return undefined
  // Resolved against a base of our own: whatever leaves that base would take the token elsewhere.
  const base = 'https://base.invalid/v/'
  const path = typeof value === 'string' ? value.replace(/^\//, '') : ''
  if (path === '' || /[?#\\]/.test(path) || !URL.canParse(path, base) || new URL(path, base).href !== base + path) {
    complain(['webhookRegistrationPath'], 'must be a path below baseUrl such as "webhooks", without query or fragment')
  }
  return path
}

/** Checks a client's options and fills in the defaults. @throws ConfigurationError when one of them is wrong. */
export function clientSettings(options: CampaignClientOptions): ClientSettings {
  if (!isRecord(options)) throw new ConfigurationError('CampaignClient takes an object with baseUrl and accessToken')
  const complaints: string[] = []
  const complain: Complaint = (path, message) => complaints.push(`${path.join('.')} ${message}`)

  checkKnown(options, CLIENT_OPTIONS, [], complain)
  checkLimits(options, [], complain)
  const baseUrl = checkBaseUrl(options.baseUrl, options.allowInsecureHttp === true, complain)
  if (typeof options.accessToken !== 'function' && bearerToken(options.accessToken) === undefined) {
    complain(['accessToken'], `${TOKEN_RULE}, or a function`)
  }
  const queryNames = checkQueryNames(options.queryNames, complain)
  const webhookRegistrationPath = checkRegistrationPath(options.webhookRegistrationPath, complain)
  if (options.allowInsecureHttp !== undefined && typeof options.allowInsecureHttp !== 'boolean') {
    complain(['allowInsecureHttp'], 'must be true or false')
  }
  if (options.fetch !== undefined && typeof options.fetch !== 'function') complain(['fetch'], 'must be a function')
  if (options.transport !== undefined) {
    if (!isRecord(options.transport) || typeof options.transport.send !== 'function')
      complain(['transport'], 'must have a send method')
    else if (options.fetch !== undefined) complain(['transport'], 'takes the place of fetch; pass one of them')
  }
  const problem = optional(wholeNumber(1))(options.maxResponseBytes)
  if (typeof problem === 'string') complain(['maxResponseBytes'], problem)
  const { responseValidation = 'throw', hooks = {} } = options
  if (responseValidation !== 'throw' && responseValidation !== 'report') {
    complain(['responseValidation'], "must be 'throw' or 'report'")
  }
  if (!isRecord(hooks)) complain(['hooks'], 'must be an object of functions')
  else {
    checkKnown(hooks, HOOKS, ['hooks'], complain)
    for (const name of HOOKS) {
      if (hooks[name] !== undefined && typeof hooks[name] !== 'function')
        complain(['hooks', name], 'must be a function')
    }
  }
  if (complaints.length > 0) throw new ConfigurationError(`CampaignClient: ${complaints.join('; ')}`)

  return {
    baseUrl,
    timeoutMs: options.timeoutMs ?? 10_000,
    totalTimeoutMs: options.totalTimeoutMs ?? 60_000,
    maxRetries: options.maxRetries ?? 2,
    fetch: options.fetch,
    transport: options.transport,
    maxResponseBytes: options.maxResponseBytes ?? 32 * 1024 * 1024,
    headers: lowerCaseNames(options.headers),
    queryNames,
    webhookRegistrationPath,
    responseValidation,
    hooks,
  }
}

function checkQuery(value: unknown, complain: Complaint): Record<string, string> | undefined {
  if (value === undefined) return undefined
  const at = ['options', 'query']
  if (!isRecord(value)) {
    complain(at, 'must be an object of names and values')
    return undefined
  }
  const query: [string, string][] = []
  for (const [name, content] of Object.entries(value)) {
    if (content === undefined) continue
    const sendable = typeof content === 'string' || typeof content === 'boolean' || Number.isFinite(content)
    if (!sendable) complain([...at, name], 'must be a string, a finite number or a boolean')
    else if (!isWellFormed(`${name} ${content}`)) complain([...at, name], 'must not hold half a surrogate pair')
    else query.push([name, String(content)])
  }
  // Not assigned one by one: that would lose a parameter named `__proto__`.
  return Object.fromEntries(query)
}

/** Checks one call's options. Gives what is wrong with them to `issues`, to be thrown with the arguments' own. */
export function callSettings(client: ClientSettings, options: CallOptions | undefined, issues: Issue[]): CallSettings {
  if (options === undefined) {
    const { timeoutMs, totalTimeoutMs, maxRetries, headers } = client
    return { signal: undefined, timeoutMs, totalTimeoutMs, maxRetries, headers, query: undefined }
  }
  const complain: Complaint = (path, message) => issues.push({ path, message })
  const given: unknown = options
  // A signal in their place has no fields of its own, so it would pass and never be listened to.
  if (!isRecord(given) || isSignal(given)) {
    complain(['options'], 'must be an object such as { signal }')
    return { ...client, signal: undefined, query: undefined }
  }
  const at = ['options']
  checkKnown(given, CALL_OPTIONS, at, complain)
  checkLimits(given, at, complain)
  if (options.signal !== undefined && !isSignal(options.signal)) complain([...at, 'signal'], 'must be an AbortSignal')
  const query = checkQuery(options.query, complain)
  return {
    signal: options.signal,
    timeoutMs: options.timeoutMs ?? client.timeoutMs,
    totalTimeoutMs: options.totalTimeoutMs ?? client.totalTimeoutMs,
    maxRetries: options.maxRetries ?? client.maxRetries,
    headers: issues.length > 0 ? {} : { ...client.headers, ...lowerCaseNames(options.headers) },
    query,
  }
}

// By its members, not by its class: signals of another realm or of a polyfill work as well.
const isSignal = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as AbortSignal).aborted === 'boolean' &&
  typeof (value as AbortSignal).addEventListener === 'function'

/** The error for arguments that are wrong. Nothing has been sent. */
export function invalidRequest(operation: string, issues: readonly Issue[], isWrite: boolean): InvalidRequestError {
  const what = issues.map(({ path, message }) => `${path.length > 0 ? path.join('.') : 'the argument'} ${message}`)
  return new InvalidRequestError(`${operation}: ${what.join('; ')}. Nothing was sent.`, {
    operation,
    issues,
    outcome: isWrite ? 'not_applied' : undefined,
  })
}
