/** The campaign of a message. */
export type EventCampaign = {
  /** Campaign ID. */
  id: string
  /** Display name of the campaign. */
  name: string
}

/** The task of a message. Interface: [Message](/the-service#message). */
export type EventAction = {
  /** Task ID. */
  id: string
  /** Display name of the task. */
  name: string
  /** Type of the task. The interface does not list its values. */
  type: string
  /** Metadata of the task. The interface shows it only in the admin panel's test message. */
  meta?: Record<string, unknown> | null
}

/** The `event` of a message about a completed task. */
export type ActionCompletedActivity = {
  /** Type of the event. */
  type: 'action_completed'
  /** The task and its XP. */
  data: {
    /** The task. */
    action: EventAction
    /** The associated account. The interface shows it only in the admin panel's test message. */
    account?: string
    /** XP awarded for the event. */
    xp: number
  }
}

/**
 * The `event` of a message about a completed quest. The interface does not show its `data`. Assumed: `data` has the fields
 * of a completed task. Every field is optional, and additional fields are allowed.
 */
export type QuestCompletedActivity = {
  /** Type of the event. */
  type: 'quest_completed'
  /** Details of the quest. */
  data: {
    /** The completed task. */
    action?: EventAction
    /** The associated account. */
    account?: string
    /** XP awarded for the event. */
    xp?: number
    [field: string]: unknown
  }
}

/**
 * The payload of a `user_activity` message. Fields that the interface does not list are kept, without types.
 *
 * Interface: [Message](/the-service#message).
 */
export type UserActivity<
  Activity extends ActionCompletedActivity | QuestCompletedActivity = ActionCompletedActivity | QuestCompletedActivity,
> = {
  /** Unique ID of this message. */
  id: string
  /** Kind of event that triggered the message. */
  scope: 'user_activity'
  /** ID of the user who acted. */
  user: string
  /** ID of the user. The interface shows it only in the admin panel's test message. */
  user_id?: string
  /** Connected wallet address; empty without a wallet. */
  wallet: string
  /** E-mail address of the user; empty without an address. */
  email: string
  campaign: EventCampaign
  event: Activity
  /** Total XP of the user. */
  total_xp: number
  /** XP from referrals. */
  ref_xp: number
  /** XP from user-generated content. */
  ugc_xp: number
  /** XP multiplier. */
  xp_mul: number
  /** Rank of the user on the leaderboard of the campaign. */
  rank: number
  /** Team of the user. Assumed: absent or empty without a team (the interface says "if any"). */
  team?: string
}

/** A user completed a task. */
export interface ActionCompletedEvent {
  kind: 'action_completed'
  /** Unique ID of this message: the same in each delivery attempt and at each endpoint of the webhook. */
  id: string
  scope: 'user_activity'
  type: 'action_completed'
  payload: UserActivity<ActionCompletedActivity>
}

/** A user completed a quest. */
export interface QuestCompletedEvent {
  kind: 'quest_completed'
  /** Unique ID of this message: the same in each delivery attempt and at each endpoint of the webhook. */
  id: string
  scope: 'user_activity'
  type: 'quest_completed'
  payload: UserActivity<QuestCompletedActivity>
}

/**
 * A message whose scope or type is not documented (login, reward and referral hooks), or whose fields differ from the
 * documented fields. Its signature is verified too.
 */
export interface UnknownEvent {
  kind: 'unknown'
  /** Unique ID of this message: the same in each delivery attempt and at each endpoint of the webhook. */
  id: string
  /** `scope` of the message, if that is a string. */
  scope?: string
  /** `event.type` of the message, if that is a string. */
  type?: string
  /** The whole message. Its fields are not checked. */
  payload: Record<string, unknown>
}

/**
 * A verified message. This package adds `kind`: `switch (event.kind)` narrows `payload`. A message of a future type has the
 * kind `unknown`.
 *
 * Interface: [Message](/the-service#message).
 */
export type WebhookEvent = ActionCompletedEvent | QuestCompletedEvent | UnknownEvent
