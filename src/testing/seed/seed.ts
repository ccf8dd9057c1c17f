import * as z from 'zod/mini'
import type { $ZodType } from 'zod/v4/core'
import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import { type RecordActionValueRequest, recordActionValueRequest } from '../../endpoints/record-action-value.ts'
import { type RewardWalletRequest, rewardWalletRequest } from '../../endpoints/reward-wallet.ts'
import { mustBeJson } from '../../errors/option-checks.ts'
import { finiteNumber, identifier } from '../../schemas/fields.ts'
import { copyJson } from '../../shared/text.ts'
import { jsonObject, readBySchema, strictFields } from '../option-readers.ts'
import { type WebhookOptions, webhookFields } from '../webhooks/webhook-registry.ts'

/** An award made by `rewardWallet`. */
export interface AwardRecord extends RewardWalletRequest {
  /** Time of the request, in milliseconds since the epoch, by the service's clock. */
  at: number
}

/** A value recorded by `recordActionValue`. */
export interface ValueRecord extends RecordActionValueRequest {
  /** Time of the request, in milliseconds since the epoch, by the service's clock. */
  at: number
}

/** A webhook of a seed. */
export interface WebhookSeed extends WebhookOptions {
  /**
   * Whether the webhook has a secret that was not exported. When `reset(seed)` loads it, the webhook gets the secret of the
   * running service's webhook with the same `hook_id`; `reset()` removes secrets that were set later. Without a secret, the
   * webhook has `secretMissing: true` and sends unsigned messages until `registerWebhook` sets the secret.
   */
  signed?: boolean | undefined
}

/**
 * The content of a service, as plain JSON. `service.exportSeed` returns it; `createCampaignService` and `service.reset`
 * load it.
 */
export interface ServiceSeed {
  /** Campaigns with their users and progress. @defaultValue `[demoCampaign]` */
  campaigns?: readonly CampaignSeed[] | undefined
  /** Webhooks. @defaultValue none */
  webhooks?: readonly WebhookSeed[] | undefined
  /** Earlier awards of `rewardWallet`. Their IDs count as used; they add no XP. @defaultValue none */
  awards?: readonly AwardRecord[] | undefined
  /** Earlier values of `recordActionValue`. They complete no task. @defaultValue none */
  values?: readonly ValueRecord[] | undefined
}

/** The common fields of tasks, quests and challenges. */
interface ItemSeed {
  /** ID, unique among the campaign's tasks, quests and challenges. */
  id: string
  /** Display name. @defaultValue the ID */
  name?: string | undefined
  /** Base reward in XP. @defaultValue 0 */
  xp?: number | undefined
  /** Multiplier of `xp`. @defaultValue 1 */
  xp_mul?: number | undefined
  /** Metadata. @defaultValue none */
  meta?: Record<string, unknown> | undefined
  /**
   * IDs of tasks, quests and challenges that must be completed first. A challenge is completed together with its last
   * dependency (assumed). A challenge without dependencies is never completed.
   *
   * @defaultValue none
   */
  deps?: readonly string[] | undefined
}

/** A task of a campaign seed. */
export interface TaskSeed extends ItemSeed {
  /** Type of the task (assumed: the API description shows no values). @defaultValue `'custom'` */
  type?: string | undefined
  /**
   * `'once'`: only the first completion gives XP. Any other string: every completion gives XP. Assumed: the API
   * description shows no values.
   *
   * @defaultValue `'once'`
   */
  recurrence?: string | undefined
  /** XP that the user's referrer gets when the task is completed (assumed). @defaultValue 0 */
  ref_xp?: number | undefined
  /** Whether a quest can be completed without the task, unless all its tasks are optional. @defaultValue false */
  is_optional?: boolean | undefined
}

/** A quest of a campaign seed. It is completed when its `deps` and its required tasks are completed. */
export interface QuestSeed extends ItemSeed {
  /** IDs of the tasks that make up the quest: at least one. */
  actions: readonly string[]
}

/** A challenge of a campaign seed. */
export interface ChallengeSeed extends ItemSeed {}

/** A season of a campaign seed. */
export interface SeasonSeed {
  /** Display name. */
  name: string
  /** The campaign's total XP at which the season ends, all earlier seasons included (assumed). */
  max_xp: number
}

