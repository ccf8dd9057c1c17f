import type { OperationName, RequestOf } from '../../endpoints.ts'
import { accessDenied, badRequest, Refusal } from '../http/refusal.ts'
import type { ServiceEvent } from '../world/event.ts'
import { type Campaign, type Entry, totalXp } from '../world/campaign.ts'
import type { Challenge, Quest, Task } from '../world/campaign-definition.ts'
import { completeTask, missingDependencies } from '../world/completion.ts'
import type { ServiceState } from '../world/state.ts'
import { type User, WALLET_PLATFORM } from '../world/users.ts'
import type { TokenGrant } from '../http/tokens.ts'
import type { WebhookRegistry } from '../deliveries/webhook-registry.ts'

/** What an operation works with. */
export interface OperationContext {
  readonly state: ServiceState
  readonly webhooks: WebhookRegistry
  readonly grant: TokenGrant
  readonly now: number
  readonly announce: (event: ServiceEvent) => void
}

/** Does what a request asks, all of it or nothing. Returns the envelope's `data`. @throws Refusal */
type Operation<Name extends OperationName> = (request: RequestOf<Name>, context: OperationContext) => unknown

/** What each operation does. Interface: Endpoints, 1 to 10. */
export const operations: { readonly [Name in OperationName]: Operation<Name> } = {
  getUserProgress({ account, platform, pid }, context) {
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
  },

  rewardWallet({ address, pid, id, xp }, context) {
    const { state, now, announce } = context
    const campaign = requireCampaign(pid, context)
    if (state.isRewardIdUsed(id)) throw badRequest(`the reward id "${id}" has been used before`)
    const known = state.users.find(address, WALLET_PLATFORM)
    const before = (known && campaign.find(known)?.xp) ?? 0
    if (!Number.isFinite(before + xp)) throw badRequest('xp: the total would no longer be a finite number')

    const entry = enterUser(campaign, address, WALLET_PLATFORM, context)
    const award = { id, pid, address, xp, at: now }
    state.award(award)
    entry.xp += xp
    entry.rewards.push({ id, reward: String(xp), type: 'xp' })
    announce({ kind: 'reward_claimed', campaign, entry, account: address, award })
    return undefined
  },

  setReferrer({ referrer, referral, platform, pid }, context) {
    const campaign = requireCampaign(pid, context)
    if (referrer === referral) throw selfReferral()
    const { users } = context.state
    const accounts = [referrer, referral].map((account) => ({ account, user: users.find(account, platform) }))
    for (const { account, user } of accounts) {
      if (campaign.definition.registration === 'closed' && !(user && campaign.find(user))) throw missingUser(account)
    }
    const [first, second] = accounts
    if (first?.user && first.user === second?.user) throw selfReferral()
    if (second?.user) requireReferable(campaign, campaign.find(second.user))

    refer(enterUser(campaign, referrer, platform, context), enterUser(campaign, referral, platform, context))
    return {}
  },

  updateUser({ account, platform, pid, name, alias, team }, context) {
    const campaign = requireCampaign(pid, context)
    const entry = enterUser(campaign, account, platform, context)
    entry.name = name ?? entry.name
    entry.alias = alias ?? entry.alias
    entry.team = team ?? entry.team
    return {}
  },

  setReferrerByRefId({ account, platform, pid, ref_id }, context) {
    const campaign = requireCampaign(pid, context)
    const referrer = campaign.byReferralLink(ref_id)
    if (!referrer) throw badRequest(`there is no referral link "${ref_id}" in the campaign`)
    const user = context.state.users.find(account, platform)
    if (user === referrer.user) throw badRequest(`the referral link "${ref_id}" is the user's own`)
    if (user) requireReferable(campaign, campaign.find(user))

    refer(referrer, enterUser(campaign, account, platform, context))
    return {}
  },

  recordActionValue({ account, platform, pid, cid, aid, value }, context) {
    const { state, now, announce } = context
    const campaign = requireCampaign(pid, context)
    const entry = requireEntry(campaign, requireUser(account, platform, context))
    const quest = campaign.definition.quests.get(cid)
    if (!quest) throw badRequest(`cid: there is no quest "${cid}" in the campaign`)
    const task = campaign.definition.tasks.get(aid)
    if (!task || !quest.actions.includes(aid)) throw badRequest(`aid: there is no task "${aid}" in the quest "${cid}"`)
    const missing = missingDependencies([...quest.deps, ...task.deps], entry)
    if (missing.length > 0) throw badRequest(`not completed yet, but needed first: ${missing.join(', ')}`)

    state.values.push({ account, platform, pid, cid, aid, value, at: now })
    for (const completion of completeTask(campaign, entry, task)) announce({ ...completion, campaign, entry, account })
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
  },

  getUserProfiles({ account, platform, pid }, context) {
    const campaign = requireCampaign(pid, context)
    const user = requireUser(account, platform, context)
    const entry = requireEntry(campaign, user)
    return {
      user_id: account,
      xp: entry.xp,
      ref_xp: entry.ref_xp,
      ugc_xp: entry.ugc_xp,
      // The interface shows both without saying how they differ: here they don't (assumed).
      refs: entry.referred,
      ref_count: entry.referred,
      profiles: user.profiles,
    }
  },

  getInviteCode({ code, pid }, context) {
    const usedBy = requireCampaign(pid, context).inviteCodes.get(code)
    if (!usedBy) throw badRequest(`there is no invite code "${code}" in the campaign`)
    return { used_by: usedBy }
  },

  registerWebhook({ scope, url, secret, hook_id }, { webhooks, grant }) {
    const known = hook_id === undefined ? undefined : webhooks.find(hook_id)
    if (known && known.organization !== grant.organization) {
      throw accessDenied(`the webhook "${hook_id}" belongs to another organization`)
    }
    const { organization, campaigns } = grant
    const webhook = webhooks.register({ scope, url, secret, hook_id, organization, campaigns })
    return { hook_id: webhook.hook_id }
  },
}

