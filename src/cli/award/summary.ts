import type { AwardReport, RowProblem, Verdict } from '../../schemas/award-report.ts'
import { addSums, type Sum } from '../../shared/award.ts'
import { ADVICE, type CommandFailure } from '../failure.ts'
import { bold, dim, green, type Part, red } from '../output.ts'
import type { ProgressFormat } from './ask-service.ts'
import { formatCommandLine, formatCount, formatDuration, formatNumber, formatWere, formatXp } from './format.ts'
import { type Plan, recordedTotals } from './plan.ts'

/** A run that is complete or stopped. */
export interface EndedRun {
  readonly report: AwardReport
  /** The plan, with what the ledger had when the run began. */
  readonly plan: Plan
  /** Why the run stopped. */
  readonly stop?: CommandFailure
  /** Whether a stopped run left an award in the ledger with an unknown outcome. */
  readonly hasUnknownOutcome: boolean
  /** Whether the ledger was deleted or replaced during the run. */
  readonly isLedgerLost: boolean
}

/**
 * The report for `--json` and report files. It has no `version`: the output of the command has its own. Each problem has the
 * line number of its row.
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

/** The awards of a list that were made. The three parts add up to the total. */
export interface Given extends Sum {
  readonly byThisRun: Sum
  readonly byEarlierRuns: Sum
  /** Made by an attempt whose response was lost, and confirmed in this run. */
  readonly afterLostResponse: Sum
}

interface AwardSums {
  readonly given: Given
  readonly usedBefore: Sum
}

/** Counts the awards of a list that were made, by this run and by earlier runs, and the ids that were used before them. */
export function awardSums({ report, plan }: EndedRun): AwardSums {
  const { rows, counts, xp } = report
  const earlier = recordedTotals(plan, plan.list.rows)
  // A stopped run has not read all rows.
  const earlierAmongRead = recordedTotals(plan, plan.list.rows.slice(0, rows))
  const inReport = (verdict: 'awarded' | 'alreadyAwarded'): Sum => ({ awards: counts[verdict], xp: xp[verdict] })
  const byThisRun = difference(inReport('awarded'), earlierAmongRead.awarded)
  const confirmed = difference(inReport('alreadyAwarded'), report.usedBefore)
  const afterLostResponse = difference(confirmed, earlierAmongRead.alreadyAwarded)
  const byEarlierRuns = addSums(earlier.awarded, earlier.alreadyAwarded)
  const given = addSums(addSums(byThisRun, byEarlierRuns), afterLostResponse)
  const usedBefore = difference(addSums(report.usedBefore, earlier.usedBefore), earlierAmongRead.usedBefore)
  return { given: { ...given, byThisRun, byEarlierRuns, afterLostResponse }, usedBefore }
}

const difference = (one: Sum, { awards, xp }: Sum): Sum => addSums(one, { awards: -awards, xp: -xp })

const MAX_PROBLEMS_SHOWN = 20

