import type { Campaign, Entry } from './campaign.ts'
import type { Quest, Task } from './campaign-definition.ts'
import type { AwardRecord } from './service-state.ts'

export interface EventOrigin {
  readonly campaign: Campaign
  readonly entry: Entry
  /** The account in the request. The user may have been registered with another account. */
  readonly account: string
}

/** A change that webhooks report. */
export type UserEvent = EventOrigin &
  (
    | { readonly kind: 'action_completed'; readonly item: Task; readonly xp: number }
    | { readonly kind: 'quest_completed'; readonly item: Quest; readonly xp: number }
    | { readonly kind: 'reward_claimed'; readonly award: AwardRecord }
  )
