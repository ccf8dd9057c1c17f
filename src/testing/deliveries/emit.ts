import { identifier } from '../../schemas/fields.ts'
import { isFiniteNumber, isJson, isObject, type OptionRule, type OptionRules, optional } from '../../shared/options.ts'
import { fits, readOptionsOfKind } from '../read-options.ts'
import { findNamedEntry, type NamedEntry } from '../world/named-entry.ts'
import type { ServiceState } from '../world/state.ts'
import { type Draft, draftMessage, USER_ACTIVITY } from './webhook-message.ts'

/** The user an emitted event is about. */
interface EmittedFor extends NamedEntry {
  /** XP the event tells of. Default: what the task or quest gives the user. */
  xp?: number | undefined
}

/** What `service.emit` takes. */
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
      /** The payload. An `id` is made up, and the `scope` put in, where it has none of its own. */
      payload: Readonly<Record<string, unknown>>
      /** Webhooks of this scope get it. Default: the payload's `scope`, or else `'user_activity'`. */
      scope?: string | undefined
      /** The campaign it belongs to. Default: none, so that webhooks restricted to campaigns don't get it. */
      pid?: string | undefined
    }

/** A message that was handed to the webhooks it is for. */
export interface EmittedMessage {
  /** ID of the message. */
  readonly id: string
  /** The payload, byte for byte as it is sent. */
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
 * The message a test author asks for.
 *
 * @throws TypeError when an option is wrong, or names what is not there
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
