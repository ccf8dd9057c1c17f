/**
 * The campaign service in a box: a stateful stand-in with the interface's rules, faults on order, and webhooks.
 *
 * @module campaign-client/testing
 */
export type {
  CampaignSeed,
  ChallengeSeed,
  InviteCodeSeed,
  QuestSeed,
  SeasonSeed,
  TaskSeed,
  UserSeed,
} from './campaign-seed.ts'
export { createManualClock, type ManualClock, type ManualClockOptions, type ServiceClock } from './clock.ts'
export { demoCampaign } from './demo-campaign.ts'
export type {
  AnswerFault,
  ConnectionFault,
  FaultHandle,
  FaultKind,
  FaultOptions,
  GarbageFault,
  StatusFault,
} from './faults.ts'
export type { ListeningService, ListenOptions } from './http-server.ts'
export type { RequestRecord } from './request-log.ts'
export { type CampaignService, type CampaignServiceOptions, createCampaignService } from './service.ts'
export type { AwardRecord, ValueRecord } from './state/service-state.ts'
export type { EntrySnapshot, StateSnapshot } from './state/snapshot.ts'
export type { TokenGrant, TokenOptions } from './tokens.ts'
export type { DeliveryAttempt, DeliveryRecord } from './webhooks/deliveries.ts'
export type { Deliver, PostResult } from './webhooks/post.ts'
export type { WebhookOptions, WebhookRecord } from './webhooks/registry.ts'
export type { EmitOptions, EmittedMessage, TestWebhookOptions, TestWebhookResult } from './webhooks/sender.ts'
