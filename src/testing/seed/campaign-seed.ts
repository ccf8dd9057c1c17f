import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import type { RewardEntry } from '../../endpoints/get-user-progress.ts'

/** A task of a campaign to start with. Everything but `id` has a default. */
export interface TaskSeed {
  /** Task ID. Unique among the campaign's tasks, quests and challenges. */
  id: string
  /** Display name. Default: the ID. */
  name?: string | undefined
  /** Type of the task. Default: `'custom'` (assumed: the interface shows no values). */
  type?: string | undefined
  /**
   * `'once'`: XP for the first recording alone. Any other string: XP for every recording. Default: `'once'`
   * (assumed: the interface shows no values).
   */
  recurrence?: string | undefined
  /** XP the referrer of the user gets when the task is completed. Default: 0. */
  ref_xp?: number | undefined
  /** Base reward in XP. Default: 0. */
  xp?: number | undefined
  /** Multiplier of `xp`. Default: 1. */
  xp_mul?: number | undefined
  /** Metadata. Default: none. */
  meta?: Record<string, unknown> | undefined
  /** IDs of the tasks, quests and challenges to complete first. Default: none. */
  deps?: readonly string[] | undefined
  /** Whether a quest completes without it. Default: false. */
  is_optional?: boolean | undefined
}

/** A quest of a campaign to start with: done when all its tasks, optional ones aside, are. */
export interface QuestSeed {
  /** Quest ID. Unique among the campaign's tasks, quests and challenges. */
  id: string
  /** Display name. Default: the ID. */
  name?: string | undefined
  /** IDs of the tasks that make up the quest: at least one. */
  actions: readonly string[]
  /** Base reward in XP. Default: 0. */
  xp?: number | undefined
  /** Multiplier of `xp`. Default: 1. */
  xp_mul?: number | undefined
  /** Metadata. Default: none. */
  meta?: Record<string, unknown> | undefined
  /** IDs of the tasks, quests and challenges to complete before the quest's tasks are taken. Default: none. */
  deps?: readonly string[] | undefined
}

/** A challenge of a campaign to start with: done as soon as all of its `deps` are (assumed). */
export interface ChallengeSeed {
  /** Challenge ID. Unique among the campaign's tasks, quests and challenges. */
  id: string
  /** Display name. Default: the ID. */
  name?: string | undefined
  /** Base reward in XP. Default: 0. */
  xp?: number | undefined
  /** Multiplier of `xp`. Default: 1. */
  xp_mul?: number | undefined
  /** Metadata. Default: none. */
  meta?: Record<string, unknown> | undefined
  /** IDs of the tasks, quests and challenges that complete it. Without any it is never completed. Default: none. */
  deps?: readonly string[] | undefined
}

/** A season of a campaign to start with. */
export interface SeasonSeed {
  /** Display name. */
  name: string
  /** The campaign's total XP at which the season ends, counted from the campaign's beginning (assumed). */
  max_xp: number
}

/** A user with an entry in the campaign, to start with. */
export interface UserSeed {
  /** ID of the entry in the campaign. Default: one made up. */
  id?: string | undefined
  /** Account identifier. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Further accounts of the same person. Default: none. */
  profiles?: readonly LinkedProfile[] | undefined
  /** Connected wallet: `0x` and 40 hex digits. `rewardWallet` to it rewards this user. Default: none. */
  wallet?: string | undefined
  /** E-mail address, as webhook messages show it. Default: none. */
  email?: string | undefined
  /** Display name in the campaign. Default: the account. */
  name?: string | undefined
  /** Alias. Default: none. */
  alias?: string | undefined
  /** Team. Default: none, which reads as the empty string. */
  team?: string | undefined
  /** XP from tasks and activities. It is not raised by `completed`. Default: 0. */
  xp?: number | undefined
  /** XP from referrals. Default: 0. */
  ref_xp?: number | undefined
  /** XP from user-generated content. Default: 0. */
  ugc_xp?: number | undefined
  /** Multiplier of what tasks, quests and challenges give the user. Default: 1. */
  xp_mul?: number | undefined
  /** IDs of the tasks, quests and challenges already completed. Default: none. */
  completed?: readonly string[] | undefined
  /** Rewards already earned. Their IDs count as used. Default: none. */
  rewards?: readonly RewardEntry[] | undefined
  /**
   * The user of the campaign who referred this one: an account on the same platform, or one with its platform.
   * Default: none.
   */
  referrer?: string | LinkedProfile | undefined
  /** ID of the user's own referral link. Default: one made up. */
  ref_id?: string | undefined
}

/** An invite code of a campaign to start with. */
export interface InviteCodeSeed {
  /** The code. */
  code: string
  /** Accounts that used it. Default: none. */
  used_by?: readonly string[] | undefined
}

/** A campaign to start with. Wire field names, as in the answers. Only `id` is needed. */
export interface CampaignSeed {
  /** Campaign ID: the `pid` of every call. */
  id: string
  /** Display name. Default: the ID. */
  name?: string | undefined
  /** The organization it belongs to; see the `tokens` option. Default: `'demo'`. */
  organization?: string | undefined
  /**
   * Whether unknown users are registered by the writes that say so. `'closed'` refuses them instead, which is how to
   * see `missing_user`. Default: `'open'`. The interface knows no such switch.
   */
  registration?: 'open' | 'closed' | undefined
  /** Tasks. Default: none. */
  actions?: readonly TaskSeed[] | undefined
  /** Quests. Default: none. */
  quests?: readonly QuestSeed[] | undefined
  /** Challenges. Default: none. */
  challenges?: readonly ChallengeSeed[] | undefined
  /** Seasons, with rising `max_xp`. Default: one that ends at 1 000 000. */
  seasons?: readonly SeasonSeed[] | undefined
  /** Users. Default: none. */
  users?: readonly UserSeed[] | undefined
  /** Invite codes. Default: none. */
  invite_codes?: readonly InviteCodeSeed[] | undefined
}
