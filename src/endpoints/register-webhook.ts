import * as z from 'zod/mini'
import { identifier, type OpenString, openIdentifier } from '../schemas/fields.ts'
import { endpoint } from './endpoint.ts'

/** The kind of events that a webhook receives. The API description shows only `user_activity`. */
export type WebhookScope = OpenString<'user_activity'>

/** The registration of a webhook. See "Webhook registration" in docs/the-service.md. */
export interface WebhookRegistration {
  /** Kind of events to receive. */
  scope: WebhookScope
  /** URL of your receiver. It must be publicly reachable and accept POST requests. */
  url: string
  /** Secret that the service uses to sign messages. Without it, messages are unsigned and cannot be verified. */
  secret?: string | undefined
  /** Unique identifier of the webhook. */
  hook_id?: string | undefined
}

const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

/** Schema of {@link WebhookRegistration}. */
export const webhookRegistration = z.object({
  scope: openIdentifier<WebhookScope>(),
  url: z.string().check(z.refine(isHttpUrl, 'must be an absolute http or https URL')),
  secret: z.optional(identifier),
  hook_id: z.optional(identifier),
})

export default endpoint<WebhookRegistration, unknown>({
  method: 'POST',
  path: undefined,
  request: webhookRegistration,
  response: 'any',
  retry: 'unsafe',
})
