import * as z from 'zod/mini'
import { webhookRegistration } from '../../endpoints/register-webhook.ts'
import { identifier } from '../../schemas/fields.ts'
import { secretIssue } from '../../webhook/signature.ts'
import { strictFields } from '../option-readers.ts'
import type { IdGenerator } from '../state/id-generator.ts'

/** Options of `service.registerWebhook`: the registration record, and two settings of the admin panel. */
export interface WebhookOptions {
  /** Scope of the messages to receive. @defaultValue `'user_activity'` */
  scope?: string | undefined
  /** The URL, or several URLs that receive the same payload: absolute, http or https. */
  url: string | readonly string[]
  /** Secret that signs the messages. @defaultValue none: messages are unsigned */
  secret?: string | undefined
  /** ID of the webhook. A registered webhook with this ID is replaced (assumed). @defaultValue a generated ID */
  hook_id?: string | undefined
  /** IDs of the campaigns that the webhook is limited to. An empty list means all campaigns. @defaultValue all campaigns */
  campaigns?: readonly string[] | undefined
  /** The organization whose campaigns the webhook applies to. @defaultValue every organization */
  organization?: string | undefined
}

/** A registered webhook, without its secret. */
export interface WebhookRecord {
  /** Identifier of the webhook. */
  hook_id: string
  /** Scope of the messages that the webhook receives. */
  scope: string
  /** Its URLs. */
  urls: string[]
  /** Whether its messages are signed. */
  signed: boolean
  /**
   * `true` when the webhook was loaded from a seed without its secret; absent otherwise. Its messages are unsigned until
   * `registerWebhook` sets the secret.
   */
  secretMissing?: boolean
  /** IDs of the campaigns that the webhook is limited to. An empty list means all campaigns. */
  campaigns: string[]
}

/** A registered webhook, with its secret. */
export interface Webhook {
  readonly hook_id: string
  readonly scope: string
  readonly urls: readonly string[]
  readonly secret: string | undefined
  readonly secretMissing: boolean
  readonly campaigns: ReadonlySet<string>
  readonly organization: string | undefined
}

/** The scope, campaign and organization of a message. Every webhook that matches all three receives the message. */
export interface MessageTarget {
  readonly scope: string
  /** The campaign. If undefined, webhooks that are limited to some campaigns do not match. */
  readonly pid: string | undefined
  readonly organization: string | undefined
  /** The only webhook that may match. */
  readonly hook_id?: string | undefined
}

/** How a webhook changed. */
export type WebhookChange = 'registered' | 'replaced' | 'unregistered'

const { scope, url, hook_id } = webhookRegistration.shape

/** Whether a non-empty secret can sign messages. */
export const isUsableSecret = (secret: string): boolean => secretIssue(secret) === undefined

/** The message of the error about an unusable secret. */
export const UNUSABLE_SECRET = 'must not consist of zero bytes'

export const webhookFields = {
  scope: z.optional(scope),
  url: z.union([url, z.array(url).check(z.minLength(1, 'must name at least one URL'))]),
  secret: z.optional(identifier.check(z.refine(isUsableSecret, UNUSABLE_SECRET))),
  hook_id,
  campaigns: z.optional(z.array(identifier)),
  organization: z.optional(identifier),
}

export const webhookOptions = strictFields<WebhookOptions>(webhookFields)

export class WebhookRegistry {
  readonly #webhooks = new Map<string, Webhook>()
  readonly #ids: IdGenerator
  #changes: { readonly change: WebhookChange; readonly webhook: Webhook }[] = []

  constructor(ids: IdGenerator) {
    this.#ids = ids
  }

  /** @param options - already validated */
  register(options: WebhookOptions & { readonly secretMissing?: boolean }): Webhook {
    const { scope = 'user_activity', url, secret, secretMissing = false, hook_id, campaigns, organization } = options
    this.#ids.reserve(hook_id)
    const webhook: Webhook = {
      hook_id: hook_id ?? this.#ids.next('hook'),
      scope,
      urls: [...new Set(typeof url === 'string' ? [url] : url)],
      secret,
      secretMissing,
      campaigns: new Set(campaigns),
      organization,
    }
    const change = this.#webhooks.has(webhook.hook_id) ? 'replaced' : 'registered'
    this.#webhooks.set(webhook.hook_id, webhook)
    this.#changes.push({ change, webhook })
    return webhook
  }

  unregister(hookId: string): boolean {
    const webhook = this.#webhooks.get(hookId)
    if (!webhook) return false
    this.#webhooks.delete(hookId)
    this.#changes.push({ change: 'unregistered', webhook })
    return true
  }

  /** Returns the changes since the last call. */
  takeChanges() {
    const changes = this.#changes
    this.#changes = []
    return changes
  }

  find(hookId: string): Webhook | undefined {
    return this.#webhooks.get(hookId)
  }

  all(): readonly Webhook[] {
    return [...this.#webhooks.values()]
  }

  matching({ scope, pid, organization, hook_id }: MessageTarget): Webhook[] {
    return this.all().filter(
      (webhook) =>
        (hook_id === undefined || webhook.hook_id === hook_id) &&
        webhook.scope === scope &&
        (webhook.organization === undefined || webhook.organization === organization) &&
        (webhook.campaigns.size === 0 || (pid !== undefined && webhook.campaigns.has(pid))),
    )
  }
}

export const describeWebhook = (webhook: Webhook): WebhookRecord => ({
  hook_id: webhook.hook_id,
  scope: webhook.scope,
  urls: [...webhook.urls],
  signed: webhook.secret !== undefined,
  ...(webhook.secretMissing && { secretMissing: true }),
  campaigns: [...webhook.campaigns],
})
