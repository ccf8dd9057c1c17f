import { identifier } from '../../schemas/fields.ts'
import { isFiniteNumber, isJson, isObject, type OptionRule, type OptionRules, optional } from '../../shared/options.ts'
import { fits, readOptionsOfKind } from '../read-options.ts'
import { findNamedEntry, type NamedEntry } from '../world/named-entry.ts'
import type { ServiceState } from '../world/state.ts'
import { type Draft, draftMessage, USER_ACTIVITY } from './webhook-message.ts'

/** The user of an emitted event. */
interface EmittedFor extends NamedEntry {
  /** XP in the event. @defaultValue the XP that the task or quest gives the user */
  xp?: number | undefined
}

/** Options of `service.emit`. */
export type EmitOptions =
  | (EmittedFor & {
      kind: 'action_completed'
      /** Task ID. */
      aid: string
    })
  | (EmittedFor & {
      kind: 'quest_completed'
      /** Quest ID. */
      cid: string
    })
  | {
      kind: 'custom'
      /** The payload. `id` and `scope` are added unless it has its own. */
      payload: Readonly<Record<string, unknown>>
      /** Webhooks of this scope get it. @defaultValue the payload's `scope`, otherwise `'user_activity'` */
      scope?: string | undefined
      /** Its campaign. Without one, webhooks that are restricted to campaigns do not get it. @defaultValue none */
      pid?: string | undefined
    }

/** A message that was queued. */
export interface EmittedMessage {
  /** ID of the message. */
  readonly id: string
  /** The exact payload. */
  readonly body: string
  /** The webhooks it goes to. */
  readonly hook_ids: readonly string[]
}

type EmittedKind = EmitOptions['kind']
type OptionsOf<Kind extends EmittedKind> = Extract<EmitOptions, { kind: Kind }>

const isPayload: OptionRule = (value) => isObject(value) ?? isJson(value)
const isIdentifier = fits(identifier)
const emittedFor: OptionRules<EmittedFor> = {
  account: isIdentifier,
  platform: isIdentifier,
  pid: isIdentifier,
  xp: optional(isFiniteNumber),
}

const EMIT_RULES: { readonly [Kind in EmittedKind]: OptionRules<Omit<OptionsOf<Kind>, 'kind'>> } = {
  action_completed: { ...emittedFor, aid: isIdentifier },
  quest_completed: { ...emittedFor, cid: isIdentifier },
  custom: { payload: isPayload, scope: optional(isIdentifier), pid: optional(isIdentifier) },
}

/**
 * Returns the message that `service.emit` sends.
 *
 * @throws TypeError when an option is wrong, or names something that does not exist
 */
export function draftEmitted(given: EmitOptions, state: ServiceState): Draft {
  const options = readOptionsOfKind('emit', given, EMIT_RULES)
  if (options.kind === 'custom') return draftCustom(options, state)
  const { campaign, entry } = findNamedEntry('emit', options, state)
  const origin = { campaign, entry, account: options.account }
  const { tasks, quests } = campaign.definition
  const worth = (item: { xp: number; xp_mul: number }): number => options.xp ?? item.xp * item.xp_mul * entry.xp_mul
  if (options.kind === 'action_completed') {
    const item = tasks.get(options.aid)
    if (!item) throw new TypeError(`emit: aid: there is no task "${options.aid}" in "${options.pid}"`)
    return draftMessage({ ...origin, kind: options.kind, item, xp: worth(item) })
  }
  const item = quests.get(options.cid)
  if (!item) throw new TypeError(`emit: cid: there is no quest "${options.cid}" in "${options.pid}"`)
  return draftMessage({ ...origin, kind: options.kind, item, xp: worth(item) })
}

function draftCustom({ payload, scope, pid }: OptionsOf<'custom'>, state: ServiceState): Draft {
  const campaign = pid === undefined ? undefined : state.campaigns.get(pid)
  if (pid !== undefined && !campaign) throw new TypeError(`emit: pid: there is no campaign "${pid}"`)
  const own = typeof payload.scope === 'string' ? payload.scope : USER_ACTIVITY
  const address = { scope: scope ?? own, pid, organization: campaign?.definition.organization }
  return { address, payload: { scope: address.scope, ...payload } }
}
