import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import type { ConfigurationError } from '../../errors/client-errors.ts'
import { configurationError } from '../../errors/option-checks.ts'
import { identifier, user as userFields } from '../../schemas/fields.ts'
import { copyJson } from '../../shared/text.ts'
import { readBySchema, strictFields } from '../option-readers.ts'
import { type AwardRecord, type CampaignSeed, requiredTasks, type ValueRecord } from '../seed/seed.ts'
import {
  Campaign,
  type Challenge,
  type Entry,
  earnedXp,
  finiteXp,
  type Quest,
  type Task,
  totalXp,
  type User,
  UserRegistry,
} from './campaign.ts'
import type { IdGenerator } from './id-generator.ts'

/** A change that webhooks report. */
export type UserEvent = {
  readonly entry: Entry
  /** The account in the request. The user may have been registered with another account. */
  readonly account: string
} & (
  | { readonly kind: 'action_completed'; readonly item: Task; readonly xp: number }
  | { readonly kind: 'quest_completed'; readonly item: Quest; readonly xp: number }
  | { readonly kind: 'reward_claimed'; readonly award: AwardRecord }
)

/** A user of a campaign. */
export interface EntryOptions {
  /** Account identifier of a user who has an entry in the campaign. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Campaign ID. */
  pid: string
}

export const unknownCampaign = (caller: string, pid: string): ConfigurationError =>
  configurationError(caller, [{ path: ['pid'], message: `there is no campaign "${pid}"` }])

/** All entries, awards and values, or only the changed ones. */
interface StateParts {
  readonly entries: readonly Entry[]
  readonly awards: readonly AwardRecord[]
  readonly values: readonly ValueRecord[]
}

/** The campaigns, users, awards and values of the service. */
export class ServiceState {
  readonly campaigns = new Map<string, Campaign>()
  readonly users = new UserRegistry()
  readonly awards: AwardRecord[] = []
  readonly values: ValueRecord[] = []
  /** An ID can be used once in the whole service, not once per campaign (assumed). */
  readonly usedRewardIds = new Set<string>()
  readonly #ids: IdGenerator
  #changes = noChanges()

  constructor(ids: IdGenerator) {
    this.#ids = ids
  }

  addCampaign(seed: CampaignSeed): Campaign {
    const campaign = new Campaign(seed)
    this.campaigns.set(seed.id, campaign)
    return campaign
  }

