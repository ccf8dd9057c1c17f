import {
  copyOfOptions,
  describeOptionIssues,
  type OptionIssue,
  type OptionRules,
  optionIssues,
  withoutAdvice,
} from '../shared/option-checks.ts'
import { ConfigurationError, type ErrorContext } from './client-errors.ts'

/**
 * Copies an option object and checks the copy. Every function with options uses it.
 *
 * @param where - the function to name in the error
 * @param otherIssues - issues of the options that are arguments of their own, such as a database
 * @throws ConfigurationError with all issues
 */
export function readOptions<Options>(
  where: string,
  options: Options,
  rules: OptionRules<NonNullable<Options>>,
  otherIssues: readonly OptionIssue[] = [],
): Options {
  const own = copyOfOptions(options, rules)
  refuseOptions(where, [...otherIssues, ...optionIssues(own, rules)])
  return own
}

/** Throws if there is an issue. @throws ConfigurationError with all issues */
export function refuseOptions(where: string, issues: readonly OptionIssue[]): void {
  if (issues.length > 0) throw configurationError(where, issues)
}

/** Returns the error for wrong options. */
export function configurationError(
  where: string,
  issues: readonly OptionIssue[],
  context: ErrorContext = {},
): ConfigurationError {
  const message = `${where}: ${describeOptionIssues(issues, 'the options')}`
  return new ConfigurationError(message, { ...context, issues: withoutAdvice(issues) })
}
