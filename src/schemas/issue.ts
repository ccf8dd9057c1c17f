/** One problem of an argument or an answer. It never holds the value. */
export interface Issue {
  /** The path from the root: `['actions', 3, 'xp']`. Empty for the root itself. */
  readonly path: readonly (string | number)[]
  /** What was expected at this path. */
  readonly message: string
}

/** The issues of a value. Their number is limited: a long list of wrong entries would fill a log. */
export interface Issues {
  /** The first issues, at most {@link MAX_ISSUES}. */
  readonly issues: readonly Issue[]
  /** How many more there are. */
  readonly moreIssues: number
}

export const MAX_ISSUES = 20

/** Describes the first issues in one line, and says how many more there are. */
export function describeIssues({ issues, moreIssues }: Issues, most: number, say: (issue: Issue) => string): string {
  const hidden = Math.max(0, issues.length - most) + moreIssues
  return issues.slice(0, most).map(say).join('; ') + (hidden > 0 ? `; and ${hidden} more` : '')
}

/** Keeps the first {@link MAX_ISSUES} issues and counts the others. */
export const capped = (issues: readonly Issue[] = [], moreIssues = 0): Issues => ({
  issues: issues.slice(0, MAX_ISSUES),
  moreIssues: Math.max(0, issues.length - MAX_ISSUES) + moreIssues,
})
