import type { Entry } from '../state/campaign.ts'
import { totalXp } from '../state/campaign.ts'
import type { Challenge, Quest, Task } from '../state/campaign-definition.ts'
import { requireCampaign, requireEntry, requireUser } from './require.ts'
import type { Rule } from './rule.ts'

export const getUserProgress: Rule<'getUserProgress'> = ({ account, platform, pid }, context) => {
  const campaign = requireCampaign(pid, context)
  const entry = requireEntry(campaign, requireUser(account, platform, context))
  const { tasks, quests, challenges } = campaign.definition
  return {
    id: entry.id,
    user_id: account,
    name: entry.name,
    actions: [...tasks.values()].map((task) => itemStatus(task, entry)),
    quests: [...quests.values()].map((quest) => ({ ...itemStatus(quest, entry), actions: quest.actions })),
    challenges: [...challenges.values()].map((challenge) => itemStatus(challenge, entry)),
    rewards: entry.rewards,
    total: totalXp(entry),
    xp: entry.xp,
    ref_xp: entry.ref_xp,
    ugc_xp: entry.ugc_xp,
    xp_mul: entry.xp_mul,
    rank: campaign.rank(entry),
    team: entry.team,
  }
}

const itemStatus = (item: Task | Quest | Challenge, entry: Entry) => ({
  id: item.id,
  name: item.name,
  xp: item.xp,
  xp_mul: item.xp_mul,
  meta: item.meta ?? null,
  status: entry.completed.has(item.id) ? 'completed' : 'none',
})
