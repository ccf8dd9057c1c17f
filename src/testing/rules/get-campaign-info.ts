import type { Quest, Task } from '../world/campaign-definition.ts'
import { requireCampaign } from './campaign-access.ts'
import type { Rule } from './rule.ts'

// The interface shows multipliers and `ref_xp` as numeric strings.
const definition = <Item extends Task | Quest>(item: Item) => ({
  ...item,
  xp_mul: String(item.xp_mul),
  meta: item.meta ?? {},
})

export const getCampaignInfo: Rule<'getCampaignInfo'> = ({ pid }, context) => {
  const { id, name, tasks, quests } = requireCampaign(pid, context).definition
  return {
    id,
    name,
    actions: [...tasks.values()].map((task) => ({ ...definition(task), ref_xp: String(task.ref_xp) })),
    quests: [...quests.values()].map(definition),
  }
}
