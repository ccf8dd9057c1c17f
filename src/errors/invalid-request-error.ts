import { capped, describeAt, describeIssues, type Issue, MAX_ISSUES } from '../shared/issue.ts'
import { type ErrorContext, InvalidRequestError } from './client-errors.ts'

/** Returns the error for wrong arguments. @param consequence - what follows for the request, as a phrase */
export function invalidRequestError(
  operation: string,
  issues: readonly Issue[],
  consequence = 'nothing was sent',
  context: ErrorContext = { outcome: 'not_applied' },
): InvalidRequestError {
  const describe = ({ path, message }: Issue): string => describeAt(path.join('.') || 'the argument', message)
  const problems = describeIssues(capped(issues), MAX_ISSUES, describe)
  return new InvalidRequestError(`${operation}: ${problems}; ${consequence}`, { operation, issues, ...context })
}
