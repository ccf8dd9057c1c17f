import { configurationError, type OptionRules, optional, readOptions } from '../../errors/option-checks.ts'
import { mustBeIdentifier } from '../option-readers.ts'
import type { ServiceContent } from '../seed/load-seed.ts'
import { ENTRY_RULES } from '../state/service-state.ts'
import { type PostSettings, postMessage } from './post-message.ts'
import { draftTestMessage, serializeMessage, signatureOf } from './webhook-message.ts'

/** Options of `service.testWebhook`. */
export interface TestWebhookOptions {
  /** Account identifier of a user who has an entry in the campaign. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Campaign ID. @defaultValue the first campaign of the webhook, or of the service */
  pid?: string | undefined
  /** ID of the webhook. @defaultValue the first registered webhook */
  hook_id?: string | undefined
  /** A URL of the webhook. @defaultValue its first URL */
  url?: string | undefined
}

/**
 * The result of the admin panel's Test button, with the panel's field names.
 * See "Test tool" in docs/the-service.md.
 */
export interface TestWebhookResult {
  /** Whether there was a response, with any status. */
  readonly Success: boolean
  /** HTTP status of the response. 200 means success. 0 if there was no response (assumed). */
  readonly Status: number
  /** The beginning of the response, or the text of the error. */
  readonly Data: string
  /** The exact JSON that was sent. */
  readonly Payload: string
  /** The code of the error, such as `ECONNREFUSED`, if there was no response. The panel does not show it. */
  readonly code?: string
}

const TEST_WEBHOOK: OptionRules<TestWebhookOptions> = {
  ...ENTRY_RULES,
  pid: optional(mustBeIdentifier),
  hook_id: optional(mustBeIdentifier),
  url: optional(mustBeIdentifier),
}

export async function testWebhook(
  given: TestWebhookOptions,
  { state, webhooks, ids }: ServiceContent,
  settings: PostSettings,
): Promise<TestWebhookResult> {
  const options = readOptions('testWebhook', given, TEST_WEBHOOK)
  const { account, platform, hook_id } = options
  const webhook = hook_id === undefined ? webhooks.all()[0] : webhooks.find(hook_id)
  if (!webhook) {
    const message =
      hook_id === undefined ? 'there is no webhook: register one first' : `there is no webhook "${hook_id}"`
    throw configurationError('testWebhook', [{ path: ['hook_id'], message }])
  }
  const url = options.url ?? (webhook.urls[0] as string)
  if (!webhook.urls.includes(url)) {
    const message = `must be a URL of the webhook "${webhook.hook_id}", got "${url}"`
    throw configurationError('testWebhook', [{ path: ['url'], message }])
  }
  const [firstCampaign = ''] = webhook.campaigns.size > 0 ? webhook.campaigns : state.campaigns.keys()
  const entry = state.requireEntry('testWebhook', { account, platform, pid: options.pid ?? firstCampaign })
  const { body } = serializeMessage(draftTestMessage(entry, account), ids)
  const work = postMessage({ url, body, signature: signatureOf(webhook, body) }, settings)
  settings.clock.track?.(work)
  const { status, response, error, code } = await work
  return {
    Success: status !== undefined,
    Status: status ?? 0,
    Data: error ?? response ?? '',
    Payload: body,
    ...(code !== undefined && { code }),
  }
}
