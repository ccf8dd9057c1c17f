import { shellWord } from '../../shared/text.ts'
import { EXIT } from '../exit-codes.ts'
import { ADVICE, CommandFailure } from '../failure.ts'
import { confirm } from '../output.ts'
import type { Asked } from './ask-service.ts'
import { formatCount, formatNames, formatNumber, formatXp } from './format.ts'
import { type Plan, planFields } from './plan.ts'

export interface QuestionFlags {
  readonly yes?: boolean
  readonly again?: boolean
  readonly new?: boolean
  readonly ledger?: string
}

/** A question that `--yes` does not answer. */
interface Question {
  /** Why the plan needs a confirmation, without a full stop. */
  readonly text: string
  readonly prompt: string
  /** The answer that confirms the plan. */
  readonly word: string
  /** What to do without a terminal, to send the list. */
  readonly adviceToSend: string
  /** What to do if the list must not be sent as it is. */
  readonly adviceToCorrect: string
}

/** Returns the question that a plan needs in addition to "Send …?"; `undefined` if the flags answer it. */
function questionOf({ toSend, total, awardedBefore, elsewhere }: Plan, flags: QuestionFlags): Question | undefined {
  if (toSend.awards === 0 || flags.again) return undefined
  if (awardedBefore.wallets > 0) {
    const text = `${formatCount(awardedBefore.wallets, 'wallet')} would be awarded a second time`
    return {
      text,
      prompt: `${text}. Type "again" to send the list: `,
      word: 'again',
      adviceToSend: 'if you want a second award, add --again',
      adviceToCorrect: 'if you edited an id or a reason, undo the edit',
    }
  }
  if (flags.new) return undefined
  if (elsewhere.notCompared !== undefined && flags.ledger === undefined) {
    const text = 'the other ledgers of the folder may have these awards, and were not compared'
    return {
      text,
      prompt: `${text}.\nType "new" to send the list as a payout of its own: `,
      word: 'new',
      adviceToSend: 'if this list is a payout of its own, add --new',
      adviceToCorrect: 'to continue or correct another payout, add --ledger FILE',
    }
  }
  // Fewer wallets may be a coincidence.
  if (elsewhere.wallets === 0 || elsewhere.wallets * 2 < total.wallets) return undefined
  const [first, ...others] = elsewhere.ledgers
  const places = `${first?.ledger}${others.length > 0 ? ` and ${formatCount(others.length, 'other ledger')}` : ''}`
  const wallets = `${formatNumber(elsewhere.wallets)} of ${formatCount(total.wallets, 'wallet')}`
  const awarded = `${wallets} ${elsewhere.wallets === 1 ? 'was' : 'were'} awarded the same XP in the last 14 days`
  return {
    text: `${awarded}, in ${places} under another id`,
    // The plan names the ledgers.
    prompt: `${awarded}.\nType "new" to send the list as a payout of its own: `,
    word: 'new',
    adviceToSend: 'if this list is a payout of its own, add --new',
    adviceToCorrect: `to continue or correct the other payout, add --ledger ${shellWord(first?.ledger ?? '')}`,
  }
}

const skippedText = (rows: number): string => `${formatCount(rows, 'row')} with mistakes`

/** Names the campaigns that the service refuses. */
const refusedCampaigns = (refused: Asked['refused']): string =>
  `the service refuses ${refused.length === 1 ? 'campaign' : 'campaigns'} ` +
  formatNames(refused.map(({ pid, status }) => `${JSON.stringify(pid)} (${status})`))

/** Returns why the plan is refused with `--yes`; `undefined` if it is not. */
export function planRefusal(plan: Plan, flags: QuestionFlags): CommandFailure | undefined {
  // A 400 may only mean that the query has another name than assumed.
  const refused = plan.asked?.refused.filter(({ status }) => status !== 400) ?? []
  if (refused.length > 0) {
    const code = 'access_denied'
    const details = { advice: ADVICE[code], result: planFields(plan) }
    return new CommandFailure(EXIT.refused, code, `${refusedCampaigns(refused)}: nothing was sent`, details)
  }
  const question = questionOf(plan, flags)
  if (question === undefined) return undefined
  const { text, adviceToSend, adviceToCorrect } = question
  const advice = `${adviceToSend}; ${adviceToCorrect}`
  return new CommandFailure(EXIT.usage, 'usage', `${text}: nothing was sent`, { advice, result: planFields(plan) })
}

/** Asks for confirmation of a plan, unless `--yes` is given. @throws CommandFailure when the plan is not confirmed */
export async function confirmPlan(plan: Plan, flags: QuestionFlags): Promise<void> {
  if (flags.yes) {
    const refusal = planRefusal(plan, flags)
    if (refusal !== undefined) throw refusal
    return
  }
  const { toSend } = plan
  if (toSend.awards === 0) return
  const question = questionOf(plan, flags)
  const refused = plan.asked?.refused ?? []
  const { skipped } = plan.list
  const warning =
    (refused.length > 0 ? `${refusedCampaigns(refused)}.\n` : '') +
    (skipped.rows > 0 && question !== undefined ? `${skippedText(skipped.rows)} are skipped.\n` : '')
  const advice = 'check the list with --dry-run, then add --yes'
  if (question === undefined) {
    const amount = `${formatCount(toSend.awards, 'award')}, ${formatXp(toSend.xp)}`
    const others = skipped.rows > 0 ? `, and skip ${skippedText(skipped.rows)}` : ''
    await confirm(`${warning}Send ${amount}${others}? [y/N] `, /^y(?:es)?$/i, advice)
  } else {
    const accepted = new RegExp(`^${question.word}$`, 'i')
    await confirm(`${warning}${question.prompt}`, accepted, advice, question.adviceToCorrect)
  }
}
