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
} from '../shared/campaign-error.ts'
export { diagnoseWebhook } from './diagnose/diagnose-webhook.ts'
export type { Finding, FindingCode } from './diagnose/finding.ts'
export {
  DiscardEvent,
  LeaseError,
  WebhookError,
  type WebhookErrorStatus,
} from './errors.ts'
export { parseWebhook, safeParseWebhook, type WebhookResult } from './event/parse-webhook.ts'
export type {
  ActionCompletedActivity,
  ActionCompletedEvent,
  EventAction,
  EventCampaign,
  QuestCompletedActivity,
  QuestCompletedEvent,
  UnknownEvent,
  UserActivity,
  WebhookEvent,
} from './event/webhook-event.ts'
export type {
  FastifyPlugin,
  FastifyScope,
  FastifyWebhookReply,
  FastifyWebhookRequest,
} from './receiver/adapters/fastify.ts'
export type { FetchHandler, WaitUntilContext } from './receiver/adapters/fetch.ts'
export type { LambdaContext, LambdaHandler, LambdaHttpEvent, LambdaHttpResult } from './receiver/adapters/lambda.ts'
export type { NodeHandler, NodeRequest, NodeResponse } from './receiver/adapters/node.ts'
export type { NodeReadable } from './receiver/adapters/node-stream.ts'
export {
  createWebhookReceiver,
  type WebhookCloseOptions,
  type WebhookReceiver,
} from './receiver/create-webhook-receiver.ts'
export type { WebhookRejectionReason } from './receiver/webhook-answer.ts'
export type {
  WebhookErrorContext,
  WebhookErrorStage,
  WebhookHandled,
  WebhookHandledOutcome,
  WebhookHandler,
  WebhookHandlerContext,
  WebhookReceiverOptions,
  WebhookRejection,
} from './receiver/webhook-receiver-options.ts'
export type { ClaimResult, DeliveryStore } from './stores/delivery-store.ts'
export { type MemoryStoreOptions, memoryStore } from './stores/memory-store.ts'
export type { RawBody } from './verify/raw-body.ts'
export type { WebhookKey, WebhookSecret } from './verify/secret.ts'
export { type SignatureHeader, signWebhook, verifyWebhook } from './verify/signature.ts'