/** A user with an entry in the campaign. */
export interface UserSeed {
  /** ID of the entry in the campaign. @defaultValue a generated ID */
  id?: string | undefined
  /** Account identifier. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Further accounts of the same person. @defaultValue none */
  profiles?: readonly LinkedProfile[] | undefined
  /** Connected wallet: `0x` and 40 hex digits. `rewardWallet` with this address gives XP to the user. @defaultValue none */
  wallet?: string | undefined
  /** E-mail address in webhook messages. @defaultValue none */
  email?: string | undefined
  /** Display name in the campaign. @defaultValue the account */
  name?: string | undefined
  /** Alias. @defaultValue none */
  alias?: string | undefined
  /** Team. @defaultValue the empty string */
  team?: string | undefined
  /** XP from tasks and activities. `completed` adds no XP. @defaultValue 0 */
  xp?: number | undefined
  /** XP from referrals. @defaultValue 0 */
  ref_xp?: number | undefined
  /** XP from user-generated content. @defaultValue 0 */
  ugc_xp?: number | undefined
  /** Multiplier of the XP that tasks, quests and challenges give the user. @defaultValue 1 */
  xp_mul?: number | undefined
  /** IDs of the tasks, quests and challenges already completed. @defaultValue none */
  completed?: readonly string[] | undefined
  /** Rewards already earned. Their IDs count as used. @defaultValue none */
  rewards?: readonly RewardEntry[] | undefined
  /**
   * The user of the campaign who referred this user: an account on the same platform, or an account and its platform.
   *
   * @defaultValue none
   */
  referrer?: string | LinkedProfile | undefined
  /** ID of the user's own referral link. @defaultValue a generated ID */
  ref_id?: string | undefined
}

/** An invite code of a campaign seed. */
export interface InviteCodeSeed {
  /** The code. */
  code: string
  /** Accounts that used the code. @defaultValue none */
  used_by?: readonly string[] | undefined
}

/** A campaign with its users. The fields have the names of the service's responses. */
export interface CampaignSeed {
  /** Campaign ID: the `pid` of every call. */
  id: string
  /** Display name. @defaultValue the ID */
  name?: string | undefined
  /** The organization of the campaign; see the `tokens` option. @defaultValue `'demo'` */
  organization?: string | undefined
  /**
   * Whether writes register unknown users (`'open'`) or refuse them (`'closed'`), for example with `missing_user`.
   * Assumed: the API description shows no such setting.
   *
   * @defaultValue `'open'`
   */
  registration?: 'open' | 'closed' | undefined
  /** Tasks. @defaultValue none */
  actions?: readonly TaskSeed[] | undefined
  /** Quests. @defaultValue none */
  quests?: readonly QuestSeed[] | undefined
  /** Challenges. @defaultValue none */
  challenges?: readonly ChallengeSeed[] | undefined
  /** Seasons, in order of `max_xp`. @defaultValue one season that ends at 1 000 000 */
  seasons?: readonly SeasonSeed[] | undefined
  /** Users. @defaultValue none */
  users?: readonly UserSeed[] | undefined
  /** Invite codes. @defaultValue none */
  invite_codes?: readonly InviteCodeSeed[] | undefined
}

type Path = readonly (string | number)[]
type Report = (path: Path, message: string) => void

/** A schema check that reports the problems that a function finds. */
const checkThat = <Value>(findProblems: (value: Value, report: Report) => void) =>
  z.check<Value>(({ value, issues }) => {
    findProblems(value, (path, message) => issues.push({ code: 'custom', path: [...path], message, input: value }))
  })

/** Refuses two members of a list with the same value in a field. */
const isUnique = <Member>(field: keyof Member & string) =>
  checkThat((members: readonly Member[], report) => {
    const seen = new Set<unknown>()
    for (const [index, member] of members.entries()) {
      if (member[field] !== undefined && seen.has(member[field])) report([index, field], 'is a duplicate')
      seen.add(member[field])
    }
  })

/** Refuses unknown IDs, duplicate IDs, seasons out of order, and dependency cycles. */
const hasConsistentReferences = checkThat((campaign: CampaignSeed, report) => {
  const { actions = [], quests = [], challenges = [], users = [], seasons = [] } = campaign
  const lists: Readonly<Record<string, readonly (TaskSeed | QuestSeed | ChallengeSeed)[]>> = {
    actions,
    quests,
    challenges,
  }
  const items = Object.entries(lists).flatMap(([kind, seeds]) =>
    seeds.map((seed, index) => ({ ...seed, path: [kind, index] })),
  )
  let isConsistent = true
  const refuse: Report = (path, message) => {
    isConsistent = false
    report(path, message)
  }

  const ids = new Set<string>()
  for (const { id, path } of items) {
    if (ids.has(id)) refuse([...path, 'id'], 'is the ID of more than one task, quest or challenge')
    ids.add(id)
  }
  const tasks = new Map(actions.map((task) => [task.id, task]))
  const references = [
    ...items.map(({ deps, path }) => ({ path: [...path, 'deps'], listed: deps, known: ids })),
    ...quests.map((quest, index) => ({ path: ['quests', index, 'actions'], listed: quest.actions, known: tasks })),
    ...users.map(({ completed }, index) => ({ path: ['users', index, 'completed'], listed: completed, known: ids })),
  ]
  for (const { path, listed = [], known } of references) {
    for (const [index, id] of listed.entries()) {
      if (!known.has(id)) refuse([...path, index], `refers to "${id}", which does not exist`)
    }
  }
  let previous = 0
  for (const [index, { max_xp }] of seasons.entries()) {
    if (max_xp <= previous) refuse(['seasons', index, 'max_xp'], 'must be greater than 0 and than the previous max_xp')
    previous = max_xp
  }
  if (!isConsistent) return

  const needs = items.map((item): [string, string[]] => {
    const required = 'actions' in item ? requiredTasks(item.actions, tasks) : []
    return [item.id, [...(item.deps ?? []), ...required]]
  })
  const cycle = findCycle(needs)
  if (cycle) report([], `has a dependency cycle: ${cycle.join(' → ')}`)
})

