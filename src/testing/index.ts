/**
 * A stateful local copy of the campaign service, with fault injection and webhooks.
 *
 * @module campaign-client/testing
 */

export { type CampaignService, createCampaignService } from './campaign-service.ts'
export { createManualClock, type ManualClock, type ManualClockOptions } from './clock/manual-clock.ts'
export type { ServiceClock } from './clock/service-clock.ts'
export type {
  ClockMovedEvent,
  DeliveryChangedEvent,
  FaultChangedEvent,
  RequestAnsweredEvent,
  ResetEvent,
  ServiceEvent,
  StateChangedEvent,
  WebhookChangedEvent,
} from './events.ts'
export type {
  AppliedThenResetFault,
  ConnectionFault,
  DelayedDeliveryFault,
  DeliveryFault,
  DeliveryFaultKind,
  DeliveryFaultOptions,
  FaultChange,
  FaultKind,
  FaultOptions,
  FaultRecord,
  GarbageFault,
  MissingFieldFault,
  RequestFaultOptions,
  ResponseFault,
  SlowFault,
  StatusFault,
} from './faults/fault-options.ts'
export type { FaultHandle } from './faults/fault-queue.ts'
export type { ServiceRateLimit } from './http/rate-limit.ts'
export type { RequestRecord } from './http/request-log.ts'
export type { ServiceResponse } from './http/responses.ts'
export type { ListeningService, ListenOptions } from './http/server.ts'
export { demoCampaign } from './seed/demo-campaign.ts'
export type { ExportSeedOptions } from './seed/export-seed.ts'
export type {
  AwardRecord,
  CampaignSeed,
  ChallengeSeed,
  InviteCodeSeed,
  QuestSeed,
  SeasonSeed,
  ServiceSeed,
  TaskSeed,
  UserSeed,
  ValueRecord,
  WebhookSeed,
} from './seed/seed.ts'
export type { CampaignServiceOptions } from './service-options.ts'
export type { CompleteTaskOptions } from './state/complete-task.ts'
export type { EntrySnapshot, StateSnapshot } from './state/service-state.ts'
export type { TokenGrant, TokenOptions } from './tokens.ts'
export type { DeliveryAttempt, DeliveryRecord } from './webhooks/delivery-record.ts'
export type { EmitOptions, EmittedMessage } from './webhooks/emit.ts'
export type { Deliver, PostResult } from './webhooks/post-message.ts'
export type { TestWebhookOptions, TestWebhookResult } from './webhooks/test-webhook.ts'
export type { WebhookChange, WebhookOptions, WebhookRecord } from './webhooks/webhook-registry.ts'
