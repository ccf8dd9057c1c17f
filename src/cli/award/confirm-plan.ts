import { usageFailure } from '../failure.ts'
import { confirm } from '../prompt.ts'
import { formatCount, formatXp } from './format.ts'
import type { Plan } from './plan.ts'

/** Asks the user to confirm a plan, unless `--yes` is given. @throws CommandFailure when the plan is not confirmed */
export async function confirmPlan(plan: Plan, { yes, again }: { yes?: boolean; again?: boolean }): Promise<void> {
  const { toSend, awardedBefore } = plan
  if (toSend.awards === 0) return
  const wallets = formatCount(awardedBefore.wallets, 'wallet')
  const isSecondAward = awardedBefore.wallets > 0 && !again
  if (yes && isSecondAward) {
    throw usageFailure(
      `${wallets} would be awarded in this campaign a second time, under another id: nothing was sent`,
      'if you want a second award, add --again; if you edited an id or a reason, undo the edit',
    )
  }
  if (yes) return
  const advice = 'check the list with --dry-run, then add --yes'
  if (isSecondAward) {
    await confirm(`${wallets} would be awarded a second time. Type "again" to send the list: `, /^again$/i, advice)
  } else {
    const amount = `${formatCount(toSend.awards, 'award')}, ${formatXp(toSend.xp)}`
    await confirm(`Send ${amount}? [y/N] `, /^y(?:es)?$/i, advice)
  }
}
