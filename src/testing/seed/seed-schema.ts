import * as z from 'zod/mini'
import type { $ZodType } from 'zod/v4/core'
import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import { recordActionValueRequest } from '../../endpoints/record-action-value.ts'
import { rewardWalletRequest } from '../../endpoints/reward-wallet.ts'
import { finiteNumber, identifier } from '../../schemas/fields.ts'
import { mustBeJson } from '../../shared/option-checks.ts'
import { copyJson } from '../../shared/text.ts'
import { isRecord } from '../../shared/type-checks.ts'
import { readBySchema, strictFields } from '../option-readers.ts'
import type { AwardRecord, ValueRecord } from '../state/service-state.ts'
import { webhookFields } from '../webhooks/webhook-registry.ts'
import type {
  CampaignSeed,
  ChallengeSeed,
  InviteCodeSeed,
  QuestSeed,
  SeasonSeed,
  ServiceSeed,
  TaskSeed,
  UserSeed,
  WebhookSeed,
} from './seed.ts'
import { hasConsistentReferences, isUnique } from './seed-references.ts'

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

/**
 * Returns a copy of a seed, without undefined fields.
 *
 * @throws TypeError when the seed is wrong or inconsistent, with the path of each problem
 */
export const readSeed = (caller: string, seed: ServiceSeed): ServiceSeed =>
  copyJson(readBySchema(caller, serviceSeed, seed))
