/**
 * A typed client of the campaign engagement service, and the verification of its webhooks.
 *
 * @module campaign-client
 */
export { CampaignClient } from './client.ts'
export type { OpenQueryOperation, OperationName } from './endpoints.ts'
export * from './errors.ts'
export type {
  AccessTokenSource,
  CallOptions,
  CampaignClientOptions,
  ClientHooks,
  InvalidResponseEvent,
  QueryNames,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
} from './options.ts'
export type {
  CompletionChange,
  ProgressChange,
  RankChange,
  RewardChange,
  TeamChange,
  XpChange,
  XpFigures,
} from './progress/change.ts'
export { progressChanges } from './progress/compare.ts'
export type { AcceptedData } from './schemas/accepted.ts'
export type { CampaignInfo, QuestDefinition, TaskDefinition } from './schemas/campaign-info.ts'
export type { CampaignPoints, CampaignSeason } from './schemas/campaign-points.ts'
export type { Metadata, OpenString } from './schemas/fields.ts'
export type { InviteCode } from './schemas/invite-code.ts'
export type {
  GetCampaignInfoRequest,
  GetCampaignPointsRequest,
  GetInviteCodeRequest,
  GetUserProfilesRequest,
  GetUserProgressRequest,
  RecordActionValueRequest,
  RewardWalletRequest,
  SetReferrerByRefIdRequest,
  SetReferrerRequest,
  UpdateUserRequest,
} from './schemas/requests.ts'
export type { LinkedProfile, UserProfiles } from './schemas/user-profiles.ts'
export type {
  ChallengeEntry,
  CompletionStatus,
  QuestEntry,
  RewardEntry,
  TaskEntry,
  UserProgress,
} from './schemas/user-progress.ts'
export type { WebhookRegistration, WebhookScope } from './schemas/webhook-registration.ts'
export * from './webhook/index.ts'
