import { invalidRequestError } from '../errors/invalid-request-error.ts'
import type { Issue } from '../shared/issue.ts'
import {
  copyOfOptions,
  type OptionRules,
  optional,
  optionIssues,
  wholeNumber,
  within,
} from '../shared/option-checks.ts'
import { hasMethod, typeName } from '../shared/type-checks.ts'

export const DEFAULT_CONCURRENCY = 8
export const mustBeConcurrency = optional(wholeNumber(1, 1_000))
export const DEFAULT_PATIENCE_MS = 120_000
const MAX_PATIENCE_MS = 24 * 60 * 60 * 1_000
export const mustBePatience = optional(within('milliseconds', 0, MAX_PATIENCE_MS))

/**
 * Copies and checks an option object.
 *
 * @param otherIssues - issues of the other arguments
 * @throws InvalidRequestError when any argument is wrong
 */
export function readOptions<Options extends object>(
  operation: string,
  options: Options,
  rules: OptionRules<Options>,
  otherIssues: readonly Issue[] = [],
): Options {
  const own = copyOfOptions(options, rules as OptionRules<NonNullable<Options>>)
  const ownIssues = optionIssues(own, rules).map(({ path, message }) => ({ path: ['options', ...path], message }))
  const issues = [...otherIssues, ...ownIssues]
  if (issues.length > 0) throw invalidRequestError(operation, issues)
  return own
}

export const issuesOfClient = (client: unknown, method: string): Issue[] =>
  hasMethod(client, method)
    ? []
    : [{ path: ['client'], message: `must have the method ${method}, got ${typeName(client)}` }]

/** Returns an issue if a value is not iterable. The characters of a string are not a list. */
export function issuesOfList(name: string, list: unknown): Issue[] {
  const isIterable =
    typeof list === 'object' &&
    list !== null &&
    [Symbol.asyncIterator, Symbol.iterator].some((method) => typeof Reflect.get(list, method) === 'function')
  if (isIterable) return []
  return [{ path: [name], message: `must be an iterable or an async iterable, got ${typeName(list)}` }]
}
