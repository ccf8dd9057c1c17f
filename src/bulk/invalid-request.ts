import { InvalidRequestError, type Issue } from '../errors.ts'
import { capped, describeIssues } from '../schemas/issue.ts'

/** The error for arguments that are wrong. Nothing has been sent. */
export function invalidRequest(operation: string, issues: readonly Issue[]): InvalidRequestError {
  const found = capped(issues)
  const words = describeIssues(
    found,
    issues.length,
    ({ path, message }) => `${path.join('.') || 'the argument'} ${message}`,
  )
  return new InvalidRequestError(`${operation}: ${words}. Nothing was sent.`, {
    operation,
    ...found,
    outcome: 'not_applied',
  })
}
