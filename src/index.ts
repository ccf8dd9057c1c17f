/**
 * A typed client for the campaign engagement service, and a receiver for its webhooks.
 *
 * @module campaign-client
 */
export { CampaignClient } from './client.ts'
export type {
  CampaignInfo,
  CampaignPoints,
  CampaignSeason,
  ChallengeEntry,
  CompletionStatus,
  GetCampaignInfoRequest,
  GetCampaignPointsRequest,
  GetInviteCodeRequest,
  GetUserProfilesRequest,
  GetUserProgressRequest,
  InviteCode,
  LinkedProfile,
  OpenQueryOperation,
  OperationName,
  QuestDefinition,
  QuestEntry,
  RecordActionValueRequest,
  RewardEntry,
  RewardWalletRequest,
  SetReferrerByRefIdRequest,
  SetReferrerRequest,
  TaskDefinition,
  TaskEntry,
  UpdateUserRequest,
  UserProfiles,
  UserProgress,
  WebhookRegistration,
  WebhookScope,
} from './endpoints/index.ts'
export type { QueryNames } from './endpoints/undocumented-options.ts'
export { type AnyCampaignError, isCampaignError } from './errors/any-campaign-error.ts'
export * from './errors/client-errors.ts'
export type {
  AccessTokenSource,
  CallEvent,
  CallOptions,
  CampaignClientOptions,
  ClientHooks,
  CommonClientOptions,
  DerivedClientOptions,
  EndEvent,
  InvalidResponseEvent,
  RequestEvent,
  RequestLimits,
  ResponseEvent,
  RetryDelay,
  RetryEvent,
  SenderOptions,
  WriteGuard,
} from './options.ts'
export * from './progress-changes.ts'
export type { AcceptedData, Metadata, OpenString } from './schemas/fields.ts'
export type { FetchLike, FetchLikeInit, FetchLikeResponse } from './transports/fetch.ts'
export {
  type Cancellation,
  type Transport,
  TransportError,
  type TransportErrorInit,
  type TransportRequest,
  type TransportResponse,
} from './transports/transport.ts'
export * from './webhook/index.ts'
