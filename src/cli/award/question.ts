import { CommandFailure, EXIT } from '../failure.ts'
import { confirm } from '../prompt.ts'
import { formatCount, formatXp } from './format.ts'
import { type Plan, planFields } from './plan.ts'

export interface QuestionFlags {
  readonly yes?: boolean
  readonly again?: boolean
}

/** A question that `--yes` does not answer. */
interface Question {
  /** The question, as a sentence. */
  readonly text: string
  /** The answer that confirms the plan. */
  readonly word: string
  /** What to do without a terminal. */
  readonly advice: string
}

/** Returns the question that a plan needs in addition to "Send …?"; `undefined` if the flags answer it. */
function questionOf({ toSend, awardedBefore }: Plan, { again }: QuestionFlags): Question | undefined {
  if (toSend.awards === 0 || again || awardedBefore.wallets === 0) return undefined
  return {
    text: `${formatCount(awardedBefore.wallets, 'wallet')} would be awarded a second time`,
    word: 'again',
    advice: 'if you want a second award, add --again; if you edited an id or a reason, undo the edit',
  }
}

/** Returns why the plan is refused with `--yes`; `undefined` if it is not. */
export function planRefusal(plan: Plan, flags: QuestionFlags): CommandFailure | undefined {
  const question = questionOf(plan, flags)
  if (question === undefined) return undefined
  const { text, advice } = question
  return new CommandFailure(EXIT.usage, 'usage', `${text}: nothing was sent`, { advice, result: planFields(plan) })
}

/** Asks the user to confirm a plan, unless `--yes` is given. @throws CommandFailure when the plan is not confirmed */
export async function confirmPlan(plan: Plan, flags: QuestionFlags): Promise<void> {
  if (flags.yes) {
    const refusal = planRefusal(plan, flags)
    if (refusal !== undefined) throw refusal
    return
  }
  const { toSend } = plan
  if (toSend.awards === 0) return
  const question = questionOf(plan, flags)
  const advice = 'check the list with --dry-run, then add --yes'
  if (question === undefined) {
    const amount = `${formatCount(toSend.awards, 'award')}, ${formatXp(toSend.xp)}`
    await confirm(`Send ${amount}? [y/N] `, /^y(?:es)?$/i, advice)
  } else {
    const accepted = new RegExp(`^${question.word}$`, 'i')
    await confirm(`${question.text}. Type "${question.word}" to send the list: `, accepted, advice)
  }
}
