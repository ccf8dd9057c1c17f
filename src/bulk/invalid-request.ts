import { InvalidRequestError, type Issue } from '../errors.ts'
import { capped, describeIssues, MAX_ISSUES } from '../schemas/issue.ts'
import { copyOfOptions, type OptionRules, optionProblems } from '../shared/options.ts'

/** The error for arguments that are wrong. @param consequence - what was not done, as a sentence without its full stop */
export function invalidRequest(
  operation: string,
  issues: readonly Issue[],
  consequence = 'Nothing was sent',
): InvalidRequestError {
  const found = capped(issues)
  const words = describeIssues(
    found,
    MAX_ISSUES,
    ({ path, message }) => `${path.join('.') || 'the argument'} ${message}`,
  )
  return new InvalidRequestError(`${operation}: ${words}. ${consequence}.`, {
    operation,
    ...found,
    outcome: 'not_applied',
  })
}

/**
 * Copies and checks an option object.
 *
 * @param others - what is wrong with the other arguments
 * @throws InvalidRequestError when any argument is wrong
 */
export function readOptions<Options extends object>(
  operation: string,
  options: Options,
  rules: OptionRules<Options>,
  others: readonly Issue[] = [],
): Options {
  const own = copyOfOptions(options, rules as OptionRules<NonNullable<Options>>)
  const problems = optionProblems(own, rules).map(({ path, message }) => ({ path: ['options', ...path], message }))
  const issues = [...others, ...problems]
  if (issues.length > 0) throw invalidRequest(operation, issues)
  return own
}
