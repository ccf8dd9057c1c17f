import { EVENT_DATA, type FieldRule, type FieldRules, MESSAGE } from '../../src/schemas/read-user-activity.ts'
import { type Project, plain } from '../comments.ts'

/** A JSON Schema. */
export type Schema = Record<string, unknown>

/** The schema name of each message, by the type of its event. */
export const MESSAGE_NAMES = {
  action_completed: 'ActionCompletedMessage',
  quest_completed: 'QuestCompletedMessage',
} as const

type EventType = keyof typeof MESSAGE_NAMES

/** The types whose comments describe a message, its `event` and its `event.data`, by the type of the event. */
const COMMENTED_TYPES = {
  action_completed: { message: 'ActionCompletedEvent', event: 'ActionCompletedActivity', data: 'ActionCompletedData' },
  quest_completed: { message: 'QuestCompletedEvent', event: 'QuestCompletedActivity', data: 'QuestCompletedData' },
} as const

/** The types of objects inside a message. */
const OBJECT_TYPES: Readonly<Record<string, string>> = { campaign: 'EventCampaign', action: 'EventAction' }

/**
 * Returns the schemas of webhook messages and of their parts, by name: the documented type of each field. Only the fields that
 * a handler acts on are required.
 */
export function messageSchemas(project: Project): Map<string, Schema> {
  const named = new Map<string, Schema>()
  for (const type of Object.keys(MESSAGE_NAMES) as EventType[]) {
    named.set(MESSAGE_NAMES[type], ofMessage(type, project, named))
  }
  return named
}

function ofMessage(type: EventType, project: Project, named: Map<string, Schema>): Schema {
  const { message, event, data } = COMMENTED_TYPES[type]
  const described = (typeName: string, schema: Schema): Schema => ({
    ...schema,
    description: plain(project.description(typeName)),
  })
  const commented = (name: string, schema: Schema): Schema => ({
    ...schema,
    description: plain(project.members('UserActivity').get(name)?.description ?? ''),
  })
  const eventFields = {
    type: { type: 'string', const: type, description: 'Type of the event.' },
    data: described(data, ofFields(EVENT_DATA[type].fields, data, project, named)),
  }
  const requiredOfEvent = 'required' in EVENT_DATA[type] ? ['type', 'data'] : ['type']
  named.set(event, described(event, objectSchema(eventFields, requiredOfEvent)))
  const { properties, required } = ofFields(MESSAGE, 'UserActivity', project, named)
  const fields = {
    id: commented('id', { type: 'string', minLength: 1 }),
    scope: commented('scope', { type: 'string', const: 'user_activity' }),
    ...(properties as Schema),
    event: commented('event', { $ref: `#/components/schemas/${event}` }),
  }
  return described(message, objectSchema(fields, ['id', 'scope', 'event', ...(required as string[])]))
}

function ofFields(rules: FieldRules, typeName: string, project: Project, named: Map<string, Schema>): Schema {
  const comments = project.members(typeName)
  const properties = Object.entries(rules).map(([name, rule]) => {
    const description = plain(comments.get(name)?.description ?? '')
    return [name, { ...ofField(name, rule, project, named), description }] as const
  })
  const required = Object.keys(rules).filter((name) => rules[name]?.required)
  return objectSchema(Object.fromEntries(properties), required)
}

function ofField(name: string, rule: FieldRule, project: Project, named: Map<string, Schema>): Schema {
  const typeName = rule.fields && OBJECT_TYPES[name]
  if (rule.fields === undefined || typeName === undefined) {
    return {
      type: rule.nullable ? [rule.type, 'null'] : rule.type,
      ...(rule.type === 'object' && { additionalProperties: {} }),
    }
  }
  const description = plain(project.description(typeName))
  named.set(typeName, { ...ofFields(rule.fields, typeName, project, named), description })
  return { $ref: `#/components/schemas/${typeName}` }
}

const objectSchema = (properties: Schema, required: readonly string[]): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: {},
})
