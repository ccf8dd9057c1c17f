import { requireCampaign } from './require.ts'
import type { Rule } from './rule.ts'

export const getCampaignPoints: Rule<'getCampaignPoints'> = ({ pid }, context) => {
  const campaign = requireCampaign(pid, context)
  const { id, name, seasons } = campaign.definition
  const total = campaign.totalPoints()
  const running = seasons.findIndex((season) => total < season.max_xp)
  const index = running === -1 ? seasons.length - 1 : running
  return {
    id,
    name,
    total_points: total,
    season_points: total - (seasons[index - 1]?.max_xp ?? 0),
    season_index: index,
    season: seasons[index],
  }
}
