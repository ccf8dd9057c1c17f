import { requireCampaign } from './require.ts'
import type { Rule } from './rule.ts'

export const getCampaignInfo: Rule<'getCampaignInfo'> = ({ pid }, context) => {
  const { id, name, tasks, quests } = requireCampaign(pid, context).definition
  return {
    id,
    name,
    actions: [...tasks.values()].map((task) => ({
      id: task.id,
      name: task.name,
      type: task.type,
      recurrence: task.recurrence,
      ref_xp: String(task.ref_xp),
      xp: task.xp,
      xp_mul: String(task.xp_mul),
      meta: task.meta ?? {},
      deps: task.deps,
      is_optional: task.is_optional,
    })),
    quests: [...quests.values()].map((quest) => ({
      id: quest.id,
      name: quest.name,
      actions: quest.actions,
      xp: quest.xp,
      xp_mul: String(quest.xp_mul),
      meta: quest.meta ?? {},
      deps: quest.deps,
    })),
  }
}
