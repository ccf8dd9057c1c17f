import type { Issue } from '../shared/issue.ts'
import { DECIMAL } from '../shared/text.ts'
import { isRecord, typeName } from '../shared/type-checks.ts'

/** The campaign of a message. */
export type EventCampaign = {
  /** Campaign ID. */
  id: string
  /** Display name of the campaign. */
  name?: string
}

/** The task of a message. See "Message" in docs/the-service.md. */
export type EventAction = {
  /** Task ID. */
  id: string
  /** Display name of the task. */
  name?: string
  /** Type of the task. The API description does not list its values. */
  type?: string
  /** Metadata of the task. The API description shows it only in the admin panel's Test message. */
  meta?: Record<string, unknown>
}

/** `event.data` of a message about a completed task. */
export type ActionCompletedData = {
  /** The task. */
  action: EventAction
  /** The associated account. The API description shows it only in the admin panel's Test message. */
  account?: string
  /** XP awarded for the event. */
  xp: number
}

/**
 * `event.data` of a message about a completed quest. The API description does not show it. Assumed: it has the fields of a
 * completed task, and every field is optional.
 */
export type QuestCompletedData = {
  /** The completed task. */
  action?: EventAction
  /** The associated account. */
  account?: string
  /** XP awarded for the event. */
  xp?: number
  [field: string]: unknown
}

/** The `event` of a message about a completed task. */
export type ActionCompletedActivity = {
  /** Type of the event. */
  type: 'action_completed'
  /** The task and its XP. */
  data: ActionCompletedData
}

/** The `event` of a message about a completed quest. */
export type QuestCompletedActivity = {
  /** Type of the event. */
  type: 'quest_completed'
  /** Details of the quest. */
  data: QuestCompletedData
}

/**
 * The payload of a `user_activity` message. Only the fields that a handler acts on are required. Any other field is absent if
 * the service did not send it with its documented type; `wallet`, `email` and `team` are then empty. Undocumented fields are
 * kept, without types.
 *
 * See "Message" in docs/the-service.md. The API description does not say which fields are required.
 */
export type UserActivity<
  Activity extends ActionCompletedActivity | QuestCompletedActivity = ActionCompletedActivity | QuestCompletedActivity,
> = {
  /** Unique ID of this message. */
  id: string
  /** Kind of event that triggered the message. */
  scope: 'user_activity'
  /** ID of the user who acted. */
  user: string
  /** ID of the user. The API description shows it only in the admin panel's Test message. */
  user_id?: string
  /** Connected wallet address; empty without a wallet. */
  wallet: string
  /** E-mail address of the user; empty without an address. */
  email: string
  /** The campaign. */
  campaign: EventCampaign
  /** What happened. */
  event: Activity
  /** Total XP of the user. */
  total_xp?: number
  /** XP from referrals. */
  ref_xp?: number
  /** XP from user-generated content. */
  ugc_xp?: number
  /** XP multiplier. */
  xp_mul?: number
  /** Rank of the user on the leaderboard of the campaign. */
  rank?: number
  /** Team of the user; empty without a team. */
  team: string
}

/** How one field is read. A field of another type is removed, unless the rule has `required` or `defaultsToEmpty`. */
export interface FieldRule {
  readonly type: 'string' | 'number' | 'object'
  /** Without this field, its object is removed, and a message is unknown. */
  readonly required?: true
  /** A missing field, or one of another type, is read as `''` or `{}`. */
  readonly defaultsToEmpty?: true
  /** Null is not an issue. */
  readonly nullable?: true
  /** Absence is not an issue. */
  readonly optional?: true
  /** The documented fields of an object. */
  readonly fields?: FieldRules
}

/** The rules of the documented fields of an object. Other fields are kept. */
export type FieldRules = Readonly<Record<string, FieldRule>>

/** Removes the index signature of a type. */
type Declared<Value> = { [Name in keyof Value as string extends Name ? never : Name]: Value[Name] }

/**
 * The rules that fit a type. The compiler reports a field without a rule, a rule of another type, and a rule that can remove a
 * field that the type requires.
 */
type RulesOf<Fields> = {
  readonly [Name in keyof Declared<Fields>]-?: FieldRule & {
    type: NonNullable<Fields[Name]> extends string
      ? 'string'
      : NonNullable<Fields[Name]> extends number
        ? 'number'
        : 'object'
  } & (undefined extends Fields[Name]
      ? { required?: never; defaultsToEmpty?: never }
      : { required: true } | { defaultsToEmpty: true })
}

const CAMPAIGN: RulesOf<EventCampaign> = { id: { type: 'string', required: true }, name: { type: 'string' } }

const ACTION: RulesOf<EventAction> = {
  id: { type: 'string', required: true },
  name: { type: 'string' },
  type: { type: 'string' },
  meta: { type: 'object', nullable: true, optional: true },
}

const ACTION_COMPLETED: RulesOf<ActionCompletedData> = {
  action: { type: 'object', required: true, fields: ACTION },
  account: { type: 'string', nullable: true, optional: true },
  xp: { type: 'number', required: true },
}

