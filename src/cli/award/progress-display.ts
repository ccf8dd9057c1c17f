import type { Waiting } from '../../bulk/pacing.ts'
import type { AwardProgress } from '../../bulk/report.ts'
import { bold, dim, type Output } from '../output.ts'
import { formatDuration, formatNumber } from './format.ts'

/** Shows the progress of a run. */
interface ProgressDisplay {
  show(progress: AwardProgress): void
  /** Prints a line above the progress. */
  say(text: string): void
  stop(): void
}

/** Shows a bar on a terminal, and single lines elsewhere. */
export const progressDisplay = (rows: number, { err }: Output): ProgressDisplay =>
  err.showsProgressBar ? progressBar(rows, err) : progressLines(rows, err)

const doneRows = ({ counts }: AwardProgress): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** Formats the number of done rows, and the rate and the remaining time, or why the run waits. */
function progressText(progress: AwardProgress, rows: number): string {
  const { rate, counts, waiting } = progress
  const done = `${formatNumber(doneRows(progress))}/${formatNumber(rows)}`
  if (waiting !== null) return `${done}  ${waitingText(waiting)}`
  const left = rows - doneRows(progress)
  const failed = counts.rejected + counts.unconfirmed + counts.indeterminate
  return [
    done,
    failed > 0 && `${formatNumber(failed)} not awarded`,
    rate > 0 && `${formatNumber(Math.round(rate))}/s`,
    rate > 0 && left > 0 && `${formatDuration((left / rate) * 1_000)} left`,
  ]
    .filter((part) => part !== false)
    .join('  ')
}

const REASONS = { rate_limit: 'rate limit (429)', outage: 'no response' } as const satisfies Record<
  Waiting['for'],
  string
>

/** Fits into a terminal of 80 columns, beside the number of rows. */
const waitingText = ({ for: reason, sinceMs, nextAttemptMs, givesUpMs }: Waiting): string =>
  [
    `${REASONS[reason]} for ${formatDuration(sinceMs)}`,
    nextAttemptMs >= 500 ? `retry in ${formatDuration(nextAttemptMs)}` : 'retrying',
    `stops in ${formatDuration(givesUpMs)}`,
  ].join(', ')

const MAX_BAR_WIDTH = 30
/** Moves to the start of the line and clears it. */
const CLEAR_LINE = '\r\u001b[K'

/** Overwrites one line. Does not change settings of the terminal: a killed process could not restore them. */
function progressBar(rows: number, err: Output['err']): ProgressDisplay {
  let shown = ''
  const draw = (text: string, share: number): void => {
    const width = err.columns - 1
    const size = Math.max(0, Math.min(MAX_BAR_WIDTH, width - text.length - 2))
    const full = Math.round(size * share)
    shown = `${'█'.repeat(full)}${'░'.repeat(size - full)}  ${text}`.slice(0, width)
    err.write(CLEAR_LINE + shown)
  }
  draw(`0/${formatNumber(rows)}`, 0)
  return {
    show: (progress) => draw(progressText(progress, rows), rows === 0 ? 1 : Math.min(1, doneRows(progress) / rows)),
    say(text) {
      err.write(CLEAR_LINE)
      err.line(bold(text))
      err.write(shown)
    },
    stop: () => err.write(CLEAR_LINE),
  }
}

const LINE_INTERVAL_MS = 10_000
const MIN_LINE_INTERVAL_MS = 1_000
const LINE_SHARE = 0.1

/** Prints a line every ten seconds, after each tenth of the rows (at most once a second), and when the run begins to wait. */
function progressLines(rows: number, err: Output['err']): ProgressDisplay {
  let lastAt = performance.now()
  let lastShare = 0
  let waitsFor: Waiting['for'] | undefined
  return {
    show(progress) {
      const now = performance.now()
      const share = doneRows(progress) / rows
      const reason = progress.waiting?.for
      if (reason === undefined) waitsFor = undefined
      const isNews = share - lastShare >= LINE_SHARE || reason !== waitsFor
      if (now - lastAt < (isNews ? MIN_LINE_INTERVAL_MS : LINE_INTERVAL_MS)) return
      waitsFor = reason
      lastAt = now
      lastShare = share
      err.line(dim(progressText(progress, rows)))
    },
    say: (text) => err.line(text),
    stop: () => undefined,
  }
}
