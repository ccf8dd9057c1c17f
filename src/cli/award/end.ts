import type { AwardReport, AwardRunStoppedError, RowProblem, Verdict } from 'campaign-client/bulk'
import { addDecimals } from '../../shared/decimals.ts'
import {
  ADVICE,
  CommandFailure,
  describeFailure,
  EXIT,
  type ExitCode,
  exitCodeOf,
  withoutDocsPath,
} from '../failure.ts'
import { isSystemError, systemReason } from '../files.ts'
import { bold, dim, green, type Part, red, yellow } from '../output.ts'
import type { AwardEvidence } from './confirm-award.ts'
import { type Plan, recordedTotals } from './plan.ts'
import { commandLine, counted, some, spanText } from './words.ts'

/** The exit code of a run: the first that applies. `stop` says why it ended before its rows did. */
export function exitCodeOfRun({ counts, halted, fromLedger, complete }: AwardReport, stop?: CommandFailure): ExitCode {
  if (counts.indeterminate > 0 || counts.unconfirmed > 0) return EXIT.unknownOutcome
  if (stop?.exitCode === EXIT.refused || halted.length > 0) return EXIT.refused
  if (stop !== undefined) {
    // 2 means that nothing was sent.
    const isAnySent = counts.awarded + counts.alreadyAwarded + counts.rejected > fromLedger
    return stop.exitCode === EXIT.usage && isAnySent ? EXIT.notAll : stop.exitCode
  }
  return counts.rejected > 0 || !complete ? EXIT.notAll : EXIT.done
}

/** Describes why a run ended before its rows did. */
export async function describeStop({ cause, message }: AwardRunStoppedError): Promise<CommandFailure> {
  if (isSystemError(cause)) {
    const reason = systemReason(cause)
    return new CommandFailure(EXIT.usage, 'ledger', `the ledger cannot be written: ${reason}`, 'correct that')
  }
  const failure = await describeFailure(cause)
  if (failure === cause || failure.exitCode === EXIT.internal) return failure
  const exitCode = exitCodeOf(failure.code)
  // The error of an unreachable service says it all. Other stops are explained by the message of the run.
  const said = exitCode === EXIT.unreachable && cause instanceof Error ? cause.message : message
  const sentence = withoutDocsPath(said)
    .replace(/^rewardWallets stopped,? (?:because )?/, '')
    .replace(/\. (?:To go on|To continue|Run it again).*$/s, '')
  // Whatever the outcome of the last call: what became of the rows is in the report.
  return new CommandFailure(exitCode, failure.code, sentence, ADVICE[failure.code])
}

/** The report, for `--json` and report files: with the lines of the rows. */
export const reportFields = ({ problems, ...report }: AwardReport, { list }: Plan): Record<string, unknown> => ({
  ...report,
  problems: byRow(problems).map(({ index, ...problem }) => ({ line: list.rows[index]?.line, ...problem })),
})

const byRow = (problems: readonly RowProblem[]): RowProblem[] =>
  [...problems].sort((one, other) => one.index - other.index)

const MAX_PROBLEMS_SHOWN = 20

/** Reports the rows: awarded, awarded before, not awarded. */
export function endLines(report: AwardReport, plan: Plan, evidence: AwardEvidence, stop?: CommandFailure): Part[][] {
  const { counts, xp, halted, startedAt, finishedAt } = report
  const { rows } = plan.list
  const before = recordedTotals(plan, rows.slice(0, report.rows))
  const lines: Part[][] = []
  const tell = (count: number, paint: typeof green, words: string, amount = 0, more: readonly string[] = []): void => {
    const details = [...(amount > 0 ? [`${counted(amount)} XP`] : []), ...more].join(', ')
    lines.push([paint(some(count, 'row')), ` ${words}`, dim(details && `  ${details}`)])
  }
  /** Returns the number and the XP of the rows that got this verdict in this run, not in an earlier one. */
  const since = (verdict: 'awarded' | 'alreadyAwarded') => ({
    count: Math.max(0, counts[verdict] - before[verdict].awards),
    amount: Math.max(0, addDecimals(xp[verdict], -before[verdict].xp)),
  })

  const awarded = since('awarded')
  const took = spanText(Date.parse(finishedAt) - Date.parse(startedAt))
  tell(awarded.count, awarded.count > 0 ? green : bold, 'awarded', awarded.amount, [took])

  const found = since('alreadyAwarded')
  const recorded = counts.awarded + counts.alreadyAwarded - awarded.count - found.count
  const recordedXp = addDecimals(addDecimals(xp.awarded, xp.alreadyAwarded), -addDecimals(awarded.amount, found.amount))
  if (recorded > 0) tell(recorded, green, 'awarded before, as the ledger says', recordedXp)
  if (found.count > 0) {
    const how = `as the progress of the wallet says (platform ${evidence.platform}${evidence.isAssumed ? ', assumed' : ''})`
    tell(found.count, green, `awarded before, ${how}`, found.amount)
  }
  if (counts.duplicate > 0) tell(counts.duplicate, dim, 'the same as an earlier row: each award is made once')

  for (const [verdict, words] of Object.entries(NOT_AWARDED) as [keyof typeof NOT_AWARDED, string][]) {
    if (counts[verdict] === 0) continue
    tell(counts[verdict], red, words, xp[verdict])
    const problems = byRow(report.problems.filter((problem) => problem.verdict === verdict)).slice(
      0,
      MAX_PROBLEMS_SHOWN,
    )
    for (const { index, id, reason } of problems) {
      lines.push([`  line ${rows[index]?.line}: ${withoutDocsPath(reason)}`, dim(id === undefined ? '' : `  ${id}`)])
    }
    const others = counts[verdict] - problems.length
    if (others > 0) lines.push([dim(`  and ${some(others, 'more row')}`.replace('more rows', 'more'))])
  }
  for (const { pid, rows: count, reason } of halted)
    tell(count, red, `not sent, because campaign ${pid} was refused: ${withoutDocsPath(reason)}`)
  const settled = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const left = rows.length - settled - halted.reduce((sum, { rows: count }) => sum + count, 0)
  if (left > 0) tell(left, yellow, `not sent${stop === undefined ? '' : `, because the run stopped: ${stop.message}`}`)
  else if (stop !== undefined) lines.push([yellow('stopped'), `: ${stop.message}`])
  return lines
}

const NOT_AWARDED = {
  rejected: 'rejected by the service',
  unconfirmed: 'possibly awarded: the id was refused after an attempt with an unknown outcome',
  indeterminate: 'with an unknown outcome: the award may have been made',
} as const satisfies Partial<Record<Verdict, string>>

/** Says what to do next, where something helps. */
export function nextStep(
  { counts, halted, problems }: AwardReport,
  stop: CommandFailure | undefined,
  argv: readonly string[],
): string | undefined {
  const run = `run: ${commandLine(argv)}`
  if (stop !== undefined) return stop.advice === undefined ? `to continue, ${run}` : `${stop.advice}, then ${run}`
  if (halted.length > 0) return `${ADVICE.access_denied}, then ${run}`
  if (counts.indeterminate > 0) return `to find out what became of these rows, ${run}`
  if (counts.unconfirmed > 0) return `to look for these awards again without sending them, ${run}`
  if (problems.some(({ code }) => code === 'other_amount')) {
    return 'compare these rows with the progress of the wallets: ids that were used for another amount are not sent again'
  }
  if (counts.rejected > 0) return 'correct these rows, or send them again as they are with --retry-rejected'
  return undefined
}
