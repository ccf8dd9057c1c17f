import * as z from 'zod/mini'
import type { $ZodType } from 'zod/v4/core'
import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import { rewardWalletRequest } from '../../endpoints/reward-wallet.ts'
import { finiteNumber, identifier } from '../../schemas/fields.ts'
import { isJson } from '../../shared/options.ts'
import { copyJson } from '../../shared/text/json.ts'
import { isRecord } from '../../shared/types.ts'
import type {
  CampaignSeed,
  ChallengeSeed,
  InviteCodeSeed,
  QuestSeed,
  SeasonSeed,
  TaskSeed,
  UserSeed,
} from './campaign-seed.ts'
import type { AwardRecord, ValueRecord } from './state.ts'

/** A schema for every name of a seed, so that the compiler asks for those that are added to its type. */
type Fields<Seed> = { readonly [Name in keyof Seed]-?: $ZodType<Seed[Name]> }

/** A misspelt name is refused, since it would leave a default in the place of what was written. */
const only = <Seed>(fields: Fields<Seed>) =>
  z.strictObject(fields, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `is not an option; there are ${Object.keys(fields).join(', ')}` : undefined,
  })

const { address: walletAddress } = rewardWalletRequest.shape
const isJsonObject = (value: unknown): boolean => isRecord(value) && isJson(value) === undefined
/** Whatever its owner put there: a copy of it, since what is in it has no schema that would make one. */
const jsonObject = <Value>(): z.ZodMiniType<Value, Value> =>
  z.pipe(z.custom<Value>(isJsonObject, 'expected an object that JSON can hold'), z.transform(copyJson<Value>))
const text = z.optional(z.string())
const number = z.optional(finiteNumber)
const identifiers = z.optional(z.array(identifier))
const metadata = z.optional(jsonObject<Record<string, unknown>>())

const task = only<TaskSeed>({
  id: identifier,
  name: text,
  type: text,
  recurrence: text,
  ref_xp: number,
  xp: number,
  xp_mul: number,
  meta: metadata,
  deps: identifiers,
  is_optional: z.optional(z.boolean()),
})

const quest = only<QuestSeed>({
  id: identifier,
  name: text,
  actions: z.array(identifier).check(z.minLength(1, 'must list at least one task ID')),
  xp: number,
  xp_mul: number,
  meta: metadata,
  deps: identifiers,
})

const challenge = only<ChallengeSeed>({
  id: identifier,
  name: text,
  xp: number,
  xp_mul: number,
  meta: metadata,
  deps: identifiers,
})

const season = only<SeasonSeed>({ name: z.string(), max_xp: finiteNumber })

const profile = only<LinkedProfile>({ account: identifier, platform: identifier })

const reward: $ZodType<RewardEntry> = z.pipe(
  z.looseObject({ id: identifier, reward: z.string(), type: z.string() }),
  jsonObject<RewardEntry & Record<string, unknown>>(),
)

const user = only<UserSeed>({
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

const inviteCode = only<InviteCodeSeed>({ code: identifier, used_by: identifiers })

/** The shape of the campaigns to start with. What they refer to is looked at by `seed-references.ts`. */
export const campaignSeeds = z.array(
  only<CampaignSeed>({
    id: identifier,
    name: text,
    organization: z.optional(identifier),
    registration: z.optional(z.enum(['open', 'closed'], "must be 'open' or 'closed'")),
    actions: z.optional(z.array(task)),
    quests: z.optional(z.array(quest)),
    challenges: z.optional(z.array(challenge)),
    seasons: z.optional(z.array(season).check(z.minLength(1, 'must not be empty; leave it out for one season'))),
    users: z.optional(z.array(user)),
    invite_codes: z.optional(z.array(inviteCode)),
  }),
)

export const awardRecords = z.array(
  only<AwardRecord>({ id: identifier, pid: identifier, address: walletAddress, xp: finiteNumber, at: finiteNumber }),
)

export const valueRecords = z.array(
  only<ValueRecord>({
    account: identifier,
    platform: identifier,
    pid: identifier,
    cid: identifier,
    aid: identifier,
    value: finiteNumber,
    at: finiteNumber,
  }),
)
