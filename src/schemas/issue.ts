/** One thing that is wrong with an argument or an answer: where, and what. Never the value. */
export interface Issue {
  /** Where it is, from the root: `['actions', 3, 'xp']`. Empty for the whole. */
  readonly path: readonly (string | number)[]
  /** What was expected there. */
  readonly message: string
}

/** What is wrong with a value. A list of which every entry is wrong would fill a log by itself. */
export interface Issues {
  /** The first ones, at most {@link MAX_ISSUES}. */
  readonly issues: readonly Issue[]
  /** How many more there are. */
  readonly moreIssues: number
}

export const MAX_ISSUES = 20

/** The first issues in one line, and how many more there are. */
export function describeIssues({ issues, moreIssues }: Issues, most: number, say: (issue: Issue) => string): string {
  const hidden = Math.max(0, issues.length - most) + moreIssues
  return issues.slice(0, most).map(say).join('; ') + (hidden > 0 ? `; and ${hidden} more` : '')
}

/** Keeps the first issues of however many. */
export const capped = (issues: readonly Issue[] = [], moreIssues = 0): Issues => ({
  issues: issues.slice(0, MAX_ISSUES),
  moreIssues: Math.max(0, issues.length - MAX_ISSUES) + moreIssues,
})
