import { createInterface } from 'node:readline'
import { CommandFailure, EXIT, usageFailure } from '../failure.ts'
import type { Plan } from './plan.ts'
import { counted, some } from './words.ts'

/**
 * Asks whether to carry out the plan, unless flags have answered.
 *
 * @throws CommandFailure when the answer is no, or there is no terminal to ask at
 */
export async function confirmPlan(plan: Plan, { yes, again }: { yes?: boolean; again?: boolean }): Promise<void> {
  const { toSend, awardedBefore } = plan
  if (toSend.awards === 0) return
  const isTwice = awardedBefore.wallets > 0 && !again
  const wallets = some(awardedBefore.wallets, 'wallet')
  if (yes && isTwice) {
    throw usageFailure(
      `${wallets} would be awarded in this campaign a second time, under another id: nothing was sent`,
      'if you mean that, add --again; if you edited an id or a reason, undo the edit',
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
  throw new CommandFailure(EXIT.usage, 'declined', 'declined: nothing was sent')
}

/** Asks a question. Gives `undefined` when the input ends without an answer. */
export function ask(question: string): Promise<string | undefined> {
  // Without `terminal: false`, readline would handle Ctrl-C, which must end the command here.
  const asking = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  return new Promise((resolve) => {
    asking.once('close', () => resolve(undefined))
    asking.question(question, (answer) => {
      resolve(answer.trim())
      asking.close()
    })
  })
}
