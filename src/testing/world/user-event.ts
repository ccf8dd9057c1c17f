import type { Campaign, Entry } from './campaign.ts'
import type { Completion } from './completion.ts'
import type { AwardRecord } from './state.ts'

interface EventOrigin {
  readonly campaign: Campaign
  readonly entry: Entry
  /** The account the request named, which need not be the one the user was registered with. */
  readonly account: string
}

/** Something that happened to a user and that webhooks are told of. */
export type UserEvent =
  | (EventOrigin & Completion)
  | (EventOrigin & { readonly kind: 'reward_claimed'; readonly award: AwardRecord })
