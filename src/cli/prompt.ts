import { createInterface } from 'node:readline'
import { CommandFailure, EXIT, usageFailure } from './failure.ts'

/**
 * Asks for confirmation at the terminal.
 *
 * @throws CommandFailure when the answer does not match `accepted`, or without a terminal
 */
export async function confirm(question: string, accepted: RegExp, adviceWithoutTerminal: string): Promise<void> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw usageFailure('there is no terminal to ask for confirmation: nothing was sent', adviceWithoutTerminal)
  }
  if (accepted.test((await ask(question)) ?? '')) return
  throw new CommandFailure(EXIT.usage, 'declined', 'declined: nothing was sent')
}

/** Resolves to the answer, or to `undefined` if the input ends without one. */
function ask(question: string): Promise<string | undefined> {
  // With `terminal: true`, readline would handle Ctrl-C, which must end the process.
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  return new Promise((resolve) => {
    terminal.once('close', () => resolve(undefined))
    terminal.question(question, (answer) => {
      resolve(answer.trim())
      terminal.close()
    })
  })
}
