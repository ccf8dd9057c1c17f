import type { OperationName, RequestOf } from '../endpoints/index.ts'
import type { ReferralRejection } from '../errors/client-errors.ts'
import { WALLET_PLATFORM } from '../shared/wallet-address.ts'
import type { TokenGrant } from './http/access.ts'
import { accessDenied, badRequest, HttpError } from './http/messages.ts'
import {
  type Campaign,
  type Challenge,
  type Entry,
  finiteXp,
  type Quest,
  type Task,
  totalXp,
  type User,
} from './state/campaign.ts'
import { completeTask, type EntryOptions, missingDependencies, type ServiceState } from './state/service-state.ts'
import { isUsableSecret, UNUSABLE_SECRET, type WebhookRegistry } from './webhooks/webhook-registry.ts'

/** The second argument of every rule. */
export interface RuleContext {
  readonly state: ServiceState
  readonly webhooks: WebhookRegistry
  readonly grant: TokenGrant
  readonly now: number
}

/**
 * The rule of each operation. It performs a request completely or not at all, and returns the `data` of the response. It
 * throws `HttpError` to refuse the request. See "Endpoints" in docs/the-service.md.
 */
export const rules: {
  readonly [Name in OperationName]: (request: RequestOf<Name>, context: RuleContext) => unknown
} = {
  getUserProgress(request, context) {
    const entry = requireEntry(request, context)
    const { tasks, quests, challenges } = entry.campaign.definition
    return {
      id: entry.id,
      user_id: request.account,
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
      rank: entry.campaign.rank(entry),
      team: entry.team,
    }
  },

  rewardWallet({ address, pid, id, xp }, context) {
    const { state, now } = context
    const campaign = requireCampaign(pid, context)
    if (state.usedRewardIds.has(id)) throw badRequest(`the reward id "${id}" has been used before`)
    const before = campaign.find(state.users.find(address, WALLET_PLATFORM))?.xp ?? 0
    if (!Number.isFinite(before + xp)) throw badRequest('xp: the total would no longer be a finite number')

    const entry = enterUser(campaign, address, WALLET_PLATFORM, state)
    const award = { id, pid, address, xp, at: now }
    state.award(award)
    campaign.update(entry, { xp: entry.xp + xp })
    campaign.reward(entry, { id, reward: String(xp), type: 'xp' })
    state.recordEvent({ kind: 'reward_claimed', entry, account: address, award })
    return undefined
  },

  setReferrer({ referrer, referral, platform, pid }, context) {
    const campaign = requireCampaign(pid, context)
    const { state } = context
    if (state.users.areSameUser(referrer, referral, platform)) {
      throw referralError('self_referral_not_allowed', 'referrer and referral are one user')
    }
    for (const account of [referrer, referral]) {
      if (campaign.definition.registration === 'closed' && !campaign.find(state.users.find(account, platform))) {
        throw referralError('missing_user', `there is no user "${account}"`)
      }
    }
    requireReferable(campaign, state.users.find(referral, platform))

    const entry = enterUser(campaign, referrer, platform, state)
    campaign.update(enterUser(campaign, referral, platform, state), { referrer: entry })
    return {}
  },

  updateUser({ account, platform, pid, name, alias, team }, context) {
    const campaign = requireCampaign(pid, context)
    campaign.update(enterUser(campaign, account, platform, context.state), { name, alias, team })
    return {}
  },

  setReferrerByRefId({ account, platform, pid, ref_id }, context) {
    const campaign = requireCampaign(pid, context)
    const referrer = campaign.findBy('ref_id', ref_id)
    if (!referrer) throw badRequest(`there is no referral link "${ref_id}" in the campaign`)
    const user = context.state.users.find(account, platform)
    if (user === referrer.user) throw badRequest(`the referral link "${ref_id}" is the user's own`)
    requireReferable(campaign, user)

    campaign.update(enterUser(campaign, account, platform, context.state), { referrer })
    return {}
  },

  recordActionValue({ account, platform, pid, cid, aid, value }, context) {
    const entry = requireEntry({ account, platform, pid }, context)
    const { tasks, quests } = entry.campaign.definition
    const quest = quests.get(cid)
    if (!quest) throw badRequest(`cid: there is no quest "${cid}" in the campaign`)
    const task = tasks.get(aid)
    if (!task || !quest.actions.includes(aid)) throw badRequest(`aid: there is no task "${aid}" in the quest "${cid}"`)
    const missing = missingDependencies([...quest.deps, ...task.deps], entry)
    if (missing.length > 0) throw badRequest(`complete the dependencies first: ${missing.join(', ')}`)

    context.state.recordValue({ account, platform, pid, cid, aid, value, at: context.now })
    completeTask(entry, task, account, context.state)
    return undefined
  },

  getCampaignInfo({ pid }, context) {
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
  },

  getCampaignPoints({ pid }, context) {
    const campaign = requireCampaign(pid, context)
    const { id, name, seasons } = campaign.definition
    const total = campaign.entries().reduce((sum, entry) => finiteXp(sum + totalXp(entry)), 0)
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
  },

  getUserProfiles(request, context) {
    const entry = requireEntry(request, context)
    const referrals = entry.campaign.entries().filter(({ referrer }) => referrer === entry).length
    return {
      user_id: request.account,
      xp: entry.xp,
      ref_xp: entry.ref_xp,
      ugc_xp: entry.ugc_xp,
      // Assumed: `refs` and `ref_count` are equal. The API description does not explain the difference.
      refs: referrals,
      ref_count: referrals,
      profiles: entry.user.profiles,
    }
  },

  getInviteCode({ code, pid }, context) {
    const usedBy = requireCampaign(pid, context).inviteCodes.get(code)
    if (!usedBy) throw badRequest(`there is no invite code "${code}" in the campaign`)
    return { used_by: usedBy }
  },

  registerWebhook({ scope, url, secret, hook_id }, { webhooks, grant }) {
    const { organization, campaigns } = grant
    if (secret !== undefined && !isUsableSecret(secret)) throw badRequest(`secret: ${UNUSABLE_SECRET}`)
    const known = hook_id === undefined ? undefined : webhooks.find(hook_id)
    if (known && known.organization !== organization) {
      throw accessDenied(`the webhook "${hook_id}" belongs to another organization`)
    }
    return { hook_id: webhooks.register({ scope, url, secret, hook_id, organization, campaigns }).hook_id }
  },
}

