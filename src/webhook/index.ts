/**
 * Verification and parsing of the service's webhook messages. Imports nothing of the client.
 *
 * @module campaign-client/webhook
 */
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
export { parseWebhook, safeParseWebhook, type WebhookResult } from './parse.ts'
export type { RawBody } from './raw-body.ts'
export type { WebhookKey, WebhookSecret } from './secret.ts'
export { type SignatureHeader, signWebhook, verifyWebhook } from './signature.ts'
