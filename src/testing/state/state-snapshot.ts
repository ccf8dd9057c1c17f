import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import { copyJson } from '../../shared/text.ts'
import { type Campaign, type Entry, totalXp } from './campaign.ts'
import type { AwardRecord, StateParts, ValueRecord } from './service-state.ts'

/** A user's entry in a campaign. */
export interface EntrySnapshot {
  /** Campaign ID. */
  pid: string
  /** Campaign entry ID. */
  id: string
  /** The account under which the user was registered. */
  account: string
  /** Platform of that account. */
  platform: string
  /** All of the user's accounts. */
  profiles: LinkedProfile[]
  /** Connected wallet; empty when none. */
  wallet: string
  /** E-mail address; empty when none. */
  email: string
  /** Display name in the campaign. */
  name: string
  /** Alias; empty when none. */
  alias: string
  /** Team; empty when none. */
  team: string
  /** Total XP from all sources. */
  total: number
  /** Base XP. */
  xp: number
  /** XP from referrals. */
  ref_xp: number
  /** XP from user-generated content. */
  ugc_xp: number
  /** The user's multiplier. */
  xp_mul: number
  /** IDs of completed tasks, quests and challenges, in the order of completion. */
  completed: string[]
  /** Rewards earned. */
  rewards: RewardEntry[]
  /** Account of the referrer; absent without a referrer. */
  referrer?: string
  /** ID of the user's own referral link. */
  ref_id: string
}

/** A copy of the service's state. */
export interface StateSnapshot {
  /** Every user's entry in every campaign, in the order of registration. */
  entries: EntrySnapshot[]
  /** Rewards of `rewardWallet`, oldest first. */
  awards: AwardRecord[]
  /** Values of `recordActionValue`, oldest first. A value that was sent twice occurs twice. */
  values: ValueRecord[]
}

/** Returns a copy of the given parts. */
export function takeSnapshot({ entries, awards, values }: StateParts): StateSnapshot {
  return {
    entries: [...entries].map(([entry, campaign]) => describeEntry(campaign, entry)),
    awards: awards.map((award) => ({ ...award })),
    values: values.map((value) => ({ ...value })),
  }
}

export function describeEntry(campaign: Campaign, entry: Entry): EntrySnapshot {
  const { user, referrer, ...fields } = entry
  return {
    ...fields,
    pid: campaign.definition.id,
    account: user.account,
    platform: user.platform,
    profiles: user.profiles.map((profile) => ({ ...profile })),
    wallet: user.wallet,
    email: user.email,
    total: totalXp(entry),
    completed: [...entry.completed],
    rewards: copyJson(entry.rewards),
    ...(referrer && { referrer: referrer.user.account }),
  }
}
