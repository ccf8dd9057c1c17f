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
  /** Metadata of the task. Shown in the admin panel's test message only. */
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
    /** The associated account. Shown in the admin panel's test message only. */
    account?: string
    /** XP awarded for the event. */
    xp: number
  }
}

/**
 * The `event` of a message about a completed quest. The interface shows no `data` for it, so every field is optional
 * (assumed: the fields of a completed task), and any other field is allowed.
 */
export type QuestCompletedActivity = {
  /** Type of the event. */
  type: 'quest_completed'
  /** Details of the quest, where the message has them. */
  data: {
    /** The completed action. */
    action?: EventAction
    /** The associated account. */
    account?: string
    /** XP awarded for the event. */
    xp?: number
    [field: string]: unknown
  }
}

/**
 * The payload of a `user_activity` message.
 * Interface: [Message](/the-service#message). Fields the interface does not list are
 * kept in the object, untyped.
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
  /** ID of the user. Shown in the admin panel's test message only. */
  user_id?: string
  /** Connected wallet address; empty when there is none. */
  wallet: string
  /** E-mail address of the user; empty when there is none. */
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
  /** Team of the user. Absent or empty when there is none (assumed: the interface says "if any"). */
  team?: string
}

/** A user completed a task. */
export interface ActionCompletedEvent {
  kind: 'action_completed'
  /** Unique ID of this message: the same in every attempt to deliver it, and at every endpoint of the webhook. */
  id: string
  scope: 'user_activity'
  type: 'action_completed'
  payload: UserActivity<ActionCompletedActivity>
}

/** A user completed a quest. */
export interface QuestCompletedEvent {
  kind: 'quest_completed'
  /** Unique ID of this message: the same in every attempt to deliver it, and at every endpoint of the webhook. */
  id: string
  scope: 'user_activity'
  type: 'quest_completed'
  payload: UserActivity<QuestCompletedActivity>
}

/**
 * Any other message: of a scope or type that the interface does not show (login, reward and referral hooks), or of a
 * known type with another shape. Its signature is verified like every other.
 */
export interface UnknownEvent {
  kind: 'unknown'
  /** Unique ID of this message: the same in every attempt to deliver it, and at every endpoint of the webhook. */
  id: string
  /** `scope` of the message, if that is a string. */
  scope?: string
  /** `event.type` of the message, if that is a string. */
  type?: string
  /** The whole message. Its fields are not checked. */
  payload: Record<string, unknown>
}

/**
 * A verified message. `kind` is a field of this package: `switch (event.kind)` narrows `payload`, and a message of a
 * future type arrives as `unknown`. Interface: [Message](/the-service#message).
 */
export type WebhookEvent = ActionCompletedEvent | QuestCompletedEvent | UnknownEvent
