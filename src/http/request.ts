import type { AnyEndpoint, OperationName } from '../endpoints/index.ts'
import { ConfigurationError, InvalidRequestError, type Issue } from '../errors.ts'
import type { CallOptions } from '../options.ts'
import { check } from '../schemas/check.ts'
import { capped, describeIssues, MOST_ISSUES } from '../schemas/issue.ts'
import { type CallSettings, type ClientSettings, callSettings } from '../settings.ts'
import { guardIssues } from './guard.ts'

/** A call whose arguments have been checked: all of the request but the token. */
export interface PreparedCall {
  readonly settings: CallSettings
  readonly path: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** A text of the request that must not appear in an error. */
  readonly secret: string | undefined
}

const JSON_TYPE = 'application/json'

/**
 * Checks a call's arguments and builds its request. Only the declared fields are sent, and `undefined` ones left out.
 *
 * @throws InvalidRequestError when an argument or a call option is wrong.
 * @throws ConfigurationError when the path of the operation is neither documented nor configured.
 */
export function prepare(
  operation: OperationName,
  endpoint: AnyEndpoint,
  argument: unknown,
  options: CallOptions | undefined,
  client: ClientSettings,
): PreparedCall {
  const issues: Issue[] = []
  const checked = check<object>(endpoint.request, argument)
  if (!checked.ok) issues.push(...checked.issues)
  const settings = callSettings(client, options, issues)
  const fields = checked.ok ? (checked.value as Readonly<Record<string, unknown>>) : {}
  const isWrite = endpoint.method === 'POST'
  const query = new URLSearchParams()
  if (!isWrite) appendFields(query, fields, client.queryNames.get(operation))
  if (settings.query !== undefined) appendOptions(query, settings.query, issues)
  if (isWrite && checked.ok) issues.push(...guardIssues(client.guard, fields))
  if (issues.length > 0) throw invalidRequest(operation, issues, isWrite)

  const path = endpoint.path ?? client.webhookRegistrationPath
  if (path === undefined) {
    throw new ConfigurationError(
      `${operation}: the interface does not show this path; set webhookRegistrationPath. Nothing was sent.`,
      { operation, outcome: 'not_applied' },
    )
  }
  const search = `${query}`
  const { secret } = fields
  return {
    settings,
    path,
    url: `${client.baseUrl}${path}${search && `?${search}`}`,
    headers: headersOf(settings.headers, isWrite),
    body: isWrite ? JSON.stringify(fields) : undefined,
    // Stryker disable next-line ConditionalExpression: the schemas let no other secret through; the compiler does not know
    secret: typeof secret === 'string' ? secret : undefined,
  }
}

function headersOf(own: Readonly<Record<string, string>>, isWrite: boolean): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { ...own, accept: own.accept ?? JSON_TYPE }
  if (isWrite) headers['content-type'] = JSON_TYPE
  return headers
}

/** @param names - of those fields that are sent under others than their own */
function appendFields(
  query: URLSearchParams,
  fields: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>> | undefined,
): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) query.append(names?.[name] ?? name, String(value))
  }
}

function appendOptions(query: URLSearchParams, options: Readonly<Record<string, string>>, issues: Issue[]): void {
  const own = new Set(query.keys())
  for (const [name, value] of Object.entries(options)) {
    if (own.has(name)) issues.push({ path: ['options', 'query', name], message: 'is a parameter of the call itself' })
    else query.append(name, value)
  }
}

/** The error for arguments that are wrong. Nothing has been sent. */
function invalidRequest(operation: string, issues: readonly Issue[], isWrite: boolean): InvalidRequestError {
  const say = ({ path, message }: Issue): string => `${path.length > 0 ? path.join('.') : 'the argument'} ${message}`
  const what = describeIssues(capped(issues), MOST_ISSUES, say)
  return new InvalidRequestError(`${operation}: ${what}. Nothing was sent.`, {
    operation,
    issues,
    outcome: isWrite ? 'not_applied' : undefined,
  })
}
