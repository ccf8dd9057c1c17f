import type { AwardReport, RowProblem, Verdict } from 'campaign-client/bulk'
import { addDecimals } from '../../shared/decimals.ts'
import { ADVICE, type CommandFailure, EXIT, type ExitCode, withoutDocsPath } from '../failure.ts'
import { bold, dim, green, type Part, red, yellow } from '../output.ts'
import { formatCommandLine, formatCount, formatDuration, formatNumber, formatXp } from './format.ts'
import { type Plan, recordedTotals } from './plan.ts'
import type { ProgressFormat } from './progress-format.ts'

/** A run that is complete or stopped. */
export interface EndedRun {
  readonly report: AwardReport
  /** The plan, made after the run locked the ledger. */
  readonly planAtStart: Plan
  /** Why the run stopped. */
  readonly stop?: CommandFailure
  /** Whether a stopped run left an award in the ledger with an unknown outcome. */
  readonly isInDoubt: boolean
}

/**
 * The report for `--json` and report files, without its own version: the command has another. Each problem has the line
 * number of its row.
 */
export const reportFields = (
  { problems, version: _, ...report }: AwardReport,
  { list }: Plan,
): Record<string, unknown> => ({
  ...report,
  problems: byRow(problems).map(({ index, ...problem }) => ({ line: list.rows[index]?.line, ...problem })),
})

const byRow = (problems: readonly RowProblem[]): RowProblem[] =>
  [...problems].sort((one, other) => one.index - other.index)

const MAX_PROBLEMS_SHOWN = 20

/** Formats the number of rows by verdict, and the problems. */
export function summaryLines(
  { report, planAtStart, stop }: EndedRun,
  { platform, isAssumed }: ProgressFormat,
): Part[][] {
  const { counts, xp, halted, startedAt, finishedAt } = report
  const { rows } = planAtStart.list
  const recorded = recordedTotals(planAtStart, rows.slice(0, report.rows))
  const lines: Part[][] = []
  const add = (count: number, colour: typeof green, text: string, amount = 0, took?: string): void => {
    const details = [amount > 0 && formatXp(amount), took].filter(Boolean).join(', ')
    lines.push([colour(formatCount(count, 'row')), ` ${text}`, dim(details && `  ${details}`)])
  }
  /** Returns the number and the XP of the rows that got the verdict in this run. */
  const inThisRun = (verdict: 'awarded' | 'alreadyAwarded') => ({
    count: counts[verdict] - recorded[verdict].awards,
    amount: addDecimals(xp[verdict], -recorded[verdict].xp),
  })

  const awarded = inThisRun('awarded')
  const took = formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))
  add(awarded.count, awarded.count > 0 ? green : bold, 'awarded', awarded.amount, took)

  const progress = `the progress of the wallet (platform ${platform}${isAssumed ? ', format assumed' : ''})`
  const foundInProgress = inThisRun('alreadyAwarded')
  const earlier = recorded.awarded.awards + recorded.alreadyAwarded.awards
  const earlierXp = addDecimals(recorded.awarded.xp, recorded.alreadyAwarded.xp)
  if (earlier > 0) add(earlier, green, 'awarded before: recorded in the ledger', earlierXp)
  if (foundInProgress.count > 0) {
    add(foundInProgress.count, green, `awarded before: found in ${progress}`, foundInProgress.amount)
  }
  if (counts.duplicate > 0) add(counts.duplicate, dim, 'identical to an earlier row: each award is sent once')

  for (const [verdict, text] of Object.entries(NOT_AWARDED) as [keyof typeof NOT_AWARDED, string][]) {
    if (counts[verdict] === 0) continue
    add(counts[verdict], red, text, xp[verdict])
    if (verdict === 'unconfirmed') lines.push([`  not found with this amount in ${progress}`])
    const ofVerdict = report.problems.filter((problem) => problem.verdict === verdict)
    const problems = byRow(ofVerdict).slice(0, MAX_PROBLEMS_SHOWN)
    for (const { index, id, reason } of problems) {
      lines.push([`  line ${rows[index]?.line}: ${withoutDocsPath(reason)}`, dim(id === undefined ? '' : `  ${id}`)])
    }
    const others = counts[verdict] - problems.length
    if (others > 0) lines.push([dim(`  and ${formatNumber(others)} more`)])
  }
  for (const { pid, rows: count, reason } of halted) {
    add(count, red, `not sent, because the service refused campaign ${pid}: ${withoutDocsPath(reason)}`)
  }
  const withVerdict = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const notSent = rows.length - withVerdict - halted.reduce((sum, { rows: count }) => sum + count, 0)
  if (notSent > 0) add(notSent, yellow, `not sent${stop ? `, because the run stopped: ${stop.message}` : ''}`)
  else if (stop) lines.push([yellow('stopped'), `: ${stop.message}`])
  return lines
}

const NOT_AWARDED = {
  rejected: 'rejected by the service',
  unconfirmed: 'possibly awarded: the service refused the id after an attempt with an unknown outcome',
  indeterminate: 'with an unknown outcome: the award may have been made',
} as const satisfies Partial<Record<Verdict, string>>

export function nextStep(
  { counts, halted, problems }: AwardReport,
  stop: CommandFailure | undefined,
  argv: readonly string[],
): string | undefined {
  const run = `run: ${formatCommandLine(argv)}`
  if (stop) return stop.details.advice === undefined ? `to continue, ${run}` : `${stop.details.advice}, then ${run}`
  if (halted.length > 0) return `${ADVICE.access_denied}, then ${run}`
  if (counts.indeterminate > 0) return `to find out the outcome of these rows, ${run}`
  if (counts.unconfirmed > 0) return `to look for these awards again without sending them, ${run}`
  if (problems.some(({ code }) => code === 'other_amount')) {
    return 'compare these rows with the progress of the wallets: an id used for another amount is not sent again'
  }
  if (counts.rejected > 0) return 'correct these rows, or send them again unchanged with --retry-rejected'
  return undefined
}

/** Returns the exit code of a run: the first that applies. */
export function exitCodeOfRun({ report, stop, isInDoubt }: EndedRun): ExitCode {
  const { counts, halted, fromLedger, complete } = report
  if (isInDoubt || counts.indeterminate > 0 || counts.unconfirmed > 0) return EXIT.unknownOutcome
  if (stop?.exitCode === EXIT.refused || halted.length > 0) return EXIT.refused
  if (stop !== undefined) {
    // 2 means that nothing was sent.
    const isAnySent = counts.awarded + counts.alreadyAwarded + counts.rejected > fromLedger
    return stop.exitCode === EXIT.usage && isAnySent ? EXIT.incomplete : stop.exitCode
  }
  return counts.rejected > 0 || !complete ? EXIT.incomplete : EXIT.done
}
