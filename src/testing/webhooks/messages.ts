import * as z from 'zod/mini'
import type { ConfigurationError } from '../../errors/client-errors.ts'
import { configurationError } from '../../errors/option-checks.ts'
import { finiteNumber, identifier, user as userFields } from '../../schemas/fields.ts'
import { signWebhook } from '../../webhook/index.ts'
import { jsonObject, readByKind, readBySchema, schemasByKind, strictFields } from '../option-readers.ts'
import type { ServiceContent } from '../seed/service-content.ts'
import { type Entry, earnedXp, totalXp } from '../state/campaign.ts'
import type { IdGenerator } from '../state/id-generator.ts'
import { type EntryOptions, type ServiceState, type UserEvent, unknownCampaign } from '../state/service-state.ts'
import { type PostSettings, postMessage } from './delivery.ts'
import type { MessageTarget, Webhook } from './webhook-registry.ts'

/** A message without an ID. */
export interface MessageDraft {
  readonly target: MessageTarget
  readonly payload: Readonly<Record<string, unknown>>
}

/** The only scope that the API description shows. */
export const USER_ACTIVITY = 'user_activity'

/**
 * Returns the message of an event. See "Message" in docs/the-service.md.
 *
 * The API description does not show the messages of quests and rewards. Assumed: a quest has `action.type` `quest`; a reward has
 * the scope `user_activity`, because the API description lists claiming a reward as an activity.
 */
export const draftMessage = (event: UserEvent): MessageDraft =>
  userActivity(event.entry, { type: event.kind, data: dataOf(event) })

/** Returns the message of the admin panel's Test button, which has additional fields. */
export function draftTestMessage(entry: Entry, account: string): MessageDraft {
  const [task] = entry.campaign.definition.tasks.values()
  const action = { ...actionOf(task ?? { id: 'test', name: 'Test', type: 'test' }), meta: task?.meta ?? {} }
  const data = { action, account, xp: task ? earnedXp(task, entry) : 0 }
  const { target, payload } = userActivity(entry, { type: 'action_completed', data })
  return { target, payload: { ...payload, user_id: account } }
}

function userActivity(entry: Entry, event: { readonly type: string; readonly data: object }): MessageDraft {
  const { campaign, user } = entry
  const { id, name, organization } = campaign.definition
  return {
    target: { scope: USER_ACTIVITY, pid: id, organization },
    payload: {
      scope: USER_ACTIVITY,
      user: user.account,
      wallet: user.wallet,
      email: user.email,
      campaign: { id, name },
      event,
      total_xp: totalXp(entry),
      ref_xp: entry.ref_xp,
      ugc_xp: entry.ugc_xp,
      xp_mul: entry.xp_mul,
      rank: campaign.rank(entry),
      team: entry.team,
    },
  }
}

function dataOf(event: UserEvent): object {
  switch (event.kind) {
    case 'action_completed':
      return { action: actionOf(event.item), xp: event.xp }
    case 'quest_completed':
      return { action: actionOf({ ...event.item, type: 'quest' }), xp: event.xp }
    case 'reward_claimed':
      return { reward: { id: event.award.id, type: 'xp' }, account: event.account, xp: event.award.xp }
  }
}

const actionOf = ({ id, name, type }: { id: string; name: string; type: string }) => ({ id, name, type })

/** Adds an ID and serialises the message. An `id` in the payload is kept, even if it is not a string. */
export function serializeMessage({ payload }: MessageDraft, ids: IdGenerator): { id: string; body: string } {
  const id = ids.next('message')
  const message: Record<string, unknown> = { id, ...payload }
  return { id: typeof message.id === 'string' ? message.id : id, body: JSON.stringify(message) }
}

/**
 * Returns the signature of a payload, or `undefined` for a webhook without a secret.
 * See "Signature" in docs/the-service.md.
 */
export const signatureOf = ({ secret }: Webhook, body: string): string | undefined =>
  secret === undefined ? undefined : signWebhook(secret, body)

