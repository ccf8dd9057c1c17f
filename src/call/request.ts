import type { AnyEndpoint, OpenQueryOperation, OperationName } from '../endpoints/index.ts'
import { ConfigurationError, type Issue } from '../errors/client-errors.ts'
import {
  copyOfOptions,
  invalidRequestError,
  isSignal,
  type OptionIssue,
  optionIssues,
} from '../errors/option-checks.ts'
import type { CallOptions, WriteGuard } from '../options.ts'
import { copyOfFields, validate } from '../schemas/validate.ts'
import { CALL, type ClientSettings, lowerCaseNames } from '../settings.ts'
import { isRecord } from '../shared/type-checks.ts'
import { warnOfShortSecret } from './redact.ts'

/** The settings and the request of a call. The token is added to each attempt. */
export interface PreparedRequest {
  readonly settings: CallSettings
  readonly path: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** The webhook secret in the request, which is redacted from errors. */
  readonly secret: string | undefined
}

const JSON_TYPE = 'application/json'

/**
 * Checks the arguments of a call and builds its request. Sends only declared fields that are not `undefined`.
 *
 * @throws InvalidRequestError when an argument or a call option is wrong
 * @throws ConfigurationError when the path of the operation is neither documented nor configured
 */
export function prepareRequest(
  operation: OperationName,
  endpoint: AnyEndpoint,
  argument: unknown,
  options: CallOptions | undefined,
  client: ClientSettings,
): PreparedRequest {
  const issues: OptionIssue[] = []
  const validated = validate<object>(endpoint.request, copyOfFields(endpoint.request, argument))
  if (!validated.ok) issues.push(...validated.issues)
  const settings = callSettings(client, options, issues)
  const fields = validated.ok ? (validated.value as Readonly<Record<string, unknown>>) : {}
  const isWrite = endpoint.method === 'POST'
  const query = new URLSearchParams()
  if (!isWrite) appendFields(query, fields, client.queryNames[operation as OpenQueryOperation])
  if (settings.query !== undefined) {
    appendOptions(query, settings.query, isWrite ? Object.keys(fields) : [...query.keys()], issues)
  }
  if (isWrite && validated.ok) issues.push(...guardIssues(client.guard, fields))
  if (issues.length > 0) {
    const outcome = isWrite ? 'not_applied' : undefined
    throw invalidRequestError(operation, issues, 'nothing was sent', { attempts: 0, outcome })
  }

  const path = endpoint.path ?? client.webhookRegistrationPath
  if (path === undefined) {
    throw new ConfigurationError(
      `${operation}: nothing was sent, because the API description does not show the path; set webhookRegistrationPath`,
      { operation, attempts: 0, outcome: 'not_applied' },
    )
  }
  const search = `${query}`
  const secret = typeof fields.secret === 'string' ? fields.secret : undefined
  if (secret !== undefined) warnOfShortSecret(secret, client)
  return {
    settings,
    path,
    url: `${client.baseUrl}${path}${search && `?${search}`}`,
    headers: { accept: JSON_TYPE, ...(isWrite && { 'content-type': JSON_TYPE }), ...settings.headers },
    body: isWrite ? JSON.stringify(fields) : undefined,
    secret,
  }
}

/** The checked options of a call, with the options of the client as defaults. */
interface CallSettings {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly maxRetries: number
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>> | undefined
}

/** Checks the options of a call. Adds their issues to `issues`. */
function callSettings(client: ClientSettings, options: CallOptions | undefined, issues: OptionIssue[]): CallSettings {
  // A signal has no enumerable fields: its copy would be an empty options object.
  const own = options === undefined ? {} : isSignal(options) ? options : copyOfOptions(options, CALL)
  const ownIssues = callIssues(own)
  issues.push(...ownIssues.map((issue) => ({ ...issue, path: ['options', ...issue.path] })))
  const { signal, timeoutMs, totalTimeoutMs, maxRetries, headers, query } = ownIssues.length === 0 ? own : {}
  return {
    signal,
    timeoutMs: timeoutMs ?? client.timeoutMs,
    totalTimeoutMs: totalTimeoutMs ?? client.totalTimeoutMs,
    maxRetries: maxRetries ?? client.maxRetries,
    headers: headers === undefined ? client.headers : { ...client.headers, ...lowerCaseNames(headers) },
    query: query && textsOf(query),
  }
}

const callIssues = (options: CallOptions): OptionIssue[] =>
  isRecord(options) && !isSignal(options)
    ? optionIssues(options, CALL)
    : [{ path: [], message: 'must be an object such as { signal }' }]

const textsOf = (query: NonNullable<CallOptions['query']>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )

/** @param names - the query names that differ from their field names */
function appendFields(
  query: URLSearchParams,
  fields: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>> | undefined,
): void {
  for (const [name, value] of Object.entries(fields)) query.append(names?.[name] ?? name, String(value))
}

/** @param fieldNames - the names of the call's own fields. `Pid` or `pid[]` beside the field `pid` would be ambiguous. */
function appendOptions(
  query: URLSearchParams,
  options: Readonly<Record<string, string>>,
  fieldNames: readonly string[],
  issues: Issue[],
): void {
  const taken = new Set(fieldNames.map((name) => name.toLowerCase()))
  for (const [name, value] of Object.entries(options)) {
    if (taken.has(baseName(name))) {
      issues.push({ path: ['options', 'query', name], message: 'is a parameter of the call itself' })
    } else query.append(name, value)
  }
}

/** Returns the name that a server reads: many servers ignore outer white space and read `pid[]` and `pid[0]` as `pid`. */
const baseName = (name: string): string => name.toLowerCase().replace(/\[.*/s, '').trim()

/** Returns the reasons for which a guard refuses a write. */
export function guardIssues(guard: WriteGuard, argument: { readonly pid?: unknown; readonly xp?: unknown }): Issue[] {
  const { campaigns, maxXpPerAward } = guard
  const { pid, xp } = argument
  const issues: Issue[] = []
  if (campaigns !== undefined && pid === undefined) {
    issues.push({ path: [], message: 'has no pid, and the guard allows writes to listed campaigns only' })
  } else if (campaigns !== undefined && !campaigns.includes(pid as string)) {
    issues.push({ path: ['pid'], message: 'is not a campaign of the guard' })
  }
  if (maxXpPerAward !== undefined && typeof xp === 'number' && !(xp >= 0 && xp <= maxXpPerAward)) {
    issues.push({ path: ['xp'], message: `must be from 0 to ${maxXpPerAward}, the maxXpPerAward of the guard` })
  }
  return issues
}
