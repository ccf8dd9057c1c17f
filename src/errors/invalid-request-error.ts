import { describeOptionIssues, type OptionIssue, withoutAdvice } from '../shared/option-checks.ts'
import { type ErrorContext, InvalidRequestError } from './client-errors.ts'

/** Returns the error for wrong arguments. @param consequence - what follows for the request, as a phrase */
export function invalidRequestError(
  operation: string,
  issues: readonly OptionIssue[],
  consequence = 'nothing was sent',
  context: ErrorContext = { outcome: 'not_applied' },
): InvalidRequestError {
  const problems = describeOptionIssues(issues, 'the argument')
  const init = { operation, issues: withoutAdvice(issues), ...context }
  return new InvalidRequestError(`${operation}: ${problems}; ${consequence}`, init)
}