/** Common options of `action_completed` and `quest_completed`. */
interface UserEventOptions extends EntryOptions {
  /** XP in the event. @defaultValue the XP of the task or quest for this user */
  xp?: number | undefined
}

/** Options of `service.emit`. */
export type EmitOptions =
  | (UserEventOptions & {
      /** Identifies the type of the message. */
      kind: 'action_completed'
      /** Task ID. */
      aid: string
    })
  | (UserEventOptions & {
      kind: 'quest_completed'
      /** Quest ID. */
      cid: string
    })
  | {
      kind: 'custom'
      /** The payload. A missing `id` or `scope` is added. */
      payload: Readonly<Record<string, unknown>>
      /** The scope of the webhooks that receive the message. @defaultValue the payload's `scope`, or `'user_activity'` */
      scope?: string | undefined
      /** Campaign ID. Without it, webhooks that are limited to some campaigns do not receive the message. @defaultValue none */
      pid?: string | undefined
      /** Sends the message to this webhook only. @defaultValue all webhooks with the scope and campaign */
      hook_id?: string | undefined
    }

/** A message that was queued. */
export interface EmittedMessage {
  /** ID of the message. */
  readonly id: string
  /** The exact payload. */
  readonly body: string
  /** IDs of the webhooks that receive the message. */
  readonly hook_ids: readonly string[]
  /** The `deliveryId` of each delivery: one for each URL of these webhooks. */
  readonly deliveryIds: readonly string[]
}

const userEvent = { ...userFields, xp: z.optional(finiteNumber) }

const EMITTED = schemasByKind<EmitOptions>({
  action_completed: { ...userEvent, aid: identifier },
  quest_completed: { ...userEvent, cid: identifier },
  custom: {
    payload: jsonObject,
    scope: z.optional(identifier),
    pid: z.optional(identifier),
    hook_id: z.optional(identifier),
  },
})

/** Returns the message that `service.emit` sends. */
export function draftEmittedMessage(given: EmitOptions, state: ServiceState): MessageDraft {
  const options = readByKind('emit', EMITTED, given)
  if (options.kind === 'custom') return draftCustomMessage(options, state)
  const { account, pid } = options
  const entry = state.requireEntry('emit', options)
  const { tasks, quests } = entry.campaign.definition
  if (options.kind === 'action_completed') {
    const item = tasks.get(options.aid)
    if (!item) throw refusal('aid', `there is no task "${options.aid}" in "${pid}"`)
    return draftMessage({ kind: options.kind, entry, account, item, xp: options.xp ?? earnedXp(item, entry) })
  }
  const item = quests.get(options.cid)
  if (!item) throw refusal('cid', `there is no quest "${options.cid}" in "${pid}"`)
  return draftMessage({ kind: options.kind, entry, account, item, xp: options.xp ?? earnedXp(item, entry) })
}

const refusal = (name: string, message: string): ConfigurationError =>
  configurationError('emit', [{ path: [name], message }])

function draftCustomMessage(
  { payload, scope, pid, hook_id }: Extract<EmitOptions, { kind: 'custom' }>,
  state: ServiceState,
): MessageDraft {
  const campaign = pid === undefined ? undefined : state.campaigns.get(pid)
  if (pid !== undefined && !campaign) throw unknownCampaign('emit', pid)
  const defaultScope = typeof payload.scope === 'string' ? payload.scope : USER_ACTIVITY
  const target = { scope: scope ?? defaultScope, pid, organization: campaign?.definition.organization, hook_id }
  return { target, payload: { scope: target.scope, ...payload } }
}

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

const testWebhookOptions = strictFields<TestWebhookOptions>({
  ...userFields,
  pid: z.optional(identifier),
  hook_id: z.optional(identifier),
  url: z.optional(identifier),
})

export async function testWebhook(
  given: TestWebhookOptions,
  { state, webhooks, ids }: ServiceContent,
  settings: PostSettings,
): Promise<TestWebhookResult> {
  const options = readBySchema('testWebhook', testWebhookOptions, given)
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
