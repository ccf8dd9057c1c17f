import { anything, type OptionRules, requireOptions } from '../../shared/options.ts'
import type { IdSource } from '../world/identifiers.ts'

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

const WEBHOOK: OptionRules<WebhookOptions> = {
  scope: anything,
  url: anything,
  secret: anything,
  hook_id: anything,
  campaigns: anything,
  organization: anything,
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

export class WebhookRegistry {
  readonly #webhooks = new Map<string, Webhook>()
  readonly #ids: IdSource

  constructor(ids: IdSource) {
    this.#ids = ids
  }

  /** @throws TypeError when the options are wrong, saying which. */
  register(options: WebhookOptions): Webhook {
    requireOptions('registerWebhook', options, WEBHOOK)
    const urls = typeof options.url === 'string' ? [options.url] : [...options.url]
    if (urls.length === 0) throw new TypeError('registerWebhook: url must name at least one endpoint')
    for (const url of urls) requireHttpUrl(url)
    for (const field of ['scope', 'secret', 'hook_id', 'organization'] as const) {
      const value: unknown = options[field]
      if (value === undefined || (typeof value === 'string' && value !== '')) continue
      throw new TypeError(`registerWebhook: ${field} must be a non-empty string when given`)
    }
    // A text is a list of its letters, none of which is a campaign.
    if (options.campaigns !== undefined && !Array.isArray(options.campaigns)) {
      throw new TypeError('registerWebhook: campaigns must be a list of campaign ids when given')
    }
    const webhook: Webhook = {
      hook_id: options.hook_id ?? this.#ids.short('hook'),
      scope: options.scope ?? 'user_activity',
      urls: [...new Set(urls)],
      secret: options.secret,
      campaigns: new Set(options.campaigns),
      organization: options.organization,
    }
    this.#webhooks.set(webhook.hook_id, webhook)
    return webhook
  }

  unregister(hookId: string): boolean {
    return this.#webhooks.delete(hookId)
  }

  find(hookId: string): Webhook | undefined {
    return this.#webhooks.get(hookId)
  }

  /** The webhook registered first, of those that are still there. */
  first(): Webhook | undefined {
    const [webhook] = this.#webhooks.values()
    return webhook
  }

  get isEmpty(): boolean {
    return this.#webhooks.size === 0
  }

  applicable({ scope, pid, organization }: MessageAddress): Webhook[] {
    return [...this.#webhooks.values()].filter(
      (webhook) =>
        webhook.scope === scope &&
        (webhook.organization === undefined || webhook.organization === organization) &&
        (webhook.campaigns.size === 0 || (pid !== undefined && webhook.campaigns.has(pid))),
    )
  }

  records(): WebhookRecord[] {
    return [...this.#webhooks.values()].map(describeWebhook)
  }
}

export const describeWebhook = ({ hook_id, scope, urls, secret, campaigns }: Webhook): WebhookRecord => ({
  hook_id,
  scope,
  urls: [...urls],
  signed: secret !== undefined,
  campaigns: [...campaigns],
})

function requireHttpUrl(url: unknown): void {
  const protocol = typeof url === 'string' && URL.canParse(url) ? new URL(url).protocol : undefined
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError('registerWebhook: url must be an absolute http or https URL')
  }
}
