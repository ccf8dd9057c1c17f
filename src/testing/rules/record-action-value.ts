import { badRequest } from '../http/http-error.ts'
import { completeTask, missingDependencies } from '../state/complete-task.ts'
import { requireCampaign, requireEntry, requireUser } from './require.ts'
import type { Rule } from './rule.ts'

export const recordActionValue: Rule<'recordActionValue'> = ({ account, platform, pid, cid, aid, value }, context) => {
  const { state, now, sendEvent } = context
  const campaign = requireCampaign(pid, context)
  const entry = requireEntry(campaign, requireUser(account, platform, context))
  const quest = campaign.definition.quests.get(cid)
  if (!quest) throw badRequest(`cid: there is no quest "${cid}" in the campaign`)
  const task = campaign.definition.tasks.get(aid)
  if (!task || !quest.actions.includes(aid)) throw badRequest(`aid: there is no task "${aid}" in the quest "${cid}"`)
  const missing = missingDependencies([...quest.deps, ...task.deps], entry)
  if (missing.length > 0) throw badRequest(`complete the dependencies first: ${missing.join(', ')}`)

  state.recordValue({ account, platform, pid, cid, aid, value, at: now })
  completeTask({ campaign, entry, account }, task, sendEvent)
  return undefined
}
