import type { CampaignInfo, Metadata } from 'campaign-client'
import { toVisible } from '../../shared/text/visible-text.ts'

interface Item {
  readonly id: string
  readonly name: string
  readonly meta?: Metadata | null | undefined
}

/**
 * Writes the types of a campaign. Sorts the IDs, so that a small change of the campaign is a small diff. Escapes names and
 * IDs, so that they cannot end their comment or string.
 */
export function writeTypes({ id, name, actions, quests }: CampaignInfo): string {
  const tasks = sorted(actions)
  const sortedQuests = sorted(quests)
  return [
    `// Campaign ${toVisible(id)}: ${toVisible(name)}`,
    '// Written by `campaign-client types`. Do not edit: run the command again when the campaign changes.',
    '',
    '/** ID of a task: `aid` in calls, `id` in progress and webhook messages. */',
    union('TaskId', tasks),
    '',
    '/** ID of a quest: `cid` in calls, `id` in progress and webhook messages. */',
    union('QuestId', sortedQuests),
    '',
    '/** Metadata of each task when this file was written. */',
    metadata('TaskMeta', tasks),
    '',
    '/** Metadata of each quest when this file was written. */',
    metadata('QuestMeta', sortedQuests),
    '',
  ].join('\n')
}

/** Sorts by ID and removes duplicates. */
function sorted(items: readonly Item[]): readonly Item[] {
  const byId = new Map(items.map((item) => [item.id, item]))
  // By UTF-16 code unit: the order of a locale differs between machines.
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

function union(type: string, items: readonly Item[]): string {
  if (items.length === 0) return `export type ${type} = never`
  return `export type ${type} =\n${items.map(({ id, name }) => `  | ${literal(id)} // ${toVisible(name)}`).join('\n')}`
}

function metadata(type: string, items: readonly Item[]): string {
  if (items.length === 0) return `export type ${type} = Record<never, never>`
  const fields = items.map(({ id, meta }) => `  ${key(id)}: ${typeOf(meta ?? {}, 1)}`)
  return `export interface ${type} {\n${fields.join('\n')}\n}`
}

/** Deeper values become `unknown`. */
const MAX_DEPTH = 8

function typeOf(value: unknown, depth: number): string {
  if (value === null) return 'null'
  if (depth > MAX_DEPTH) return 'unknown'
  if (Array.isArray(value)) return arrayType(value, depth)
  if (typeof value === 'object') return objectType(value as Record<string, unknown>, depth)
  return typeof value
}

function arrayType(values: readonly unknown[], depth: number): string {
  const types = [...new Set(values.map((value) => typeOf(value, depth + 1)))].sort()
  return types.length === 0
    ? 'unknown[]'
    : types.length === 1 && /^\w+$/.test(types[0] ?? '')
      ? `${types[0]}[]`
      : `(${types.join(' | ')})[]`
}

function objectType(value: Record<string, unknown>, depth: number): string {
  const names = Object.keys(value).sort()
  if (names.length === 0) return 'Record<string, never>'
  return `{ ${names.map((name) => `${key(name)}: ${typeOf(value[name], depth + 1)}`).join('; ')} }`
}

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name))

/** Formats a text as a string literal. */
const literal = (text: string): string =>
  `'${toVisible(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')).replaceAll("'", "\\'")}'`
