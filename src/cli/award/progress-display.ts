import type { AwardProgress, Outage } from 'campaign-client/bulk'
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

/** Formats the number of done rows, and the rate and the remaining time or the outage. */
function progressText(progress: AwardProgress, rows: number): string {
  const { rate, waitingMs, counts, outage } = progress
  const done = `${formatNumber(doneRows(progress))}/${formatNumber(rows)}`
  if (outage !== null) return `${done}  ${outageText(outage)}`
  const left = rows - doneRows(progress)
  const failed = counts.rejected + counts.unconfirmed + counts.indeterminate
  return [
    done,
    failed > 0 && `${formatNumber(failed)} not awarded`,
    waitingMs > 0 && `waiting for the service, ${formatDuration(waitingMs)}`,
    waitingMs === 0 && rate > 0 && `${formatNumber(Math.round(rate))}/s`,
    waitingMs === 0 && rate > 0 && left > 0 && `${formatDuration((left / rate) * 1_000)} left`,
  ]
    .filter((part) => part !== false)
    .join('  ')
}

/** Fits into a terminal of 80 columns, beside the number of rows. */
const outageText = ({ sinceMs, nextAttemptMs, givesUpMs }: Outage): string =>
  [
    `no response for ${formatDuration(sinceMs)}`,
    nextAttemptMs >= 500 ? `retry in ${formatDuration(nextAttemptMs)}` : 'retrying',
    `stops in ${formatDuration(Math.max(0, givesUpMs))}`,
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

/** Prints a line every ten seconds, after each tenth of the rows (at most once a second), and when an outage begins. */
function progressLines(rows: number, err: Output['err']): ProgressDisplay {
  let lastAt = performance.now()
  let lastShare = 0
  let isInOutage = false
  return {
    show(progress) {
      const now = performance.now()
      const share = doneRows(progress) / rows
      const minIntervalMs = share - lastShare < LINE_SHARE ? LINE_INTERVAL_MS : MIN_LINE_INTERVAL_MS
      const outageBegins = progress.outage !== null && !isInOutage
      isInOutage = progress.outage !== null
      if (now - lastAt < minIntervalMs && !outageBegins) return
      lastAt = now
      lastShare = share
      err.line(dim(progressText(progress, rows)))
    },
    say: (text) => err.line(text),
    stop: () => undefined,
  }
}
