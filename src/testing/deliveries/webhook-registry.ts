import { webhookRegistration } from '../../endpoints/register-webhook.ts'
import { identifier } from '../../schemas/fields.ts'
import {
  copyOfList,
  copyOfOptions,
  listOf,
  type OptionRule,
  type OptionRules,
  optional,
  requireOptions,
} from '../../shared/options.ts'
import { isRecord } from '../../shared/types.ts'
import { signWebhook } from '../../webhook/index.ts'
import { fits } from '../schema-rule.ts'
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
  /** Campaigns it is restricted to; empty for all. */
  campaigns: string[]
}

/** A registered webhook as the service itself needs it. */
export interface Webhook {
  readonly hook_id: string
  readonly scope: string
  readonly urls: readonly string[]
  readonly secret: string | undefined
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

const areEndpoints: OptionRule = (value) => {
  if (!Array.isArray(value)) return fits(url)(value)
  return value.length > 0 ? listOf(fits(url))(value) : 'must name at least one endpoint'
}

/** What there is to say about a webhook. */
export const WEBHOOK_RULES: OptionRules<WebhookOptions> = {
  scope: optional(fits(scope)),
  url: areEndpoints,
  secret: fits(secret),
  hook_id: fits(hook_id),
  campaigns: optional(listOf(fits(identifier))),
  organization: optional(fits(identifier)),
}

/** What is said about a webhook as it is now, lists included. */
export function ownWebhook<Options extends WebhookOptions>(options: Options, rules: OptionRules<Options>): Options {
  const own: Options = copyOfOptions<Options>(options, rules as never)
  return isRecord(own) ? { ...own, url: copyOfList(own.url), campaigns: copyOfList(own.campaigns) } : own
}

/** The webhooks there are. */
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

  /** @throws TypeError when the options are wrong, saying which. */
  register(options: WebhookOptions): Webhook {
    const own = ownWebhook(options, WEBHOOK_RULES)
    requireOptions('registerWebhook', own, WEBHOOK_RULES)
    const { scope = 'user_activity', url, secret, hook_id, campaigns, organization } = own
    if (hook_id !== undefined) this.#ids.reserve(hook_id)
    const webhook: Webhook = {
      hook_id: hook_id ?? this.#ids.next('hook'),
      scope,
      urls: [...new Set(typeof url === 'string' ? [url] : url)],
      secret,
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

export const describeWebhook = ({ hook_id, scope, urls, secret, campaigns }: Webhook): WebhookRecord => ({
  hook_id,
  scope,
  urls: [...urls],
  signed: secret !== undefined,
  campaigns: [...campaigns],
})

/**
 * Signs a payload for a webhook. `undefined` without a secret.
 * Interface: [Signature](../../../docs/the-service.md#signature).
 */
export const signatureOf = ({ secret }: Webhook, body: string): string | undefined =>
  secret === undefined ? undefined : signWebhook(secret, body)
