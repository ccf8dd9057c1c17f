import * as z from 'zod/mini'
import type { $ZodType } from 'zod/v4/core'
import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import { recordActionValueRequest } from '../../endpoints/record-action-value.ts'
import { rewardWalletRequest } from '../../endpoints/reward-wallet.ts'
import { mustBeJson } from '../../errors/option-checks.ts'
import { finiteNumber, identifier } from '../../schemas/fields.ts'
import { copyJson } from '../../shared/text.ts'
import { isRecord } from '../../shared/type-checks.ts'
import { readBySchema, strictFields } from '../option-readers.ts'
import { requiredTasks } from '../state/campaign.ts'
import { webhookFields } from '../webhooks/webhook-registry.ts'
import type {
  AwardRecord,
  CampaignSeed,
  ChallengeSeed,
  InviteCodeSeed,
  QuestSeed,
  SeasonSeed,
  ServiceSeed,
  TaskSeed,
  UserSeed,
  ValueRecord,
  WebhookSeed,
} from './seed.ts'

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
const jsonObject = z.custom<Record<string, unknown>>(
  (value) => isRecord(value) && mustBeJson(value) === undefined,
  'expected an object that JSON can represent',
)
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
