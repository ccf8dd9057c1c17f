import type { AwardProgress } from 'campaign-client/bulk'
import { dim, type Output, yellow } from '../output.ts'
import { counted, spanText } from './words.ts'

/** Shows how far a run is. */
export interface ProgressDisplay {
  show(progress: AwardProgress): void
  /** Prints a line beside the progress. */
  say(text: string): void
  stop(): void
}

/** Shows a bar on a terminal, and a line now and then anywhere else. */
export const progressDisplay = (rows: number, { err }: Output, env: NodeJS.ProcessEnv): ProgressDisplay =>
  err.isTerminal && !env.NO_COLOR ? progressBar(rows, err) : progressLines(rows, err)

const ended = ({ counts }: AwardProgress): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** Says how many rows are done, the rate, and the time left. */
function progressText(progress: AwardProgress, rows: number): string {
  const { rate, waitingMs, counts } = progress
  const left = rows - ended(progress)
  const bad = counts.rejected + counts.unconfirmed + counts.indeterminate
  return [
    `${counted(ended(progress))}/${counted(rows)}`,
    ...(bad > 0 ? [`${counted(bad)} not awarded`] : []),
    ...(waitingMs > 0 ? [`waiting for the service, ${spanText(waitingMs)}`] : []),
    ...(waitingMs === 0 && rate > 0 ? [`${counted(Math.round(rate))}/s`] : []),
    ...(waitingMs === 0 && rate > 0 && left > 0 ? [`${spanText((left / rate) * 1_000)} left`] : []),
  ].join('  ')
}

const MAX_BAR_WIDTH = 30
/** Moves to the start of the line and clears it. */
const CLEAR_LINE = '\r\u001b[K'

/** One line that is overwritten. It hides no cursor and switches nothing off: a killed process leaves a usable terminal. */
function progressBar(rows: number, err: Output['err']): ProgressDisplay {
  let shown = ''
  const draw = (text: string, share: number): void => {
    const width = err.columns - 1
    const size = Math.max(0, Math.min(MAX_BAR_WIDTH, width - text.length - 2))
    const full = Math.round(size * share)
    shown = `${'█'.repeat(full)}${'░'.repeat(size - full)}  ${text}`.slice(0, width)
    err.write(CLEAR_LINE + shown)
  }
  draw(`0/${counted(rows)}`, 0)
  return {
    show: (progress) => draw(progressText(progress, rows), rows === 0 ? 1 : Math.min(1, ended(progress) / rows)),
    say(text) {
      err.write(CLEAR_LINE)
      err.line(yellow(text))
      err.write(shown)
    },
    stop: () => err.write(CLEAR_LINE),
  }
}

const LINE_INTERVAL_MS = 10_000
const LINE_SHARE = 0.1

/** A line every ten seconds, or after each tenth of the rows, but at most one a second. */
function progressLines(rows: number, err: Output['err']): ProgressDisplay {
  let lastAt = performance.now()
  let lastShare = 0
  return {
    show(progress) {
      const now = performance.now()
      const share = ended(progress) / rows
      if (now - lastAt < LINE_INTERVAL_MS && (share - lastShare < LINE_SHARE || now - lastAt < 1_000)) return
      lastAt = now
      lastShare = share
      err.line(dim(progressText(progress, rows)))
    },
    say: (text) => err.line(text),
    stop: () => undefined,
  }
}
