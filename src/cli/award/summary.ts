import type { AwardReport } from 'campaign-client/bulk'
import { EXIT, type ExitCode } from '../exit.ts'
import { bold, dim, green, type Part, red, yellow } from '../output.ts'
import type { CheckedList } from './list.ts'
import { counted, spanText } from './words.ts'

/** What the command ends with when a run came to the end of its list. */
export function exitCodeOfReport({ counts, halted, complete, fromLedger }: AwardReport): ExitCode {
  if (counts.indeterminate > 0 || counts.unconfirmed > 0) return EXIT.unknownOutcome
  if (halted.length > 0 && counts.awarded + counts.alreadyAwarded <= fromLedger) return EXIT.refused
  return counts.rejected > 0 || !complete ? EXIT.notAll : EXIT.done
}

/** The report as `--json` and report files have it: rows by the lines of their file. */
export const reportFields = (
  { problems, ...report }: AwardReport,
  { lines }: CheckedList,
): Record<string, unknown> => ({
  ...report,
  problems: byLine(problems).map(({ index, ...problem }) => ({ line: lines.at(index), ...problem })),
})

const byLine = (problems: AwardReport['problems']): AwardReport['problems'] =>
  [...problems].sort((one, other) => one.index - other.index)

const WORDS = {
  awarded: 'awarded',
  alreadyAwarded: 'had been awarded before',
  unconfirmed: 'very likely awarded',
  rejected: 'rejected',
  indeterminate: 'in doubt',
  duplicate: 'same as another row',
} as const satisfies Record<keyof AwardReport['counts'], string>

const MOST_PROBLEMS = 20

/** What became of the rows, for people. */
export function summaryLines(report: AwardReport, { lines }: CheckedList): Part[][] {
  const { counts, xp, rows, fromLedger, halted, problems, problemsOmitted, complete, startedAt, finishedAt } = report
  const took = spanText(Date.parse(finishedAt) - Date.parse(startedAt))
  const told: Part[][] = [
    [bold(complete ? 'complete' : 'not complete'), dim(`  ${counted(rows)} of ${counted(lines.length)} rows, ${took}`)],
  ]
  for (const verdict of Object.keys(WORDS) as (keyof typeof WORDS)[]) {
    if (counts[verdict] === 0) continue
    const paint = verdict === 'awarded' || verdict === 'alreadyAwarded' ? green : verdict === 'duplicate' ? dim : red
    const amount = counted(Number(xp[verdict].toPrecision(15)))
    told.push(['  ', paint(counted(counts[verdict])), ` ${WORDS[verdict]}`, dim(`  ${amount} XP`)])
  }
  if (fromLedger > 0) told.push([dim(`  of these, ${counted(fromLedger)} were in the ledger and not sent again`)])
  const left = lines.length - Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (left > 0) told.push(['  ', yellow(counted(left)), ' not sent'])
  for (const { pid, rows: count, reason } of halted) {
    told.push(['  ', red(`campaign ${pid} was given up`), `, with ${counted(count)} rows: ${reason}`])
  }
  for (const { index, verdict, id = '', reason } of byLine(problems).slice(0, MOST_PROBLEMS)) {
    told.push([`  line ${lines.at(index)}  `, yellow(WORDS[verdict]), `  ${reason}`, dim(`  ${id}`)])
  }
  const others = Math.max(0, problems.length - MOST_PROBLEMS) + problemsOmitted
  if (others > 0) told.push([dim(`  and ${counted(others)} more`)])
  return told
}
