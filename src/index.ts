/**
 * A typed client for the campaign engagement service, and a receiver for its webhooks.
 *
 * @module campaign-client
 */
export { CampaignClient } from './client.ts'
export type { OpenQueryOperation, OperationName } from './endpoints/index.ts'
export type { QueryNames } from './endpoints/query-names.ts'
export type * from './endpoints/types.ts'
export * from './errors.ts'
export type {
  AccessTokenSource,
  CallEvent,
  CallOptions,
  CampaignClientOptions,
  ClientHooks,
  DerivedClientOptions,
  EndEvent,
  FetchLike,
  FetchLikeInit,
  FetchLikeResponse,
  InvalidResponseEvent,
  RequestEvent,
  RequestLimits,
  ResponseEvent,
  RetryDelay,
  RetryEvent,
  WriteGuard,
} from './options.ts'
export type {
  CompletionChange,
  ProgressChange,
  RankChange,
  RewardChange,
  TeamChange,
  XpChange,
  XpFigures,
} from './progress/change-types.ts'
export { progressChanges } from './progress/progress-changes.ts'
export type { AcceptedData } from './schemas/accepted-write.ts'
export type { Metadata, OpenString } from './schemas/fields.ts'
export {
  type Transport,
  TransportError,
  type TransportErrorInit,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts'
export * from './webhook/index.ts'
