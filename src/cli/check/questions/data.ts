import type { $ZodArray, $ZodObject, $ZodOptional, $ZodType } from 'zod/v4/core'
import { campaignInfo } from '../../../endpoints/get-campaign-info.ts'
import * as schemas from '../../../endpoints/schemas.ts'
import { isRecord, typeName } from '../../../shared/type-checks.ts'
import { dataOf, isReply } from '../probe.ts'
import {
  asAssumed,
  type Check,
  describeReply,
  detailOf,
  differs,
  noData,
  type Question,
  READS,
  type ReadOperation,
} from '../question.ts'

const SCHEMAS = {
  getCampaignInfo: schemas.campaignInfo,
  getCampaignPoints: schemas.campaignPoints,
  getUserProgress: schemas.userProgress,
  getUserProfiles: schemas.userProfiles,
  getInviteCode: schemas.inviteCode,
} satisfies Record<ReadOperation, unknown>

const MAX_PATHS = 20
/** An object with more unlisted fields is treated as a map. Its keys may be personal data, so they are not shown. */
const MAX_UNLISTED = 10

const needsOf = (operation: ReadOperation) => READS[operation].filter((name) => name !== 'pid')

const shapeOf = (operation: ReadOperation): Question => ({
  id: `shapes.${operation}`,
  text: `data of ${operation}`,
  assumed: 'fits the API description',
  needs: needsOf(operation),
  ask: (check) => check.read(operation),
  judge(check) {
    const outcome = check.reads.get(operation)
    if (!isReply(outcome) || outcome.kind === 'error' || outcome.status >= 400) return noData(outcome)
    const advice = "set responseValidation: 'report', and report the difference to the maintainers of campaign-client"
    if (outcome.kind === 'other') return differs(describeReply(outcome), advice, detailOf(outcome))
    const { success, error } = SCHEMAS[operation].safeParse(outcome.data)
    if (success) return asAssumed()
    const paths = [...new Set(error.issues.map(({ path }) => pathOf(path)))].slice(0, MAX_PATHS)
    return differs(`wrong: ${paths.join(', ')}`, advice, { paths })
  },
})

const otherFieldsOf = (operation: ReadOperation): Question => ({
  id: `shapes.${operation}.unlisted`,
  text: `other fields of ${operation}`,
  assumed: 'none',
  needs: needsOf(operation),
  judge(check) {
    const outcome = check.reads.get(operation)
    const data = dataOf(outcome)
    if (data === undefined) return noData(outcome)
    const found = unlistedFields(SCHEMAS[operation] as unknown as $ZodType, data, [], check)
    if (found.length === 0) return asAssumed()
    const paths = [...new Set(found.map(({ shown }) => shown))].slice(0, MAX_PATHS)
    const count = new Set(found.map(({ path }) => path)).size
    const total = count > paths.length ? ` (${count} in total)` : ''
    const advice = 'nothing to do: the client keeps unknown fields'
    return differs(`${paths.join(', ')}${total}`, advice, { paths, count })
  },
})

interface UnlistedField {
  readonly path: string
  /** Path and type. A name that may be personal data is `*`. */
  readonly shown: string
}

/** Finds the fields that a schema does not list. Does not search inside them. */
function unlistedFields(
  schema: $ZodType,
  value: unknown,
  path: readonly PropertyKey[],
  check: Check,
): readonly UnlistedField[] {
  const { type } = schema._zod.def
  if (type === 'optional' || type === 'nullable') {
    return unlistedFields((schema as $ZodOptional)._zod.def.innerType, value, path, check)
  }
  if (type === 'array' && Array.isArray(value)) {
    const { element } = (schema as $ZodArray)._zod.def
    return value.flatMap((item, index) => unlistedFields(element, item, [...path, index], check))
  }
  if (type !== 'object' || !isRecord(value)) return []
  const { shape } = (schema as $ZodObject)._zod.def
  const others = Object.keys(value).filter((name) => !Object.hasOwn(shape, name))
  const isMap = others.length > MAX_UNLISTED || !others.every((name) => isFieldName(name, check))
  const own = others.map((name) => ({
    path: pathOf([...path, name]),
    shown: `${pathOf([...path, isMap ? '*' : name])}: ${typeName(value[name])}`,
  }))
  const nested = Object.entries(shape).flatMap(([name, field]) =>
    Object.hasOwn(value, name) ? unlistedFields(field, value[name], [...path, name], check) : [],
  )
  return [...own, ...nested]
}

/** Returns whether a key looks like a field name and contains neither the token nor an argument. */
function isFieldName(key: string, { args, probe }: Check): boolean {
  if (!/^[a-z][a-z0-9_]{0,40}$/i.test(key)) return false
  const given = [probe.options.token, ...Object.values(args)].filter((value) => typeof value === 'string')
  return !given.some((value) => value !== '' && key.toLowerCase().includes(value.toLowerCase()))
}

