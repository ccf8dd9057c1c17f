import { identifier } from '../../schemas/fields.ts'
import { type OptionRules, optional, readOptions } from '../../shared/options.ts'
import { fits } from '../read-options.ts'
import type { Identifiers } from '../world/identifiers.ts'
import { findNamedEntry } from '../world/named-entry.ts'
import type { ServiceState } from '../world/state.ts'
import { type PostSettings, post } from './post-message.ts'
import { draftTestMessage, sealMessage } from './webhook-message.ts'
import { signatureOf, type Webhook, type WebhookRegistry } from './webhook-registry.ts'

/** Options of `service.testWebhook`. */
export interface TestWebhookOptions {
  /** Account identifier of a user who has an entry in the campaign. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Campaign ID. @defaultValue the webhook's first campaign, otherwise the service's first */
  pid?: string | undefined
  /** ID of the webhook. @defaultValue the webhook that was registered first */
  hook_id?: string | undefined
  /** The endpoint of the webhook. @defaultValue its first */
  url?: string | undefined
}

/**
 * The result of the panel's Test button, under the names the panel shows.
 * Interface: [Test tool](/the-service#test-tool).
 */
export interface TestWebhookResult {
  /** Whether the message was sent: the endpoint answered with any status. */
  readonly Success: boolean
  /** HTTP status of the endpoint's answer; 200 means success; 0 when there was none (assumed). */
  readonly Status: number
  /** The beginning of the endpoint's answer, or the text of the error. */
  readonly Data: string
  /** The exact JSON that was sent. */
  readonly Payload: string
}

const isIdentifier = fits(identifier)
const TEST_WEBHOOK: OptionRules<TestWebhookOptions> = {
  account: isIdentifier,
  platform: isIdentifier,
  pid: optional(isIdentifier),
  hook_id: optional(isIdentifier),
  url: optional(isIdentifier),
}

export interface TestToolParts {
  readonly state: ServiceState
  readonly webhooks: WebhookRegistry
  readonly ids: Identifiers
}

/** Sends the panel's Test message. Rejects with TypeError when an option is wrong or names something unknown. */
export async function testWebhook(
  given: TestWebhookOptions,
  { state, webhooks, ids }: TestToolParts,
  settings: PostSettings,
): Promise<TestWebhookResult> {
  const options = readOptions('testWebhook', given, TEST_WEBHOOK)
  const { account, platform } = options
  const webhook = findWebhook(options.hook_id, webhooks)
  const url = options.url ?? (webhook.urls[0] as string)
  if (!webhook.urls.includes(url)) throw new TypeError(`testWebhook: "${webhook.hook_id}" has no such url`)
  const [firstCampaign = ''] = webhook.campaigns.size > 0 ? webhook.campaigns : state.campaigns.keys()
  const named = { account, platform, pid: options.pid ?? firstCampaign }
  const { campaign, entry } = findNamedEntry('testWebhook', named, state)
  const { body } = sealMessage(draftTestMessage(campaign, entry, account), ids)
  const work = post({ url, body, signature: signatureOf(webhook, body) }, settings)
  settings.clock.track?.(work)
  const { status, answer, error } = await work
  return { Success: status !== undefined, Status: status ?? 0, Data: error ?? answer ?? '', Payload: body }
}

function findWebhook(hookId: string | undefined, webhooks: WebhookRegistry): Webhook {
  const webhook = hookId === undefined ? webhooks.first() : webhooks.find(hookId)
  if (webhook) return webhook
  throw new TypeError(
    hookId === undefined ? 'testWebhook: no webhook is registered' : `testWebhook: there is no webhook "${hookId}"`,
  )
}
