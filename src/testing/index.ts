/**
 * A stateful local copy of the campaign service, with its rules, fault injection and webhooks.
 *
 * @module campaign-client/testing
 */

export { type CampaignService, createCampaignService } from './campaign-service.ts'
export { createManualClock, type ManualClock, type ManualClockOptions } from './clock/manual-clock.ts'
export type { ServiceClock } from './clock/service-clock.ts'
export type { DeliveryAttempt, DeliveryRecord } from './deliveries/delivery-queue.ts'
export type { EmitOptions, EmittedMessage } from './deliveries/emit.ts'
export type { Deliver, PostResult } from './deliveries/post-message.ts'
export type { TestWebhookOptions, TestWebhookResult } from './deliveries/test-webhook.ts'
export type { WebhookChange, WebhookOptions, WebhookRecord } from './deliveries/webhook-registry.ts'
export type {
  AnswerFault,
  AppliedThenResetFault,
  ConnectionFault,
  FaultKind,
  FaultOptions,
  GarbageFault,
  SlowFault,
  StatusFault,
} from './faults/fault-options.ts'
export type { FaultChange, FaultHandle, FaultRecord } from './faults/fault-queue.ts'
export type { RequestRecord } from './http/request-log.ts'
export type { ListeningService, ListenOptions } from './http/server.ts'
export type { ServiceAnswer } from './http/service-message.ts'
export type {
  CampaignSeed,
  ChallengeSeed,
  InviteCodeSeed,
  QuestSeed,
  SeasonSeed,
  TaskSeed,
  UserSeed,
} from './seed/campaign-seed.ts'
export { demoCampaign } from './seed/demo-campaign.ts'
export type { ExportSeedOptions } from './seed/export-seed.ts'
export type { ServiceSeed, WebhookSeed } from './seed/service-seed.ts'
export type {
  ClockMovedEvent,
  DeliveryChangedEvent,
  FaultChangedEvent,
  RequestAnsweredEvent,
  ResetEvent,
  ServiceEvent,
  StateChangedEvent,
  WebhookChangedEvent,
} from './service-event.ts'
export type { CampaignServiceOptions } from './service-options.ts'
export type { TokenGrant, TokenOptions } from './tokens.ts'
export type { CompleteTaskOptions } from './world/complete-named-task.ts'
export type { EntrySnapshot, StateSnapshot } from './world/snapshot.ts'
export type { AwardRecord, ValueRecord } from './world/state.ts'