/** Formats a path without indexes: `actions[].id`. */
const pathOf = (path: readonly PropertyKey[]): string => {
  const parts = path.map((part) => (typeof part === 'number' ? '[]' : String(part)))
  return parts.join('.').replaceAll('.[]', '[]') || 'data'
}

const LISTS = ['actions', 'quests', 'challenges'] as const

const statuses: Question = {
  id: 'shapes.statuses',
  text: "statuses in a user's progress",
  assumed: 'none and completed',
  needs: needsOf('getUserProgress'),
  judge(check) {
    const outcome = check.reads.get('getUserProgress')
    const { data } = schemas.userProgress.safeParse(dataOf(outcome))
    if (data === undefined) return noData(outcome)
    const found = LISTS.flatMap((list) =>
      data[list].filter(({ status }) => !/^(?:none|completed)$/.test(status)).map(() => `${list}[].status`),
    )
    if (found.length === 0) return asAssumed()
    const detail = { paths: [...new Set(found)], count: found.length }
    const note = `${detail.count} other values in ${detail.paths.join(', ')}`
    return differs(note, 'handle other strings in your switch over status', detail)
  },
}

const operations = Object.keys(READS) as ReadOperation[]

export const shapes: readonly Question[] = [
  ...operations.flatMap((operation) => [shapeOf(operation), otherFieldsOf(operation)]),
  statuses,
]

/** A task or a quest; only quests have `actions`. */
interface Item {
  readonly id: string
  readonly actions?: readonly string[]
  readonly deps: readonly string[]
}

/** Returns the dependencies of an item. A quest also depends on its tasks. */
const dependenciesOf = ({ deps, actions = [] }: Item): readonly string[] => [...deps, ...actions]

/** Counts the items that depend on a cycle: those that a topological sort (Kahn's algorithm) leaves. */
function countBlocked(items: readonly Item[]): number {
  /** The number of items that are left, by ID. An ID may occur twice. */
  const itemsLeft = new Map<string, number>()
  for (const { id } of items) itemsLeft.set(id, (itemsLeft.get(id) ?? 0) + 1)
  const dependants = new Map<string, Item[]>([...itemsLeft.keys()].map((id) => [id, []]))
  /** The number of dependencies that are left, by item. */
  const dependenciesLeft = new Map<Item, number>()
  for (const item of items) {
    const dependencies = [...new Set(dependenciesOf(item))].filter((id) => itemsLeft.has(id))
    dependenciesLeft.set(item, dependencies.length)
    for (const id of dependencies) dependants.get(id)?.push(item)
  }
  const removed = items.filter((item) => dependenciesLeft.get(item) === 0)
  // The list grows in the loop.
  for (const { id } of removed) {
    const withSameId = (itemsLeft.get(id) ?? 0) - 1
    itemsLeft.set(id, withSameId)
    if (withSameId > 0) continue
    for (const item of dependants.get(id) ?? []) {
      const count = (dependenciesLeft.get(item) ?? 0) - 1
      dependenciesLeft.set(item, count)
      if (count === 0) removed.push(item)
    }
  }
  return items.length - removed.length
}

const MISTAKES = [
  {
    id: 'campaign.missing-ids',
    text: 'dependencies',
    assumed: 'all exist',
    unit: 'tasks or quests that depend on a missing ID',
    count(items: readonly Item[]): number {
      const ids = new Set(items.map(({ id }) => id))
      return items.filter((item) => dependenciesOf(item).some((id) => !ids.has(id))).length
    },
  },
  {
    id: 'campaign.circles',
    text: 'cycles of dependencies',
    assumed: 'none',
    unit: 'tasks or quests that depend on a cycle',
    count: countBlocked,
  },
  {
    id: 'campaign.empty-quests',
    text: 'quests without tasks',
    assumed: 'none',
    unit: 'quests',
    count: (items: readonly Item[]): number => items.filter(({ actions }) => actions?.length === 0).length,
  },
]

export const campaign: readonly Question[] = MISTAKES.map(({ id, text, assumed, unit, count }) => ({
  id,
  text,
  assumed,
  judge({ reads }) {
    const outcome = reads.get('getCampaignInfo')
    const { data } = campaignInfo.safeParse(dataOf(outcome))
    if (data === undefined) return noData(outcome)
    const found = count([...data.actions, ...data.quests])
    if (found === 0) return asAssumed()
    return differs(`${found} ${unit}`, 'correct the campaign in the admin panel', { count: found })
  },
}))
