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
  /** Texts of the request that must not appear in an error. */
  readonly secrets: readonly string[]
}

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
  const fields = checked.ok ? Object.entries(checked.value).filter(([, value]) => value !== undefined) : []
  const names = client.queryNames.get(operation)
  const query =
    endpoint.method === 'GET' ? fields.map(([name, value]) => [names?.[name] ?? name, String(value)] as const) : []
  for (const name of Object.keys(settings.query ?? {})) {
    if (query.some(([own]) => own === name)) {
      issues.push({ path: ['options', 'query', name], message: 'is a parameter of the call itself' })
    }
  }
  if (checked.ok) issues.push(...guardIssues(client.guard, endpoint, Object.fromEntries(fields)))
  if (issues.length > 0) throw invalidRequest(operation, issues, endpoint.method === 'POST')

  const path = endpoint.path ?? client.webhookRegistrationPath
  if (path === undefined) {
    throw new ConfigurationError(
      `${operation}: the interface does not show this path; set webhookRegistrationPath. Nothing was sent.`,
      { operation, outcome: 'not_applied' },
    )
  }
  const parameters = new URLSearchParams()
  for (const [name, value] of query) parameters.append(name, value)
  for (const [name, value] of Object.entries(settings.query ?? {})) parameters.append(name, value)
  const search = parameters.size > 0 ? `?${parameters}` : ''
  const secret = fields.find(([name]) => name === 'secret')?.[1]
  return {
    settings,
    path,
    url: `${client.baseUrl}${path}${search}`,
    headers: {
      accept: 'application/json',
      ...(endpoint.method === 'POST' && { 'content-type': 'application/json' }),
      ...settings.headers,
    },
    body: endpoint.method === 'POST' ? JSON.stringify(Object.fromEntries(fields)) : undefined,
    secrets: typeof secret === 'string' ? [secret] : [],
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
