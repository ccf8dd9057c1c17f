import type { ConfigurationError } from '../../errors/client-errors.ts'
import {
  configurationError,
  mustBeFiniteNumber,
  mustBeJson,
  mustBeObject,
  type OptionRule,
  type OptionRules,
  optional,
} from '../../errors/option-checks.ts'
import { copyOfKind, mustBeIdentifier, type RulesByKind, readOptionsOfKind } from '../option-readers.ts'
import { earnedXp } from '../state/campaign.ts'
import { ENTRY_RULES, type EntryOptions, type ServiceState, unknownCampaign } from '../state/service-state.ts'
import { draftMessage, type MessageDraft, USER_ACTIVITY } from './webhook-message.ts'

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

const mustBePayload: OptionRule = (value) => mustBeObject(value) ?? mustBeJson(value)
const USER_EVENT_RULES: OptionRules<UserEventOptions> = { ...ENTRY_RULES, xp: optional(mustBeFiniteNumber) }

const EMIT_RULES: RulesByKind<EmitOptions> = {
  action_completed: { ...USER_EVENT_RULES, aid: mustBeIdentifier },
  quest_completed: { ...USER_EVENT_RULES, cid: mustBeIdentifier },
  custom: {
    payload: mustBePayload,
    scope: optional(mustBeIdentifier),
    pid: optional(mustBeIdentifier),
    hook_id: optional(mustBeIdentifier),
  },
}

/** Returns the message that `service.emit` sends. */
export function draftEmittedMessage(given: EmitOptions, state: ServiceState): MessageDraft {
  const options = readOptionsOfKind('emit', copyOfKind(given, EMIT_RULES), EMIT_RULES)
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
