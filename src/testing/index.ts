/**
 * A stateful local copy of the campaign service, with fault injection and webhooks.
 *
 * @module campaign-client/testing
 */

export { type CampaignService, createCampaignService } from './campaign-service.ts'
export type { ServiceClock } from './clock.ts'
export { createManualClock, type ManualClock, type ManualClockOptions } from './clock.ts'
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
export type { FaultHandle } from './faults/faults.ts'
export type { ServiceRateLimit, TokenGrant, TokenOptions } from './http/access.ts'
export type { ServiceResponse } from './http/messages.ts'
export type { RequestRecord } from './http/request-log.ts'
export type { ListeningService, ListenOptions } from './http/server.ts'
export { demoCampaign } from './seed/demo-campaign.ts'
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
export type { ExportSeedOptions } from './seed/service-content.ts'
export type { CampaignServiceOptions } from './service-options.ts'
export type { CompleteTaskOptions, EntrySnapshot, StateSnapshot } from './state/service-state.ts'
export type { Deliver, DeliveryAttempt, DeliveryRecord, PostResult } from './webhooks/delivery.ts'
export type { EmitOptions, EmittedMessage, TestWebhookOptions, TestWebhookResult } from './webhooks/messages.ts'
export type { WebhookChange, WebhookOptions, WebhookRecord } from './webhooks/webhook-registry.ts'
