import { createInterface } from 'node:readline'
import { EXIT } from './exit-codes.ts'
import { CommandFailure, usageFailure } from './failure.ts'

/**
 * Asks for confirmation at the terminal.
 *
 * @throws CommandFailure when the answer does not match `accepted`, or there is no terminal
 */
export async function confirm(
  question: string,
  accepted: RegExp,
  adviceWithoutTerminal: string,
  adviceIfDeclined?: string,
): Promise<void> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw usageFailure('there is no terminal to ask for confirmation: nothing was sent', adviceWithoutTerminal)
  }
  process.stderr.write(question)
  // With `terminal: true`, readline would handle Ctrl-C, which must end the process.
  const lines = createInterface({ input: process.stdin, terminal: false })
  // If there is no value, the input has ended.
  const { value: answer = '' } = await lines[Symbol.asyncIterator]().next()
  lines.close()
  if (accepted.test(answer.trim())) return
  throw new CommandFailure(EXIT.usage, 'declined', 'declined: nothing was sent', { advice: adviceIfDeclined })
}