const itemStatus = (item: Task | Quest | Challenge, entry: Entry) => ({
  id: item.id,
  name: item.name,
  xp: item.xp,
  xp_mul: item.xp_mul,
  meta: item.meta ?? null,
  status: entry.completed.has(item.id) ? 'completed' : 'none',
})

function requireCampaign(pid: string, { state, grant }: RuleContext): Campaign {
  const campaign = state.campaigns.get(pid)
  // 403 for an unknown campaign too, so that the response does not reveal which campaigns exist (assumed).
  if (!campaign) throw accessDenied(`there is no campaign "${pid}"`)
  const isForeign = grant.organization !== undefined && grant.organization !== campaign.definition.organization
  if (isForeign || (grant.campaigns && !grant.campaigns.includes(pid))) {
    throw accessDenied(`the token has no permission for the campaign "${pid}"`)
  }
  return campaign
}

function requireEntry({ account, platform, pid }: EntryOptions, context: RuleContext): Entry {
  const campaign = requireCampaign(pid, context)
  const user = context.state.users.find(account, platform)
  if (!user) throw badRequest(`there is no user "${account}" on "${platform}"`)
  const entry = campaign.find(user)
  if (!entry) throw badRequest(`the user "${user.account}" has no entry in the campaign`)
  return entry
}

/** Returns the user's entry. If the campaign's registration is open, adds a missing user and a missing entry. */
function enterUser(campaign: Campaign, account: string, platform: string, state: ServiceState): Entry {
  if (campaign.definition.registration === 'open') {
    return state.enter(campaign, state.users.register(account, platform))
  }
  const entry = campaign.find(state.users.find(account, platform))
  if (!entry) throw badRequest(`"${account}" has no entry in the campaign, whose registration is closed`)
  return entry
}

/** Refuses a user who has a referrer or completed tasks. An unknown user is accepted. */
function requireReferable(campaign: Campaign, user: User | undefined): void {
  const entry = campaign.find(user)
  if (!entry) return
  const { account } = entry.user
  if (entry.referrer) throw badRequest(`the user "${account}" has a referrer already`)
  const { tasks } = campaign.definition
  if ([...entry.completed].some((id) => tasks.has(id))) throw badRequest(`the user "${account}" has completed tasks`)
}

/** Returns a string-form error. The API description does not show its status: 400 is assumed. */
const referralError = (error: ReferralRejection, reason: string): HttpError =>
  new HttpError(400, reason, { body: { success: false, error } })
