import { badRequest } from '../http/http-error.ts'
import { WALLET_PLATFORM } from '../state/user-registry.ts'
import { enterUser, requireCampaign } from './require.ts'
import type { Rule } from './rule.ts'

export const rewardWallet: Rule<'rewardWallet'> = ({ address, pid, id, xp }, context) => {
  const { state, now, sendEvent } = context
  const campaign = requireCampaign(pid, context)
  if (state.isRewardIdUsed(id)) throw badRequest(`the reward id "${id}" has been used before`)
  const known = state.users.find(address, WALLET_PLATFORM)
  const before = (known && campaign.find(known)?.xp) ?? 0
  if (!Number.isFinite(before + xp)) throw badRequest('xp: the total would no longer be a finite number')

  const entry = enterUser(campaign, address, WALLET_PLATFORM, context)
  const award = { id, pid, address, xp, at: now }
  state.award(award)
  campaign.update(entry, { xp: entry.xp + xp })
  campaign.reward(entry, { id, reward: String(xp), type: 'xp' })
  sendEvent({ kind: 'reward_claimed', campaign, entry, account: address, award })
  return undefined
}
