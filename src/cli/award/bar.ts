import { SingleBar } from 'cli-progress'
import { type Output, yellow } from '../output.ts'
import { ended, type ProgressTeller, wordsOf } from './progress.ts'

const WIDEST_BAR = 30

/** A bar with words, that takes one line and leaves nothing behind. */
export function bar(rows: number, { err, errStream }: Output): ProgressTeller {
  let words = ''
  let value = 0
  const showing = new SingleBar({
    stream: errStream as NodeJS.WriteStream,
    // What a second Ctrl-C leaves behind must be a terminal in order: nothing is hidden or switched off.
    hideCursor: false,
    linewrap: true,
    clearOnComplete: true,
    stopOnComplete: false,
    format(_, { progress }) {
      // A terminal that does not know its size says 0.
      const width = (errStream.columns || 80) - 1
      const size = Math.max(0, Math.min(WIDEST_BAR, width - words.length - 2))
      const full = Math.round(size * progress)
      return `${'█'.repeat(full)}${'░'.repeat(size - full)}  ${words}`.slice(0, width)
    },
  })
  showing.start(rows, 0)
  return {
    tell(progress) {
      words = wordsOf(progress, rows)
      value = ended(progress)
      showing.update(value)
    },
    say(text) {
      showing.stop()
      err.line(yellow(text))
      showing.start(rows, value)
    },
    stop: () => showing.stop(),
  }
}
