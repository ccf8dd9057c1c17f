import type { Issue } from '../errors.ts'
import type { CallOptions } from '../options.ts'
import { copyOfOptions, isSignal, type OptionProblem, optionProblems } from '../shared/option-checks.ts'
import { isRecord } from '../shared/type-checks.ts'
import { type ClientSettings, lowerCaseNames } from './client-settings.ts'
import { CALL, hasEntries } from './option-rules.ts'

/** The checked options of a call, with the options of the client as defaults. */
export interface CallSettings {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly maxRetries: number
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>> | undefined
}

/** Checks the options of a call. Adds their problems to `issues`. */
export function callSettings(client: ClientSettings, options: CallOptions | undefined, issues: Issue[]): CallSettings {
  const own = options === undefined ? {} : copyOfCallOptions(options)
  const problems = options === undefined ? [] : callProblems(own)
  for (const { path, message } of problems) issues.push({ path: ['options', ...path], message })
  const { signal, timeoutMs, totalTimeoutMs, maxRetries, headers, query } = problems.length === 0 ? own : {}
  return {
    signal,
    timeoutMs: timeoutMs ?? client.timeoutMs,
    totalTimeoutMs: totalTimeoutMs ?? client.totalTimeoutMs,
    maxRetries: maxRetries ?? client.maxRetries,
    headers: headers === undefined ? client.headers : { ...client.headers, ...lowerCaseNames(headers) },
    query: query && textsOf(query),
  }
}

function copyOfCallOptions(options: CallOptions): CallOptions {
  // A signal has no enumerable fields: its copy would be an empty options object.
  if (!isRecord(options) || isSignal(options)) return options
  const copy = copyOfOptions(options, CALL)
  const { headers, query } = copy
  return {
    ...copy,
    ...(hasEntries(headers) && { headers: { ...headers } }),
    ...(hasEntries(query) && { query: { ...query } }),
  }
}

const callProblems = (options: CallOptions): OptionProblem[] =>
  isRecord(options) && !isSignal(options)
    ? optionProblems(options, CALL)
    : [{ path: [], message: 'must be an object such as { signal }' }]

const textsOf = (query: NonNullable<CallOptions['query']>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