/** Returns the tasks that a quest requires: those that are not optional, or all tasks if every task is optional. */
export function requiredTasks(
  actions: readonly string[],
  tasks: ReadonlyMap<string, Pick<TaskSeed, 'is_optional'>>,
): readonly string[] {
  const required = actions.filter((id) => !tasks.get(id)?.is_optional)
  return required.length > 0 ? required : actions
}

/** Searches depth-first, without recursion: a chain of 20 000 dependencies would overflow the stack. */
function findCycle(needs: readonly (readonly [id: string, needed: string[]])[]): string[] | undefined {
  const remaining = new Map(needs)
  const onPath = new Set<string>()
  for (const [start] of needs) {
    const path = [start]
    for (let id = path.at(-1); id !== undefined; id = path.at(-1)) {
      onPath.add(id)
      const next = remaining.get(id)?.pop()
      if (next === undefined) {
        onPath.delete(id)
        path.pop()
      } else if (onPath.has(next)) {
        return [...path.slice(path.indexOf(next)), next]
      } else {
        path.push(next)
      }
    }
  }
  return undefined
}

const { address: walletAddress } = rewardWalletRequest.shape
const text = z.optional(z.string())
const number = z.optional(finiteNumber)
const identifiers = z.optional(z.array(identifier))

const item = {
  id: identifier,
  name: text,
  xp: number,
  xp_mul: number,
  meta: z.optional(jsonObject),
  deps: identifiers,
}

const task = strictFields<TaskSeed>({
  ...item,
  type: text,
  recurrence: text,
  ref_xp: number,
  is_optional: z.optional(z.boolean()),
})

const quest = strictFields<QuestSeed>({
  ...item,
  actions: z.array(identifier).check(z.minLength(1, 'must list at least one task ID')),
})

const season = strictFields<SeasonSeed>({ name: z.string(), max_xp: finiteNumber })

const profile = strictFields<LinkedProfile>({ account: identifier, platform: identifier })

const reward: $ZodType<RewardEntry> = z
  .looseObject({ id: identifier, reward: z.string(), type: z.string() })
  .check(z.refine((value) => mustBeJson(value) === undefined, 'expected an object that JSON can represent'))

const user = strictFields<UserSeed>({
  id: z.optional(identifier),
  account: identifier,
  platform: identifier,
  profiles: z.optional(z.array(profile)),
  wallet: z.optional(walletAddress),
  email: text,
  name: text,
  alias: text,
  team: text,
  xp: number,
  ref_xp: number,
  ugc_xp: number,
  xp_mul: number,
  completed: identifiers,
  rewards: z.optional(z.array(reward)),
  referrer: z.optional(z.union([identifier, profile])),
  ref_id: z.optional(identifier),
})

const campaign = strictFields<CampaignSeed>({
  id: identifier,
  name: text,
  organization: z.optional(identifier),
  registration: z.optional(z.enum(['open', 'closed'], "must be 'open' or 'closed'")),
  actions: z.optional(z.array(task)),
  quests: z.optional(z.array(quest)),
  challenges: z.optional(z.array(strictFields<ChallengeSeed>(item))),
  seasons: z.optional(z.array(season).check(z.minLength(1, 'must not be empty; omit it for one season'))),
  users: z.optional(z.array(user)),
  invite_codes: z.optional(
    z.array(strictFields<InviteCodeSeed>({ code: identifier, used_by: identifiers })).check(isUnique('code')),
  ),
}).check(hasConsistentReferences)

const webhook = strictFields<WebhookSeed>({ ...webhookFields, signed: z.optional(z.boolean()) })

const award = strictFields<AwardRecord>({ ...rewardWalletRequest.shape, at: finiteNumber })
const value = strictFields<ValueRecord>({ ...recordActionValueRequest.shape, at: finiteNumber })

export const serviceSeed = strictFields<ServiceSeed>({
  campaigns: z.optional(z.array(campaign).check(isUnique('id'))),
  webhooks: z.optional(z.array(webhook).check(isUnique('hook_id'))),
  awards: z.optional(z.array(award).check(isUnique('id'))),
  values: z.optional(z.array(value)),
})

/** Returns a copy of a seed, without undefined fields. */
export const readSeed = (caller: string, seed: ServiceSeed): ServiceSeed =>
  copyJson(readBySchema(caller, serviceSeed, seed))
