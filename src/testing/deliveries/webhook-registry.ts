import * as z from 'zod/mini'
import { webhookRegistration } from '../../endpoints/register-webhook.ts'
import { identifier } from '../../schemas/fields.ts'
import { signWebhook } from '../../webhook/index.ts'
import { strictFields } from '../read-options.ts'
import type { Identifiers } from '../world/identifiers.ts'

/** A webhook, as `service.registerWebhook` takes it: the registration record with what the admin panel adds. */
export interface WebhookOptions {
  /** Kind of events to receive: messages of exactly this scope. Default: `'user_activity'`. */
  scope?: string | undefined
  /** The receiving endpoint, or several that each get the same payload: absolute http or https URLs. */
  url: string | readonly string[]
  /** Secret to sign with. Default: none, so that messages arrive unsigned. */
  secret?: string | undefined
  /** Identifier of the webhook. One that is registered already is replaced (assumed). Default: one made up. */
  hook_id?: string | undefined
  /** Campaigns the webhook is restricted to. Default, and when empty: all of the organization's campaigns. */
  campaigns?: readonly string[] | undefined
  /** The organization whose campaigns it applies to. Default: every organization. */
  organization?: string | undefined
}

/** A registered webhook, without its secret. */
export interface WebhookRecord {
  /** Identifier of the webhook. */
  hook_id: string
  /** Kind of events it receives. */
  scope: string
  /** The receiving endpoints. */
  urls: string[]
  /** Whether its messages are signed. */
  signed: boolean
  /**
   * `true` when the webhook was loaded from a seed that lacks its secret; absent otherwise. Its messages go out unsigned
   * until `registerWebhook` gives the secret.
   */
  secretMissing?: boolean
  /** Campaigns it is restricted to; empty for all. */
  campaigns: string[]
}

/** A registered webhook as the service itself needs it. */
export interface Webhook {
  readonly hook_id: string
  readonly scope: string
  readonly urls: readonly string[]
  readonly secret: string | undefined
  readonly secretMissing: boolean
  readonly campaigns: ReadonlySet<string>
  readonly organization: string | undefined
}

/** What decides which webhooks a message goes to. */
export interface MessageAddress {
  readonly scope: string
  /** Absent for a message of no campaign: then only webhooks without restriction get it. */
  readonly pid: string | undefined
  readonly organization: string | undefined
}

/** What happened to a webhook. */
export type WebhookChange = 'registered' | 'replaced' | 'unregistered'

const { scope, url, secret, hook_id } = webhookRegistration.shape

/** The schema of each field of {@link WebhookOptions}. */
export const webhookFields = {
  scope: z.optional(scope),
  url: z.union([url, z.array(url).check(z.minLength(1, 'must name at least one endpoint'))]),
  secret,
  hook_id,
  campaigns: z.optional(z.array(identifier)),
  organization: z.optional(identifier),
}

/** Schema of {@link WebhookOptions}. */
export const webhookOptions = strictFields<WebhookOptions>(webhookFields)

/** The registered webhooks. */
export class WebhookRegistry {
  readonly #webhooks = new Map<string, Webhook>()
  readonly #ids: Identifiers
  #onChange: ((change: WebhookChange, webhook: Webhook) => void) | undefined

  constructor(ids: Identifiers) {
    this.#ids = ids
  }

  /** Tells of what changes from now on. */
  watch(onChange: (change: WebhookChange, webhook: Webhook) => void): void {
    this.#onChange = onChange
  }

  /** Registers a webhook from options that have been checked. */
  register(options: WebhookOptions, { secretMissing = false } = {}): Webhook {
    const { scope = 'user_activity', url, secret, hook_id, campaigns, organization } = options
    if (hook_id !== undefined) this.#ids.reserve(hook_id)
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
    this.#onChange?.(change, webhook)
    return webhook
  }

  unregister(hookId: string): boolean {
    const webhook = this.#webhooks.get(hookId)
    if (!webhook) return false
    this.#webhooks.delete(hookId)
    this.#onChange?.('unregistered', webhook)
    return true
  }

  find(hookId: string): Webhook | undefined {
    return this.#webhooks.get(hookId)
  }

  /** The webhook registered first, of those that are still there. */
  first(): Webhook | undefined {
    const [webhook] = this.#webhooks.values()
    return webhook
  }

  all(): readonly Webhook[] {
    return [...this.#webhooks.values()]
  }

  get isEmpty(): boolean {
    return this.#webhooks.size === 0
  }

  applicable({ scope, pid, organization }: MessageAddress): Webhook[] {
    return this.all().filter(
      (webhook) =>
        webhook.scope === scope &&
        (webhook.organization === undefined || webhook.organization === organization) &&
        (webhook.campaigns.size === 0 || (pid !== undefined && webhook.campaigns.has(pid))),
    )
  }
}

export const describeWebhook = ({
  hook_id,
  scope,
  urls,
  secret,
  secretMissing,
  campaigns,
}: Webhook): WebhookRecord => ({
  hook_id,
  scope,
  urls: [...urls],
  signed: secret !== undefined,
  ...(secretMissing && { secretMissing }),
  campaigns: [...campaigns],
})

/**
 * Signs a payload for a webhook. `undefined` without a secret.
 * Interface: [Signature](../../../docs/the-service.md#signature).
 */
export const signatureOf = ({ secret }: Webhook, body: string): string | undefined =>
  secret === undefined ? undefined : signWebhook(secret, body)
