import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import type { RewardEntry } from '../../endpoints/get-user-progress.ts'
import type { RecordActionValueRequest } from '../../endpoints/record-action-value.ts'
import type { RewardWalletRequest } from '../../endpoints/reward-wallet.ts'
import type { WebhookOptions } from '../webhooks/webhook-registry.ts'

/** An award made by `rewardWallet`. */
export interface AwardRecord extends RewardWalletRequest {
  /** Time of the request, in milliseconds since the epoch, by the service's clock. */
  at: number
}

/** A value recorded by `recordActionValue`. */
export interface ValueRecord extends RecordActionValueRequest {
  /** Time of the request, in milliseconds since the epoch, by the service's clock. */
  at: number
}

/** A webhook of a seed. */
export interface WebhookSeed extends WebhookOptions {
  /**
   * Whether the webhook has a secret that was not exported. When `reset(seed)` loads it, the webhook gets the secret of the
   * running service's webhook with the same `hook_id`; `reset()` removes secrets that were set later. Without a secret, the
   * webhook has `secretMissing: true` and sends unsigned messages until `registerWebhook` sets the secret.
   */
  signed?: boolean | undefined
}

/**
 * The content of a service, as plain JSON. `service.exportSeed` returns it; `createCampaignService` and `service.reset`
 * load it.
 */
export interface ServiceSeed {
  /** Campaigns with their users and progress. @defaultValue `[demoCampaign]` */
  campaigns?: readonly CampaignSeed[] | undefined
  /** Webhooks. @defaultValue none */
  webhooks?: readonly WebhookSeed[] | undefined
  /** Earlier awards of `rewardWallet`. Their IDs count as used; they add no XP. @defaultValue none */
  awards?: readonly AwardRecord[] | undefined
  /** Earlier values of `recordActionValue`. They complete no task. @defaultValue none */
  values?: readonly ValueRecord[] | undefined
}

/** The common fields of tasks, quests and challenges. */
interface ItemSeed {
  /** ID, unique among the campaign's tasks, quests and challenges. */
  id: string
  /** Display name. @defaultValue the ID */
  name?: string | undefined
  /** Base reward in XP. @defaultValue 0 */
  xp?: number | undefined
  /** Multiplier of `xp`. @defaultValue 1 */
  xp_mul?: number | undefined
  /** Metadata. @defaultValue none */
  meta?: Record<string, unknown> | undefined
  /**
   * IDs of tasks, quests and challenges that must be completed first. A challenge is completed together with its last
   * dependency (assumed). A challenge without dependencies is never completed.
   *
   * @defaultValue none
   */
  deps?: readonly string[] | undefined
}

/** A task of a campaign seed. */
export interface TaskSeed extends ItemSeed {
  /** Type of the task (assumed: the API description shows no values). @defaultValue `'custom'` */
  type?: string | undefined
  /**
   * `'once'`: only the first completion gives XP. Any other string: every completion gives XP. Assumed: the API
   * description shows no values.
   *
   * @defaultValue `'once'`
   */
  recurrence?: string | undefined
  /** XP that the user's referrer gets when the task is completed (assumed). @defaultValue 0 */
  ref_xp?: number | undefined
  /** Whether a quest can be completed without the task. @defaultValue false */
  is_optional?: boolean | undefined
}

/** A quest of a campaign seed. It is completed when all its tasks that are not optional are completed. */
export interface QuestSeed extends ItemSeed {
  /** IDs of the tasks that make up the quest: at least one. */
  actions: readonly string[]
}

/** A challenge of a campaign seed. */
export interface ChallengeSeed extends ItemSeed {}

/** A season of a campaign seed. */
export interface SeasonSeed {
  /** Display name. */
  name: string
  /** The campaign's total XP at which the season ends, all earlier seasons included (assumed). */
  max_xp: number
}

/** A user with an entry in the campaign. */
export interface UserSeed {
  /** ID of the entry in the campaign. @defaultValue a generated ID */
  id?: string | undefined
  /** Account identifier. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Further accounts of the same person. @defaultValue none */
  profiles?: readonly LinkedProfile[] | undefined
  /** Connected wallet: `0x` and 40 hex digits. `rewardWallet` with this address gives XP to the user. @defaultValue none */
  wallet?: string | undefined
  /** E-mail address in webhook messages. @defaultValue none */
  email?: string | undefined
  /** Display name in the campaign. @defaultValue the account */
  name?: string | undefined
  /** Alias. @defaultValue none */
  alias?: string | undefined
  /** Team. @defaultValue the empty string */
  team?: string | undefined
  /** XP from tasks and activities. `completed` adds no XP. @defaultValue 0 */
  xp?: number | undefined
  /** XP from referrals. @defaultValue 0 */
  ref_xp?: number | undefined
  /** XP from user-generated content. @defaultValue 0 */
  ugc_xp?: number | undefined
  /** Multiplier of the XP that tasks, quests and challenges give the user. @defaultValue 1 */
  xp_mul?: number | undefined
  /** IDs of the tasks, quests and challenges already completed. @defaultValue none */
  completed?: readonly string[] | undefined
  /** Rewards already earned. Their IDs count as used. @defaultValue none */
  rewards?: readonly RewardEntry[] | undefined
  /**
   * The user of the campaign who referred this user: an account on the same platform, or an account and its platform.
   *
   * @defaultValue none
   */
  referrer?: string | LinkedProfile | undefined
  /** ID of the user's own referral link. @defaultValue a generated ID */
  ref_id?: string | undefined
}

/** An invite code of a campaign seed. */
export interface InviteCodeSeed {
  /** The code. */
  code: string
  /** Accounts that used the code. @defaultValue none */
  used_by?: readonly string[] | undefined
}

/** A campaign with its users. The fields have the names of the service's responses. */
export interface CampaignSeed {
  /** Campaign ID: the `pid` of every call. */
  id: string
  /** Display name. @defaultValue the ID */
  name?: string | undefined
  /** The organization of the campaign; see the `tokens` option. @defaultValue `'demo'` */
  organization?: string | undefined
  /**
   * Whether writes register unknown users (`'open'`) or refuse them (`'closed'`), for example with `missing_user`.
   * Assumed: the API description shows no such setting.
   *
   * @defaultValue `'open'`
   */
  registration?: 'open' | 'closed' | undefined
  /** Tasks. @defaultValue none */
  actions?: readonly TaskSeed[] | undefined
  /** Quests. @defaultValue none */
  quests?: readonly QuestSeed[] | undefined
  /** Challenges. @defaultValue none */
  challenges?: readonly ChallengeSeed[] | undefined
  /** Seasons, in order of `max_xp`. @defaultValue one season that ends at 1 000 000 */
  seasons?: readonly SeasonSeed[] | undefined
  /** Users. @defaultValue none */
  users?: readonly UserSeed[] | undefined
  /** Invite codes. @defaultValue none */
  invite_codes?: readonly InviteCodeSeed[] | undefined
}
