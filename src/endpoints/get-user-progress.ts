import * as z from 'zod/mini'
import { type Metadata, metadata, type OpenString, openString, user } from '../schemas/fields.ts'
import { endpoint } from './endpoint.ts'

/** The arguments of `getUserProgress`. See "GET /user/progress" in docs/the-service.md. */
export interface GetUserProgressRequest {
  /** Account identifier of the user. */
  account: string
  /** Platform where the account exists. */
  platform: string
  /** Campaign ID. */
  pid: string
}

/** Schema of {@link GetUserProgressRequest}. */
export const getUserProgressRequest = z.object(user)

/** Whether the user has completed a task, quest or challenge. Any other string is accepted, too. */
export type CompletionStatus = OpenString<'none' | 'completed'>

/**
 * A task of the campaign with the user's status.
 * See "User progress" in docs/the-service.md.
 */
export type TaskEntry = {
  /** Task ID: the `aid` of `recordActionValue`. */
  id: string
  /** Display name of the task. */
  name: string
  /** Base reward in XP, before the multiplier. */
  xp: number
  /** Multiplier applied to `xp`; 1 changes nothing. */
  xp_mul: number
  /** Metadata of the task. */
  meta?: Metadata | null | undefined
  /** `'none'` until the user has completed the task. */
  status: CompletionStatus
}

/**
 * A quest (a group of tasks) with the user's status.
 * See "User progress" in docs/the-service.md.
 */
export type QuestEntry = {
  /** Quest ID: the `cid` of `recordActionValue`. */
  id: string
  /** Display name of the quest. */
  name: string
  /** Base reward in XP, before the multiplier. */
  xp: number
  /** Multiplier applied to `xp`; 1 changes nothing. */
  xp_mul: number
  /** Metadata of the quest. */
  meta?: Metadata | null | undefined
  /** `'none'` until the user has completed the quest. */
  status: CompletionStatus
  /** IDs of the tasks that make up the quest. */
  actions: string[]
}

/** A challenge with the user's status. See "User progress" in docs/the-service.md. */
export type ChallengeEntry = {
  /** Challenge ID. */
  id: string
  /** Display name of the challenge. */
  name: string
  /** Base reward in XP, before the multiplier. */
  xp: number
  /** Multiplier applied to `xp`; 1 changes nothing. */
  xp_mul: number
  /** Metadata of the challenge. */
  meta?: Metadata | null | undefined
  /** `'none'` until the user has completed the challenge. */
  status: CompletionStatus
}

/** A reward the user has earned. See "User progress" in docs/the-service.md. */
export type RewardEntry = {
  /** Reward ID. */
  id: string
  /** Identifier or value of the reward. */
  reward: string
  /** Type of the reward. The API description lists no values. */
  type: string
}

/** A user's progress in one campaign. See "User progress" in docs/the-service.md. */
export type UserProgress = {
  /** ID of the user's entry in the campaign. */
  id: string
  /** The user's account identifier, equal to the `account` of the request. */
  user_id: string
  /** The user's display name in the campaign. */
  name: string
  /** All tasks of the campaign with the user's status. */
  actions: TaskEntry[]
  /** All quests of the campaign with the user's status. */
  quests: QuestEntry[]
  /** All challenges of the campaign with the user's status. */
  challenges: ChallengeEntry[]
  /** The rewards the user has earned. */
  rewards: RewardEntry[]
  /** Total XP from all sources. */
  total: number
  /** Base XP from tasks and activities. */
  xp: number
  /** XP from referrals. */
  ref_xp: number
  /** XP from user-generated content. */
  ugc_xp: number
  /** The user's XP multiplier; 1 changes nothing. */
  xp_mul: number
  /** The user's rank in the campaign. */
  rank: number
  /** The user's team. Empty without a team. */
  team: string
}

const entry = {
  id: z.string(),
  name: z.string(),
  xp: z.number(),
  xp_mul: z.number(),
  meta: metadata,
  status: openString<CompletionStatus>(),
}

/** Schema of {@link TaskEntry}. Unknown fields are kept. */
export const taskEntry = z.looseObject(entry)

/** Schema of {@link QuestEntry}. Unknown fields are kept. */
export const questEntry = z.looseObject({ ...entry, actions: z.array(z.string()) })

/** Schema of {@link ChallengeEntry}. Unknown fields are kept. */
export const challengeEntry = z.looseObject(entry)

/** Schema of {@link RewardEntry}. Unknown fields are kept. */
export const rewardEntry = z.looseObject({ id: z.string(), reward: z.string(), type: z.string() })

/** Schema of {@link UserProgress}. Unknown fields are kept. */
export const userProgress = z.looseObject({
  id: z.string(),
  user_id: z.string(),
  name: z.string(),
  actions: z.array(taskEntry),
  quests: z.array(questEntry),
  challenges: z.array(challengeEntry),
  rewards: z.array(rewardEntry),
  total: z.number(),
  xp: z.number(),
  ref_xp: z.number(),
  ugc_xp: z.number(),
  xp_mul: z.number(),
  rank: z.number(),
  team: z.string(),
})

export default endpoint<GetUserProgressRequest, UserProgress>({
  method: 'GET',
  path: 'user/progress',
  request: getUserProgressRequest,
  response: userProgress,
  retry: 'safe',
})
