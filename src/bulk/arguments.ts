import { invalidRequestError, optional, wholeNumber, within } from '../errors/option-checks.ts'
import { MAX_PATIENCE_MS } from '../shared/award.ts'
import type { Issue } from '../shared/issue.ts'
import { hasMethod, typeName } from '../shared/type-checks.ts'

export const DEFAULT_CONCURRENCY = 8
export const mustBeConcurrency = optional(wholeNumber(1, 1_000))
export const DEFAULT_PATIENCE_MS = 120_000
export const mustBePatience = optional(within('milliseconds', 0, MAX_PATIENCE_MS))

/** @throws InvalidRequestError when an argument other than the options is wrong */
export function requireArguments(operation: string, issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalidRequestError(operation, issues)
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
