import { createInterface } from 'node:readline'
import { CommandFailure, EXIT, usageFailure } from '../exit.ts'
import type { Plan } from './plan.ts'
import { counted, some } from './words.ts'

/**
 * Asks whether the plan is right, unless flags have said so.
 *
 * @throws CommandFailure when it is not, or nobody can be asked
 */
export async function confirmPlan({ facts }: Plan, { yes, again }: { yes?: boolean; again?: boolean }): Promise<void> {
  const { toSend, awardedBefore } = facts
  if (toSend.awards === 0) return
  const isTwice = awardedBefore.wallets > 0 && !again
  const wallets = some(awardedBefore.wallets, 'wallet')
  if (yes && isTwice) {
    throw usageFailure(
      `${wallets} would be awarded in this campaign a second time, under another id: nothing was sent`,
      'if that is meant, add --again; if an id or a reason was edited, take the edit back',
    )
  }
  if (yes) return
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw usageFailure('there is no terminal to ask at: nothing was sent', 'look at --dry-run, then add --yes')
  }
  const question = isTwice
    ? `${wallets} would be awarded a second time. Type "again" to send all the same: `
    : `Send ${some(toSend.awards, 'award')}, ${counted(toSend.xp)} XP? [y/N] `
  const answer = (await ask(question))?.toLowerCase()
  if (isTwice ? answer === 'again' : answer === 'y' || answer === 'yes') return
  throw new CommandFailure(EXIT.notAll, 'declined', 'nothing was sent')
}

/** What was answered, or `undefined` when the input ended without an answer. */
function ask(question: string): Promise<string | undefined> {
  // Not as a terminal: Ctrl-C stays a signal, which ends a command that has not begun yet.
  const asking = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  return new Promise((resolve) => {
    asking.once('close', () => resolve(undefined))
    asking.question(question, (answer) => {
      resolve(answer.trim())
      asking.close()
    })
  })
}