/** Formats the number of rows by verdict, and the problems. */
export function summaryLines(
  { report, plan, stop }: EndedRun,
  { given: sums, usedBefore }: AwardSums,
  { platform, isAssumed }: ProgressFormat,
): Part[][] {
  const { counts, xp, halted, startedAt, finishedAt } = report
  const { rows } = plan.list
  const lines: Part[][] = []
  const addLine = (count: string, colour: typeof green, text: string, amount = 0, took?: string): void => {
    const xpPart = amount > 0 ? `  ${formatXp(amount)}` : ''
    const tookPart = took === undefined ? '' : `${xpPart === '' ? '  ' : ', '}${took}`
    lines.push([colour(count), ` ${text}`, xpPart, dim(tookPart)])
  }
  const add = (count: number, colour: typeof green, text: string, amount = 0, took?: string): void =>
    addLine(formatCount(count, 'row'), colour, text, amount, took)
  const addAwards = ({ awards, xp: amount }: Sum, text: string): void => {
    if (awards > 0) addLine(formatCount(awards, 'award'), green, text, amount)
  }

  const { byThisRun, byEarlierRuns, afterLostResponse, ...given } = sums
  const took = formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))
  add(byThisRun.awards, byThisRun.awards > 0 ? green : bold, 'awarded', byThisRun.xp, took)
  const source = `(platform ${platform}${isAssumed ? ', format assumed' : ''})`
  addAwards(afterLostResponse, 'confirmed after a lost response')
  if (afterLostResponse.awards > 0) lines.push([`  found in the progress of the wallet ${source}`])
  addAwards(byEarlierRuns, 'made by earlier runs')
  if (given.awards > byThisRun.awards) addAwards(given, 'of the list made in all')
  if (counts.duplicate > 0) add(counts.duplicate, dim, 'identical to an earlier row: each award is sent once')

  if (usedBefore.awards > 0) add(usedBefore.awards, red, 'not awarded: the id was used before', usedBefore.xp)
  const { skipped } = plan.list
  if (skipped.rows > 0) add(skipped.rows, red, 'with mistakes: skipped')
  for (const [verdict, text] of Object.entries(NOT_AWARDED) as [keyof typeof NOT_AWARDED, string][]) {
    if (counts[verdict] === 0) continue
    add(counts[verdict], red, text, xp[verdict])
    if (verdict === 'unconfirmed') {
      lines.push(['  the service refused the id after an attempt with an unknown outcome'])
      lines.push(['  not found with this amount in the progress of the wallet'], [`  ${source}`])
    }
    const ofVerdict = report.problems.filter((problem) => problem.verdict === verdict)
    const problems = byRow(ofVerdict).slice(0, MAX_PROBLEMS_SHOWN)
    for (const { index, id, reason } of problems) {
      lines.push([`  line ${rows[index]?.line}: ${reason}`, dim(id === undefined ? '' : `  ${id}`)])
    }
    const others = counts[verdict] - problems.length
    if (others > 0) lines.push([dim(`  and ${formatNumber(others)} more`)])
  }
  for (const { pid, rows: count, reason } of halted) {
    add(count, red, `not sent, because the service refused campaign ${pid}: ${reason}`)
  }
  const withVerdict = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const notSent = rows.length - withVerdict - halted.reduce((sum, { rows: count }) => sum + count, 0)
  if (notSent > 0) add(notSent, bold, `not sent${stop ? `, because the run stopped: ${stop.message}` : ''}`)
  else if (stop) lines.push([bold('stopped'), `: ${stop.message}`])
  if (usedBefore.awards > 0) {
    const ids = usedBefore.awards === 1 ? 'it' : 'them'
    const reason = 'used before, and no attempt of this ledger explains it: this run gave nothing for'
    lines.push([`${formatWere(usedBefore.awards, 'id')} ${reason} ${ids}`])
  }
  return lines
}

const NOT_AWARDED = {
  rejected: 'rejected by the service',
  unconfirmed: 'possibly awarded',
  indeterminate: 'with an unknown outcome: the award may have been made',
} as const satisfies Partial<Record<Verdict, string>>

export function nextStep({ report, plan, stop }: EndedRun, argv: readonly string[]): string | undefined {
  const { counts, halted, problems, usedBefore } = report
  const run = `run: ${formatCommandLine(argv)}`
  if (stop?.details.advice !== undefined) return `${stop.details.advice}, then ${run}`
  if (stop && usedBefore.awards > 0) return `for a new payout, use other reasons or ids; to send the other rows, ${run}`
  if (stop) return `to continue, ${run}`
  if (halted.length > 0) return `${ADVICE.access_denied}, then ${run}`
  if (counts.indeterminate > 0) return `to find out the outcome of these rows, ${run}`
  if (counts.unconfirmed > 0) return `to look for these awards again without sending them, ${run}`
  if (problems.some(({ code }) => code === 'other_amount')) {
    return 'compare these rows with the progress of the wallets: an id used for another amount is not sent again'
  }
  if (counts.rejected === 0) {
    const isAnySkipped = plan.list.skipped.rows > 0
    return isAnySkipped ? 'correct the skipped rows in the list, and run it again with the same ledger' : undefined
  }
  const why = formatCommandLine(['ledger', plan.ledger, '--verdict', 'rejected', '--explain'])
  return `to see why, run: ${why}; then correct these rows, or send them again unchanged with --retry-rejected`
}
