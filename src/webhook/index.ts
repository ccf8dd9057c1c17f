/**
 * Verification and parsing of the service's webhook messages. Imports nothing of the client.
 *
 * @module campaign-client/webhook
 */

export { CampaignError, type CampaignErrorInit, type WriteOutcome } from '../shared/campaign-error.ts'
export type { FastifyPlugin, FastifyScope, FastifyWebhookReply, FastifyWebhookRequest } from './adapters/fastify.ts'
export type { FetchHandler, WaitUntilContext } from './adapters/fetch.ts'
export type { LambdaContext, LambdaHandler, LambdaHttpEvent, LambdaHttpResult } from './adapters/lambda.ts'
export type { NodeHandler, NodeRequest, NodeResponse } from './adapters/node.ts'
export type { NodeReadable } from './adapters/node-stream.ts'
export type { WebhookRejectionReason } from './answer.ts'
export type { ClaimResult, DeliveryStore } from './deliveries.ts'
export { diagnoseWebhook } from './diagnose.ts'
export type { Finding, FindingCode } from './diagnosis/finding.ts'
export { DiscardEvent, WebhookError, type WebhookErrorCode, type WebhookErrorStatus } from './errors.ts'
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
} from './event.ts'
export { LeaseError, type LeaseErrorCode } from './lease.ts'
export { parseWebhook, safeParseWebhook, type WebhookResult } from './parse.ts'
export type { RawBody } from './raw-body.ts'
export { createWebhookReceiver, type WebhookCloseOptions, type WebhookReceiver } from './receiver.ts'
export type {
  WebhookErrorContext,
  WebhookErrorStage,
  WebhookHandler,
  WebhookHandlerContext,
  WebhookReceiverOptions,
  WebhookRejection,
} from './receiver-options.ts'
export type { WebhookKey, WebhookSecret } from './secret.ts'
export { type SignatureHeader, signWebhook, verifyWebhook } from './signature.ts'
export { type MemoryStoreOptions, memoryStore } from './stores/memory.ts'
