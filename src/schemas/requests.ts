import * as z from 'zod/mini'
import { finiteNumber, identifier } from './fields.ts'

/** What `getUserProgress` asks for. Interface: Endpoints, 1. */
export interface GetUserProgressRequest {
  /** Account identifier of the user. */
  account: string
  /** Platform where the account exists. */
  platform: string
  /** Campaign ID. */
  pid: string
}

/** What `rewardWallet` sends. Interface: Endpoints, 2. */
export interface RewardWalletRequest {
  /** Ethereum wallet address: `0x` and 40 hex digits. */
  address: string
  /** Campaign ID. */
  pid: string
  /** Your unique identifier of this reward. The service refuses a second use of it, which makes repeats safe. */
  id: string
  /** Amount of XP. */
  xp: number
}

/** What `setReferrer` sends. Interface: Endpoints, 3. */
export interface SetReferrerRequest {
  /** Account of the referring user. */
  referrer: string
  /** Account of the referred user: one without a referrer and without completed tasks. */
  referral: string
  /** Platform of both accounts. */
  platform: string
  /** Campaign ID. */
  pid: string
}

/** What `updateUser` sends. A field left out or `undefined` is not sent. Interface: Endpoints, 4. */
export interface UpdateUserRequest {
  /** Account identifier of the user. */
  account: string
  /** Platform where the account exists. */
  platform: string
  /** Campaign ID. */
  pid: string
  /** New display name. */
  name?: string | undefined
  /** New alias. */
  alias?: string | undefined
  /** New team. The empty string is sent as it is; progress shows it for a user without a team. */
  team?: string | undefined
}

/** What `setReferrerByRefId` sends. Interface: Endpoints, 4a. */
export interface SetReferrerByRefIdRequest {
  /** Account of the referred user: one without a referrer and without completed tasks. */
  account: string
  /** Platform where the account exists. */
  platform: string
  /** Campaign ID. */
  pid: string
  /** Referral link ID. It must exist and belong to somebody else. */
  ref_id: string
}

/** What `recordActionValue` sends. Interface: Endpoints, 5. */
export interface RecordActionValueRequest {
  /** Account identifier of the user. */
  account: string
  /** Platform where the account exists. */
  platform: string
  /** Campaign ID. */
  pid: string
  /** Quest ID within the campaign. */
  cid: string
  /** Task ID to perform. */
  aid: string
  /** The value to record. */
  value: number
}

/** What `getCampaignInfo` asks for. Interface: Endpoints, 6. */
export interface GetCampaignInfoRequest {
  /** Campaign ID. The name of the query parameter is assumed; see `queryNames`. */
  pid: string
}

/** What `getCampaignPoints` asks for. Interface: Endpoints, 7. */
export interface GetCampaignPointsRequest {
  /** Campaign ID. The name of the query parameter is assumed; see `queryNames`. */
  pid: string
}

/** What `getUserProfiles` asks for. Interface: Endpoints, 8. */
export interface GetUserProfilesRequest {
  /** Account identifier of the user. The name of the query parameter is assumed; see `queryNames`. */
  account: string
  /** Platform where the account exists. The name of the query parameter is assumed; see `queryNames`. */
  platform: string
  /** Campaign ID. The name of the query parameter is assumed; see `queryNames`. */
  pid: string
}

/** What `getInviteCode` asks for. Interface: Endpoints, 9. */
export interface GetInviteCodeRequest {
  /** The invite code to check. The name of the query parameter is assumed; see `queryNames`. */
  code: string
  /** Campaign ID associated with the code. The name of the query parameter is assumed; see `queryNames`. */
  pid: string
}

const user = { account: identifier, platform: identifier, pid: identifier }
const optionalText = z.optional(z.string())
const WALLET_ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Schema of {@link GetUserProgressRequest}. */
export const getUserProgressRequest = z.object(user)

/** Schema of {@link RewardWalletRequest}. */
export const rewardWalletRequest = z.object({
  address: z.string().check(z.regex(WALLET_ADDRESS, 'must be 0x and 40 hex digits')),
  pid: identifier,
  id: identifier,
  xp: finiteNumber,
})

/** Schema of {@link SetReferrerRequest}. That the two accounts differ is the service's rule and is left to it. */
export const setReferrerRequest = z.object({
  referrer: identifier,
  referral: identifier,
  platform: identifier,
  pid: identifier,
})

/** Schema of {@link UpdateUserRequest}. */
export const updateUserRequest = z.object({ ...user, name: optionalText, alias: optionalText, team: optionalText })

/** Schema of {@link SetReferrerByRefIdRequest}. */
export const setReferrerByRefIdRequest = z.object({ ...user, ref_id: identifier })

/** Schema of {@link RecordActionValueRequest}. */
export const recordActionValueRequest = z.object({ ...user, cid: identifier, aid: identifier, value: finiteNumber })

/** Schema of {@link GetCampaignInfoRequest}. */
export const getCampaignInfoRequest = z.object({ pid: identifier })

/** Schema of {@link GetCampaignPointsRequest}. */
export const getCampaignPointsRequest = z.object({ pid: identifier })

/** Schema of {@link GetUserProfilesRequest}. */
export const getUserProfilesRequest = z.object(user)

/** Schema of {@link GetInviteCodeRequest}. */
export const getInviteCodeRequest = z.object({ code: identifier, pid: identifier })
