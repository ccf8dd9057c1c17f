import type { Endpoint } from './endpoint.ts'
import getCampaignInfo from './get-campaign-info.ts'
import getCampaignPoints from './get-campaign-points.ts'
import getInviteCode from './get-invite-code.ts'
import getUserProfiles from './get-user-profiles.ts'
import getUserProgress from './get-user-progress.ts'
import recordActionValue from './record-action-value.ts'
import registerWebhook from './register-webhook.ts'
import rewardWallet from './reward-wallet.ts'
import setReferrer from './set-referrer.ts'
import setReferrerByRefId from './set-referrer-by-ref-id.ts'
import updateUser from './update-user.ts'

export type { CampaignInfo, GetCampaignInfoRequest, QuestDefinition, TaskDefinition } from './get-campaign-info.ts'
export type { CampaignPoints, CampaignSeason, GetCampaignPointsRequest } from './get-campaign-points.ts'
export type { GetInviteCodeRequest, InviteCode } from './get-invite-code.ts'
export type { GetUserProfilesRequest, LinkedProfile, UserProfiles } from './get-user-profiles.ts'
export type {
  ChallengeEntry,
  CompletionStatus,
  GetUserProgressRequest,
  QuestEntry,
  RewardEntry,
  TaskEntry,
  UserProgress,
} from './get-user-progress.ts'
export type { RecordActionValueRequest } from './record-action-value.ts'
export type { WebhookRegistration, WebhookScope } from './register-webhook.ts'
export type { RewardWalletRequest } from './reward-wallet.ts'
export type { SetReferrerRequest } from './set-referrer.ts'
export type { SetReferrerByRefIdRequest } from './set-referrer-by-ref-id.ts'
export type { UpdateUserRequest } from './update-user.ts'

/** All operations of the service, in the order of the API description. A new operation is added here, to the types and to `schemas.ts`. */
export const endpoints = {
  getUserProgress,
  rewardWallet,
  setReferrer,
  updateUser,
  setReferrerByRefId,
  recordActionValue,
  getCampaignInfo,
  getCampaignPoints,
  getUserProfiles,
  getInviteCode,
  registerWebhook,
} as const

/** The catalogue of the service's operations. */
export type Endpoints = typeof endpoints

/** Any entry of the catalogue. */
export type AnyEndpoint = Endpoints[OperationName]

/** The name of an operation: its method on `CampaignClient`. */
export type OperationName = keyof Endpoints

/** The operations whose query names the API description does not show. */
export type OpenQueryOperation = {
  [Name in OperationName]: Endpoints[Name] extends { readonly assumedQueryNames: readonly string[] } ? Name : never
}[OperationName]

/** The arguments of an operation. */
export type RequestOf<Name extends OperationName> =
  Endpoints[Name] extends Endpoint<infer Request, infer _> ? Request : never

/** The result of an operation. */
export type DataOf<Name extends OperationName> = Endpoints[Name] extends Endpoint<infer _, infer Data> ? Data : never
