import type { AwardProgress } from 'campaign-client/bulk'
import { dim, type Output } from '../output.ts'
import { counted, spanText } from './words.ts'

/** Tells how far a run is. */
export interface ProgressTeller {
  tell(progress: AwardProgress): void
  /** Says something in between. */
  say(text: string): void
  stop(): void
}

/** A bar where somebody watches, a line now and then where not. */
export async function progressTeller(rows: number, output: Output, env: NodeJS.ProcessEnv): Promise<ProgressTeller> {
  if (!output.err.isLively || env.NO_COLOR) return lines(rows, output)
  const { bar } = await import('./bar.ts')
  return bar(rows, output)
}

export const ended = ({ counts }: AwardProgress): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** The rows that are through, the rate and what it means. */
export function wordsOf(progress: AwardProgress, rows: number): string {
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

const LINE_EVERY_MS = 10_000
const LINE_EVERY_SHARE = 0.1

function lines(rows: number, { err }: Output): ProgressTeller {
  let toldAt = performance.now()
  let told = 0
  return {
    tell(progress) {
      const now = performance.now()
      const share = ended(progress) / rows
      if (now - toldAt < LINE_EVERY_MS && (share - told < LINE_EVERY_SHARE || now - toldAt < 1_000)) return
      toldAt = now
      told = share
      err.line(dim(wordsOf(progress, rows)))
    },
    say: (text) => err.line(text),
    stop: () => undefined,
  }
}
