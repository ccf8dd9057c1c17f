import type { CampaignInfo, Metadata } from 'campaign-client'
import { toVisible } from '../../shared/text/visible-text.ts'

interface Item {
  readonly id: string
  readonly name: string
  readonly meta?: Metadata | null | undefined
}

/**
 * The types of a campaign. Sorted, so that the same campaign gives the same text and a change of it a small one. Names
 * and ids are somebody else's: they can leave neither their comment nor their string.
 */
export function writeTypes({ id, name, actions, quests }: CampaignInfo): string {
  const tasks = sorted(actions)
  const groups = sorted(quests)
  return [
    `// Campaign ${comment(id)}: ${comment(name)}`,
    '// Written by `campaign-client types`: write it again when the campaign has changed, do not edit it.',
    '',
    '/** ID of a task: `aid` in calls, `id` in progress and webhook messages. */',
    union('TaskId', tasks),
    '',
    '/** ID of a quest: `cid` in calls, `id` in progress and webhook messages. */',
    union('QuestId', groups),
    '',
    '/** Metadata of each task, as it is today. */',
    metadata('TaskMeta', tasks),
    '',
    '/** Metadata of each quest, as it is today. */',
    metadata('QuestMeta', groups),
    '',
  ].join('\n')
}

/** By ID, each once. */
function sorted(items: readonly Item[]): readonly Item[] {
  const byId = new Map(items.map((item) => [item.id, item]))
  // By UTF-16 unit: the order of a language would differ from machine to machine.
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

function union(type: string, items: readonly Item[]): string {
  if (items.length === 0) return `export type ${type} = never`
  return `export type ${type} =\n${items.map(({ id, name }) => `  | ${literal(id)} // ${comment(name)}`).join('\n')}`
}

function metadata(type: string, items: readonly Item[]): string {
  if (items.length === 0) return `export type ${type} = Record<never, never>`
  const fields = items.map(({ id, meta }) => `  ${key(id)}: ${typeOf(meta ?? {}, 1)}`)
  return `export interface ${type} {\n${fields.join('\n')}\n}`
}

/** What is nested deeper is of no use as a type, and may be there to exhaust us. */
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

/** A string literal of TypeScript in single quotes. Whatever could end it is escaped. */
const literal = (text: string): string =>
  `'${toVisible(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')).replaceAll("'", "\\'")}'`

/** Text inside a comment that ends with its line. */
const comment = (text: string): string => toVisible(text)