function requireCampaign(pid: string, { state, grant }: OperationContext): Campaign {
  const campaign = state.campaigns.get(pid)
  // The same answer to both, so that nobody can find out which campaigns others have (assumed).
  if (!campaign) throw accessDenied(`there is no campaign "${pid}"`)
  const foreign = grant.organization !== undefined && grant.organization !== campaign.definition.organization
  if (foreign || (grant.campaigns && !grant.campaigns.includes(pid))) {
    throw accessDenied(`the token has no permission for the campaign "${pid}"`)
  }
  return campaign
}

function requireUser(account: string, platform: string, { state }: OperationContext): User {
  const user = state.users.find(account, platform)
  if (!user) throw badRequest(`there is no user "${account}" on "${platform}"`)
  return user
}

function requireEntry(campaign: Campaign, user: User): Entry {
  const entry = campaign.find(user)
  if (!entry) throw badRequest(`the user "${user.account}" has no entry in the campaign`)
  return entry
}

/** The user's entry, registering user and entry where the campaign allows it. */
function enterUser(campaign: Campaign, account: string, platform: string, { state }: OperationContext): Entry {
  if (campaign.definition.registration === 'closed') {
    const user = state.users.find(account, platform)
    const entry = user && campaign.find(user)
    if (!entry) throw badRequest(`"${account}" has no entry in the campaign, whose registration is closed`)
    return entry
  }
  return state.enter(campaign, state.users.register(account, platform))
}

function requireReferable(campaign: Campaign, entry: Entry | undefined): void {
  if (!entry) return
  if (entry.referrer) throw badRequest(`the user "${entry.user.account}" has a referrer already`)
  if (campaign.hasCompletedTasks(entry)) throw badRequest(`the user "${entry.user.account}" has completed tasks`)
}

function refer(referrer: Entry, referral: Entry): void {
  referral.referrer = referrer
  referrer.referred++
}

// The interface does not show the status of the two string-form errors: 400 is assumed.
const selfReferral = (): Refusal =>
  new Refusal({ status: 400, stringError: 'self_referral_not_allowed', reason: 'referrer and referral are one user' })

const missingUser = (account: string): Refusal =>
  new Refusal({ status: 400, stringError: 'missing_user', reason: `there is no user "${account}"` })

const itemStatus = (item: Task | Quest | Challenge, entry: Entry) => ({
  id: item.id,
  name: item.name,
  xp: item.xp,
  xp_mul: item.xp_mul,
  meta: item.meta ?? null,
  status: entry.completed.has(item.id) ? 'completed' : 'none',
})
