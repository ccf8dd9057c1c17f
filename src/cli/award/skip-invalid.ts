import { type AwardList, awardsById } from './list.ts'
import { makePlan, type Plan } from './plan.ts'
import type { ListProblem } from './read-row.ts'

/** Mistakes after which no other row can be trusted. */
const REFUSES_LIST: ReadonlySet<ListProblem['rule']> = new Set(['csv', 'max_xp', 'rounded'])

/**
 * Leaves the rows with mistakes out of a plan: `--skip-invalid`.
 *
 * @returns the plan without them; the same plan if it has no such rows, no others, or a mistake that refuses the list
 */
export async function skipInvalid(plan: Plan): Promise<Plan> {
  const problems = [...plan.list.problems, ...plan.problems]
  if (problems.length === 0 || problems.some(({ rule }) => REFUSES_LIST.has(rule))) return plan
  const list = withoutInvalid(plan.list, problems)
  return list.rows.length === 0 ? plan : makePlan(list, plan)
}

/** Leaves out the rows with mistakes, and all rows that have the id of one or look like one: nobody knows which is right. */
function withoutInvalid(list: AwardList, problems: readonly ListProblem[]): AwardList {
  /** The lines to leave out, with the line of the mistake. */
  const lines = new Map<number, number>()
  for (const { line, alike = [] } of problems) {
    if (line !== undefined) for (const each of [...alike, line]) lines.set(each, line)
  }
  const ids = new Map<string, number>()
  for (const { line, id } of list.records) {
    const wrongLine = lines.get(line)
    if (wrongLine !== undefined && id !== undefined) ids.set(id, wrongLine)
  }
  const withMistake = new Set(problems.map(({ line }) => line))
  const skipped = [...problems]
  const skippedLines = new Set<number>()
  for (const { line, id } of list.records) {
    const wrongLine = lines.get(line) ?? (id === undefined ? undefined : ids.get(id))
    if (wrongLine === undefined) continue
    skippedLines.add(line)
    if (withMistake.has(line)) continue
    const message = `line ${wrongLine} has a mistake, and the same id or a reason that looks the same`
    skipped.push({ rule: 'id', line, message })
  }
  const rows = list.rows.filter(({ line }) => !skippedLines.has(line))
  const awards = awardsById(rows)
  return { ...list, rows, awards, problems: [], skipped: { rows: skippedLines.size, problems: skipped } }
}
