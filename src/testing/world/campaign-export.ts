import { copyJson } from '../../shared/text/json.ts'
import type { Campaign, Entry } from './campaign.ts'
import type { Challenge } from './campaign-definition.ts'
import type { CampaignSeed, UserSeed } from './campaign-seed.ts'

/** The campaign as a seed, with what its users have reached: whoever starts with it goes on from there. */
export function exportCampaign(campaign: Campaign): CampaignSeed {
  const { id, name, organization, registration, tasks, quests, challenges, seasons } = campaign.definition
  return {
    id,
    name,
    organization,
    registration,
    actions: [...tasks.values()].map(copyItem),
    quests: [...quests.values()].map((quest) => ({ ...copyItem(quest), actions: [...quest.actions] })),
    challenges: [...challenges.values()].map(copyItem),
    seasons: seasons.map((season) => ({ ...season })),
    users: [...campaign.entries()].map(exportEntry),
    invite_codes: [...campaign.inviteCodes].map(([code, used_by]) => ({ code, used_by: [...used_by] })),
  }
}

// A name without a value is left out: a seed may be kept as JSON, which has no `undefined`.
const copyItem = <Item extends Challenge>({ meta, ...item }: Item) => ({
  ...item,
  ...(meta && { meta: copyJson(meta) }),
  deps: [...item.deps],
})

function exportEntry({ user, referrer, completed, rewards, referred: _, ...entry }: Entry): UserSeed {
  const [, ...profiles] = user.profiles
  return {
    ...entry,
    account: user.account,
    platform: user.platform,
    profiles: profiles.map((profile) => ({ ...profile })),
    ...(user.wallet !== '' && { wallet: user.wallet }),
    ...(user.email !== '' && { email: user.email }),
    completed: [...completed],
    rewards: rewards.map(copyJson),
    ...(referrer && { referrer: { account: referrer.user.account, platform: referrer.user.platform } }),
  }
}
