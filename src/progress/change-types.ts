/** A task, quest or challenge that is completed in the later reading but not in the earlier reading. */
export interface CompletionChange {
  kind: 'task_completed' | 'quest_completed' | 'challenge_completed'
  /** ID of the task, quest or challenge. `kind` and `id` are the same in every reading that shows the completion. */
  id: string
  /** Display name. */
  name: string
  /** Base reward in XP, before the multipliers. A reading does not show how much XP the user received. */
  xp: number
  /** Multiplier of the task, quest or challenge; 1 changes nothing. */
  xp_mul: number
}

/** A reward whose ID is not in the earlier reading. */
export interface RewardChange {
  kind: 'reward_earned'
  /** Reward ID. It is the same in every reading that shows the reward. */
  id: string
  /** Identifier or value of the reward. */
  reward: string
  /** Type of the reward. The interface lists no values. */
  type: string
}

/** The XP of a reading, by source. */
export interface XpFigures {
  /** Total XP from all sources. */
  total: number
  /** Base XP from tasks and activities. */
  xp: number
  /** XP from referrals. */
  ref_xp: number
  /** XP from user-generated content. */
  ugc_xp: number
}

/** At least one of the four XP numbers changed. A number can be lower than before. */
export interface XpChange {
  kind: 'xp_changed'
  before: XpFigures
  after: XpFigures
}

/** The user's rank in the campaign changed. The XP of other users can also change a rank. */
export interface RankChange {
  kind: 'rank_changed'
  before: number
  after: number
}

/** The user's team changed. An empty string means no team. */
export interface TeamChange {
  kind: 'team_changed'
  before: string
  after: string
}

/** A change between two readings of a user's progress. `kind` distinguishes the types. */
export type ProgressChange = CompletionChange | RewardChange | XpChange | RankChange | TeamChange
