import type { Issue } from '../errors.ts'
import type { WriteGuard } from '../options.ts'

/** What a guard has against the argument of a write. Reads are free. */
export function guardIssues(guard: WriteGuard, argument: Readonly<Record<string, unknown>>): Issue[] {
  const { campaigns, maxXpPerAward } = guard
  const { pid, xp } = argument
  const issues: Issue[] = []
  if (campaigns !== undefined && !campaigns.includes(pid as string)) {
    issues.push({
      path: pid === undefined ? [] : ['pid'],
      message: pid === undefined ? 'names no campaign, which the guard demands' : 'is not a campaign of the guard',
    })
  }
  if (maxXpPerAward !== undefined && typeof xp === 'number' && !(xp >= 0 && xp <= maxXpPerAward)) {
    issues.push({ path: ['xp'], message: `must be from 0 to ${maxXpPerAward}, says the guard` })
  }
  return issues
}
