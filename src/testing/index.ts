/**
 * The campaign service in a box: a stateful stand-in with the interface's rules, faults on order, and webhooks.
 *
 * @module campaign-client/testing
 */
export type { ServiceAnswer } from './answer.ts'
export type { ServiceClock } from './clock.ts'
export type { DeliveryAttempt, DeliveryRecord } from './deliveries/delivery-queue.ts'
export type { EmitOptions, EmittedMessage } from './deliveries/emit.ts'
export type { Deliver, PostResult } from './deliveries/post.ts'
export type { TestWebhookOptions, TestWebhookResult } from './deliveries/test-tool.ts'
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
} from './faults/options.ts'
export type { FaultChange, FaultHandle, FaultRecord } from './faults/queue.ts'
export type { RequestRecord } from './http/request-log.ts'
export type { ListeningService, ListenOptions } from './http/server.ts'
export { createManualClock, type ManualClock, type ManualClockOptions } from './manual-clock.ts'
export type { CampaignServiceOptions } from './options.ts'
export type { ServiceSeed, WebhookSeed } from './seed.ts'
export type { ExportSeedOptions } from './seed-export.ts'
export { type CampaignService, createCampaignService } from './service.ts'
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
export type { TokenGrant, TokenOptions } from './tokens.ts'
export type {
  CampaignSeed,
  ChallengeSeed,
  InviteCodeSeed,
  QuestSeed,
  SeasonSeed,
  TaskSeed,
  UserSeed,
} from './world/campaign-seed.ts'
export type { CompleteTaskOptions } from './world/complete-task.ts'
export { demoCampaign } from './world/demo-campaign.ts'
export type { EntrySnapshot, StateSnapshot } from './world/snapshot.ts'
export type { AwardRecord, ValueRecord } from './world/state.ts'
