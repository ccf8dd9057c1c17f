/** A task, quest or challenge that the earlier reading did not show as completed, and the later one does. */
export interface CompletionChange {
  kind: 'task_completed' | 'quest_completed' | 'challenge_completed'
  /** ID of the task, quest or challenge. Together with `kind` it is the same in whatever reading shows the completion. */
  id: string
  /** Display name. */
  name: string
  /** Base reward in XP, before the multipliers. What was in fact booked, a reading does not say. */
  xp: number
  /** The item's own multiplier; 1 changes nothing. */
  xp_mul: number
}

/** A reward with an ID that the earlier reading did not hold. */
export interface RewardChange {
  kind: 'reward_earned'
  /** Reward ID. It is the same in whatever reading shows the reward. */
  id: string
  /** Identifier or value of the reward. */
  reward: string
  /** Type of the reward. The interface names no values. */
  type: string
}

/** The XP of a reading, by where they come from. */
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

/** At least one of the four figures differs. They may have fallen. */
export interface XpChange {
  kind: 'xp_changed'
  before: XpFigures
  after: XpFigures
}

/** The user has another rank in the campaign. Others may have caused it. */
export interface RankChange {
  kind: 'rank_changed'
  before: number
  after: number
}

/** The user has another team; the empty string is none. */
export interface TeamChange {
  kind: 'team_changed'
  before: string
  after: string
}

/** What is new between two readings of a user's progress: what `progressChanges` gives. `kind` tells them apart. */
export type ProgressChange = CompletionChange | RewardChange | XpChange | RankChange | TeamChange
