import { isRecord } from '../../shared/type-checks.ts'
import type { ActionCompletedActivity, QuestCompletedActivity, UserActivity, WebhookEvent } from './webhook-event.ts'

/**
 * Gives a message its `kind`. Never throws: a message that differs from the documented shapes is `unknown`.
 *
 * @param payload - the parsed message
 */
export function classifyEvent(payload: Record<string, unknown> & { id: string }): WebhookEvent {
  const { id, scope, event } = payload
  const type = isRecord(event) ? event.type : undefined
  if (scope === 'user_activity') {
    // TypeScript can't narrow by a discriminant two levels down, so each kind has its own branch.
    if (type === 'action_completed' && isUserActivity<ActionCompletedActivity>(payload, isActionCompletedData)) {
      return { kind: type, id, scope, type, payload }
    }
    if (type === 'quest_completed' && isUserActivity<QuestCompletedActivity>(payload, isQuestCompletedData)) {
      return { kind: type, id, scope, type, payload }
    }
  }
  return {
    kind: 'unknown',
    id,
    ...(typeof scope === 'string' && { scope }),
    ...(typeof type === 'string' && { type }),
    payload,
  }
}

function isUserActivity<Activity extends ActionCompletedActivity | QuestCompletedActivity>(
  payload: Record<string, unknown>,
  isData: (data: Record<string, unknown>) => boolean,
): payload is Record<string, unknown> & UserActivity<Activity> {
  const { campaign, event } = payload
  return (
    all(payload, 'string', ['user', 'wallet', 'email']) &&
    all(payload, 'number', ['total_xp', 'ref_xp', 'ugc_xp', 'xp_mul', 'rank']) &&
    optional(payload, 'string', ['user_id', 'team']) &&
    isRecord(campaign) &&
    all(campaign, 'string', ['id', 'name']) &&
    isRecord(event) &&
    isRecord(event.data) &&
    isData(event.data)
  )
}

const isActionCompletedData = (data: Record<string, unknown>): boolean =>
  isAction(data.action) && all(data, 'number', ['xp']) && optional(data, 'string', ['account'])

const isQuestCompletedData = (data: Record<string, unknown>): boolean =>
  (data.action === undefined || isAction(data.action)) &&
  optional(data, 'number', ['xp']) &&
  optional(data, 'string', ['account'])

const isAction = (action: unknown): boolean =>
  isRecord(action) &&
  all(action, 'string', ['id', 'name', 'type']) &&
  (action.meta === undefined || action.meta === null || isRecord(action.meta))

type Primitive = 'string' | 'number'

const all = (object: Record<string, unknown>, type: Primitive, fields: readonly string[]): boolean =>
  fields.every((field) => isOf(type, object[field]))

const optional = (object: Record<string, unknown>, type: Primitive, fields: readonly string[]): boolean =>
  fields.every((field) => object[field] === undefined || isOf(type, object[field]))

/** Numbers must be finite: JSON.parse reads 1e400 as Infinity. */
const isOf = (type: Primitive, value: unknown): boolean =>
  type === 'number' ? Number.isFinite(value) : typeof value === 'string'