const QUEST_COMPLETED: RulesOf<QuestCompletedData> = {
  action: { type: 'object', optional: true, fields: ACTION },
  account: { type: 'string', nullable: true, optional: true },
  xp: { type: 'number', optional: true },
}

/** The rule of `event.data`, by the type of the event. */
export const EVENT_DATA = {
  action_completed: { type: 'object', required: true, fields: ACTION_COMPLETED },
  quest_completed: { type: 'object', defaultsToEmpty: true, fields: QUEST_COMPLETED },
} as const satisfies Record<UserActivity['event']['type'], FieldRule>

/** The rules of a message, without `id`, `scope` and `event`. */
export const MESSAGE: RulesOf<Omit<UserActivity, 'id' | 'scope' | 'event'>> = {
  user: { type: 'string', required: true },
  user_id: { type: 'string', nullable: true, optional: true },
  wallet: { type: 'string', nullable: true, defaultsToEmpty: true },
  email: { type: 'string', nullable: true, defaultsToEmpty: true },
  campaign: { type: 'object', required: true, fields: CAMPAIGN },
  total_xp: { type: 'number' },
  ref_xp: { type: 'number' },
  ugc_xp: { type: 'number' },
  xp_mul: { type: 'number' },
  rank: { type: 'number' },
  team: { type: 'string', nullable: true, optional: true, defaultsToEmpty: true },
}

/** A message that was read by the rules. */
interface ActivityRead {
  /** `scope` of the message, if that is text. */
  readonly scope?: string
  /** `event.type` of the message, if that is text. */
  readonly type?: string
  /** A copy with the documented types. Absent if a required field is missing, or the scope or type is undocumented. */
  readonly activity?: UserActivity
  /** The documented fields that are missing or of another type. */
  readonly issues: readonly Issue[]
}

/**
 * Reads a message. Never throws. The types, the schema `userActivity`, the events of the receiver and the OpenAPI document
 * follow the same rules.
 */
export function readUserActivity(message: Readonly<Record<string, unknown>> & { id: string }): ActivityRead {
  const issues: Issue[] = []
  const scope = readField(message, 'scope', { type: 'string' }, [], issues) as string | undefined
  const event = ownField(message, 'event')
  if (scope !== 'user_activity') {
    const type = isRecord(event) ? ownField(event, 'type') : undefined
    return { ...(scope !== undefined && { scope }), ...(typeof type === 'string' && { type }), issues }
  }
  if (!isRecord(event)) {
    issues.push({ path: ['event'], message: expected('object', event) })
    return { scope, issues }
  }
  const type = readField(event, 'type', { type: 'string' }, ['event'], issues) as string | undefined
  if (type === undefined) return { scope, issues }
  if (!isActivityType(type)) return { scope, type, issues }
  const fields = readFields(message, MESSAGE, [], issues)
  const withData = readFields(event, { data: EVENT_DATA[type] }, ['event'], issues)
  if (fields === undefined || withData === undefined) return { scope, type, issues }
  return { scope, type, activity: { ...fields, event: withData } as unknown as UserActivity, issues }
}

const isActivityType = (type: string): type is keyof typeof EVENT_DATA => Object.hasOwn(EVENT_DATA, type)

type Path = Issue['path']

/** Copies an object with its documented fields read. Returns `undefined` if a required field is missing. */
function readFields(
  source: Readonly<Record<string, unknown>>,
  rules: FieldRules,
  path: Path,
  issues: Issue[],
): Record<string, unknown> | undefined {
  const copy: Record<string, unknown> = { ...source }
  let isComplete = true
  for (const [name, rule] of Object.entries(rules)) {
    const value = readField(source, name, rule, path, issues)
    if (value !== undefined) copy[name] = value
    else if (rule.required) isComplete = false
    else delete copy[name]
  }
  return isComplete ? copy : undefined
}

/** Reads one field. Returns `undefined` for a field that must be removed. */
function readField(
  source: Readonly<Record<string, unknown>>,
  name: string,
  { type, defaultsToEmpty, nullable, optional, fields }: FieldRule,
  path: Path,
  issues: Issue[],
): unknown {
  const value = ownField(source, name)
  if (type === 'object' ? isRecord(value) : type === 'number' ? Number.isFinite(value) : typeof value === 'string') {
    return fields ? readFields(value as Record<string, unknown>, fields, [...path, name], issues) : value
  }
  const isDocumented = value === undefined ? optional : value === null && nullable
  if (!isDocumented) issues.push({ path: [...path, name], message: expected(type, value) })
  if (type === 'number' && isDecimal(value)) return Number(value)
  if (!defaultsToEmpty) return undefined
  return fields ? {} : ''
}

function expected(type: FieldRule['type'], value: unknown): string {
  const name = type === 'number' ? 'a finite number' : type
  if (value === undefined) return `expected ${name}, but the field is missing`
  return `expected ${name}, received ${type === 'number' && isDecimal(value) ? 'a numeric string' : typeName(value)}`
}

const isDecimal = (value: unknown): boolean =>
  typeof value === 'string' && DECIMAL.test(value) && Number.isFinite(Number(value))

/** Reads an own field of a message. Ignores fields that other code has added to `Object.prototype`. */
const ownField = (source: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(source, name) ? source[name] : undefined
