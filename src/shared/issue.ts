/** A problem with an argument or a response. It never contains the value. */
export interface Issue {
  /** The path from the root: `['actions', 3, 'xp']`. Empty for the root itself. */
  readonly path: readonly (string | number)[]
  /** The expected value, as a phrase. */
  readonly message: string
}

/** The issues of a value. Their number is limited, so that a long list of wrong entries does not fill a log. */
export interface Issues<Of extends Issue = Issue> {
  /** The first issues, at most {@link MAX_ISSUES}. */
  readonly issues: readonly Of[]
  /** The number of further issues. */
  readonly moreIssues: number
}

export const MAX_ISSUES = 20

/** Describes the first `max` issues in one line and counts the rest. */
export function describeIssues<Of extends Issue>(
  { issues, moreIssues }: Issues<Of>,
  max: number,
  describe: (issue: Of) => string,
): string {
  const hidden = Math.max(0, issues.length - max) + moreIssues
  return issues.slice(0, max).map(describe).join('; ') + (hidden > 0 ? `; and ${hidden} more` : '')
}

/** Keeps the first {@link MAX_ISSUES} issues and counts the rest. */
export const capped = <Of extends Issue>(issues: readonly Of[] = [], moreIssues = 0): Issues<Of> => ({
  issues: issues.slice(0, MAX_ISSUES),
  moreIssues: Math.max(0, issues.length - MAX_ISSUES) + moreIssues,
})

/** Joins a path and its message: `timeoutMs must be …`, but `pid: expected …`. */
export const describeAt = (path: string, message: string): string =>
  /^(?:expected|the|there) /.test(message) ? `${path}: ${message}` : `${path} ${message}`
