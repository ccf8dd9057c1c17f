/**
 * The campaign service in a box: a stateful stand-in with the interface's rules, faults on order, and webhooks.
 *
 * @module campaign-client/testing
 */

export { createManualClock, type ManualClock, type ManualClockOptions, type ServiceClock } from './clock.ts'
export type { DeliveryAttempt, DeliveryRecord } from './deliveries/delivery-queue.ts'
export type { Deliver, PostResult } from './deliveries/post.ts'
export type { EmitOptions, EmittedMessage, TestWebhookOptions, TestWebhookResult } from './deliveries/sender.ts'
export type { WebhookOptions, WebhookRecord } from './deliveries/webhook-registry.ts'
export type {
  AnswerFault,
  ConnectionFault,
  FaultHandle,
  FaultKind,
  FaultOptions,
  GarbageFault,
  StatusFault,
} from './faults/options.ts'
export type { RequestRecord } from './http/request-log.ts'
export type { ListeningService, ListenOptions } from './http/server.ts'
export { type CampaignService, type CampaignServiceOptions, createCampaignService } from './service.ts'
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
export { demoCampaign } from './world/demo-campaign.ts'
export type { EntrySnapshot, StateSnapshot } from './world/snapshot.ts'
export type { AwardRecord, ValueRecord } from './world/state.ts'
