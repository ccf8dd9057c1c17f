/**
 * Verification and parsing of the service's webhook messages. Does not import the client.
 *
 * @module campaign-client/webhook
 */

export {
  type ApiErrorCode,
  CampaignError,
  type CampaignErrorCode,
  type CampaignErrorInit,
  type LeaseErrorCode,
  type WebhookErrorCode,
  type WriteOutcome,
} from '../errors/campaign-error.ts'
export { ConfigurationError } from '../errors/client-errors.ts'
export {
  DiscardEvent,
  LeaseError,
  WebhookError,
  type WebhookErrorStatus,
  WebhookShapeError,
} from '../errors/webhook-errors.ts'
export type {
  ActionCompletedActivity,
  ActionCompletedData,
  EventAction,
  EventCampaign,
  QuestCompletedActivity,
  QuestCompletedData,
  UserActivity,
} from '../schemas/read-user-activity.ts'
export type { Issue } from '../shared/issue.ts'
export { diagnoseWebhook, type Finding, type FindingCode } from './diagnose.ts'
export {
  type ActionCompletedEvent,
  isTestMessage,
  parseWebhook,
  parseWebhookBody,
  type QuestCompletedEvent,
  safeParseWebhook,
  type UnknownEvent,
  type WebhookEvent,
  type WebhookResult,
} from './event.ts'
export type { FetchHandler, WaitUntilContext } from './receiver/adapters/fetch.ts'
export type { LambdaContext, LambdaHandler, LambdaHttpEvent, LambdaHttpResult } from './receiver/adapters/lambda.ts'
export type {
  FastifyPlugin,
  FastifyScope,
  FastifyWebhookReply,
  FastifyWebhookRequest,
  NodeHandler,
  NodeReadable,
  NodeRequest,
  NodeResponse,
} from './receiver/adapters/node.ts'
export {
  createWebhookReceiver,
  type WebhookCloseOptions,
  type WebhookFailedOptions,
  type WebhookReceiver,
  type WebhookReplayOptions,
} from './receiver/create-webhook-receiver.ts'
export type { WebhookFailedMessage } from './receiver/failed-messages.ts'
export type {
  WebhookErrorContext,
  WebhookErrorStage,
  WebhookHandled,
  WebhookHandledOutcome,
  WebhookHandler,
  WebhookHandlerContext,
  WebhookReceiverOptions,
  WebhookRejection,
} from './receiver/options.ts'
export type { WebhookReplayOutcome } from './receiver/receiver.ts'
export type { WebhookRejectionReason } from './receiver/responses.ts'
export {
  type RawBody,
  type SignatureHeader,
  signWebhook,
  verifyWebhook,
  type WebhookKey,
  type WebhookSecret,
} from './signature.ts'
export type {
  ClaimResult,
  DeliveryFailure,
  DeliveryStore,
  FailedDelivery,
  MessageToKeep,
  TakeResult,
  WebhookFailureReason,
} from './stores/delivery-store.ts'
export { type MemoryStoreOptions, memoryStore } from './stores/memory-store.ts'