  /** Returns the user's entry in the campaign. Adds an entry if there is none. */
  enter(
    campaign: Campaign,
    user: User,
    ids: { readonly id?: string | undefined; readonly ref_id?: string | undefined } = {},
  ): Entry {
    const known = campaign.find(user)
    if (known) return known
    return campaign.add(user, { id: ids.id ?? this.#ids.next('entry'), ref_id: ids.ref_id ?? this.#ids.next('ref') })
  }

  /** @throws ConfigurationError when the campaign does not exist, or the user has no entry in it */
  requireEntry(caller: string, { pid, account, platform }: EntryOptions): Entry {
    const campaign = this.campaigns.get(pid)
    if (!campaign) throw unknownCampaign(caller, pid)
    const entry = campaign.find(this.users.find(account, platform))
    if (entry) return entry
    const message = `there is no user "${account}" on "${platform}" in "${pid}"`
    throw configurationError(caller, [{ path: ['account'], message }])
  }

  award(award: AwardRecord): void {
    this.usedRewardIds.add(award.id)
    this.awards.push(award)
    this.#changes.awards.push(award)
  }

  recordValue(value: ValueRecord): void {
    this.values.push(value)
    this.#changes.values.push(value)
  }

  /** Records an event, whose message is sent after the request. */
  recordEvent(event: UserEvent): void {
    this.#changes.events.push(event)
  }

  /** Returns everything: entries by campaign, awards and values oldest first. */
  everything(): StateParts {
    const entries = [...this.campaigns.values()].flatMap((campaign) => campaign.entries())
    return { entries, awards: this.awards, values: this.values }
  }

  /** Returns the changes and events since the last call. */
  takeChanges(): StateParts & { readonly events: readonly UserEvent[] } {
    const entries = [...this.campaigns.values()].flatMap((campaign) => campaign.takeChanged())
    const changes = { entries, ...this.#changes }
    this.#changes = noChanges()
    return changes
  }
}

const noChanges = () => ({
  awards: [] as AwardRecord[],
  values: [] as ValueRecord[],
  events: [] as UserEvent[],
})

/** A user's entry in a campaign. */
export interface EntrySnapshot {
  /** Campaign ID. */
  pid: string
  /** Campaign entry ID. */
  id: string
  /** The account under which the user was registered. */
  account: string
  /** Platform of that account. */
  platform: string
  /** All of the user's accounts. */
  profiles: LinkedProfile[]
  /** Connected wallet; empty when none. */
  wallet: string
  /** E-mail address; empty when none. */
  email: string
  /** Display name in the campaign. */
  name: string
  /** Alias; empty when none. */
  alias: string
  /** Team; empty when none. */
  team: string
  /** Total XP from all sources. */
  total: number
  /** XP from tasks and activities, with the multipliers. */
  xp: number
  /** XP from referrals. */
  ref_xp: number
  /** XP from user-generated content. */
  ugc_xp: number
  /** The user's multiplier. */
  xp_mul: number
  /** IDs of completed tasks, quests and challenges, in the order of completion. */
  completed: string[]
  /** Rewards earned. */
  rewards: RewardEntry[]
  /** Account of the referrer; absent without a referrer. */
  referrer?: string
  /** ID of the user's own referral link. */
  ref_id: string
}

/** A copy of the service's state. */
export interface StateSnapshot {
  /** Every user's entry in every campaign: by campaign, then in the order of registration. */
  entries: EntrySnapshot[]
  /** Awards of `rewardWallet`, oldest first. */
  awards: AwardRecord[]
  /** Values of `recordActionValue`, oldest first. A value that was sent twice occurs twice. */
  values: ValueRecord[]
}

/** Returns a copy of the given parts. */
export function takeSnapshot({ entries, awards, values }: StateParts): StateSnapshot {
  return {
    entries: entries.map(describeEntry),
    awards: awards.map((award) => ({ ...award })),
    values: values.map((value) => ({ ...value })),
  }
}

export function describeEntry(entry: Entry): EntrySnapshot {
  const { campaign, user, referrer, ...fields } = entry
  return {
    ...fields,
    pid: campaign.definition.id,
    account: user.account,
    platform: user.platform,
    profiles: user.profiles.map((profile) => ({ ...profile })),
    wallet: user.wallet,
    email: user.email,
    total: totalXp(entry),
    completed: [...entry.completed],
    rewards: copyJson(entry.rewards),
    ...(referrer && { referrer: referrer.user.account }),
  }
}

/** Options of `service.completeTask`. */
export interface CompleteTaskOptions extends EntryOptions {
  /** Task ID. */
  aid: string
}

const completeTaskOptions = strictFields<CompleteTaskOptions>({ ...userFields, aid: identifier })

/** Implements `service.completeTask`. */
export function completeTaskByOptions(given: CompleteTaskOptions, state: ServiceState): EntrySnapshot {
  const options = readBySchema('completeTask', completeTaskOptions, given)
  const { account, aid, pid } = options
  const entry = state.requireEntry('completeTask', options)
  const task = entry.campaign.definition.tasks.get(aid)
  if (!task) throw refusal(`there is no task "${aid}" in "${pid}"`)
  const missing = missingDependencies(task.deps, entry)
  if (missing.length > 0) {
    throw refusal(`the dependencies of "${aid}" are not completed: ${missing.join(', ')}`)
  }
  completeTask(entry, task, account, state)
  return describeEntry(entry)
}

const refusal = (message: string): ConfigurationError =>
  configurationError('completeTask', [{ path: ['aid'], message }])

/** Returns the dependencies that the user has not completed. */
export const missingDependencies = (deps: readonly string[], entry: Entry): string[] =>
  deps.filter((id) => !entry.completed.has(id))

/**
 * Completes a task for a user, adds the referrer's XP, and completes the quests and challenges whose dependencies
 * are then complete. A completed task with `recurrence: 'once'` changes nothing.
 */
export function completeTask(entry: Entry, task: Task, account: string, state: ServiceState): void {
  if (entry.completed.has(task.id) && task.recurrence === 'once') return
  state.recordEvent({ kind: 'action_completed', entry, account, item: task, xp: complete(entry, task) })
  const { referrer, campaign } = entry
  if (referrer) campaign.update(referrer, { ref_xp: finiteXp(referrer.ref_xp + task.ref_xp) })

  const { tasks, quests, challenges } = campaign.definition
  const dependents = [
    ...[...quests.values()].map((item) => ({ item, needed: [...item.deps, ...requiredTasks(item.actions, tasks)] })),
    ...[...challenges.values()].filter(({ deps }) => deps.length > 0).map((item) => ({ item, needed: item.deps })),
  ]
  for (let isDone = false; !isDone; ) {
    isDone = true
    for (const { item, needed } of dependents) {
      if (entry.completed.has(item.id) || missingDependencies(needed, entry).length > 0) continue
      const xp = complete(entry, item)
      const quest = quests.get(item.id)
      if (quest) state.recordEvent({ kind: 'quest_completed', entry, account, item: quest, xp })
      isDone = false
    }
  }
}

/** Completes an item and returns its XP. */
function complete(entry: Entry, item: Task | Quest | Challenge): number {
  const { campaign } = entry
  const xp = earnedXp(item, entry)
  campaign.complete(entry, item.id)
  campaign.update(entry, { xp: finiteXp(entry.xp + xp) })
  return xp
}
