import * as schemas from 'campaign-client/schemas'
import type { $ZodArray, $ZodObject, $ZodOptional, $ZodType } from 'zod/v4/core'
import { isRecord, typeName } from '../../shared/types.ts'
import { dataOf, isReply } from './probe.ts'
import {
  argumentsOf,
  asAssumed,
  type Check,
  differs,
  type Group,
  noData,
  type Question,
  type ReadOperation,
} from './question.ts'

const SCHEMAS = {
  getCampaignInfo: schemas.campaignInfo,
  getCampaignPoints: schemas.campaignPoints,
  getUserProgress: schemas.userProgress,
  getUserProfiles: schemas.userProfiles,
  getInviteCode: schemas.inviteCode,
} satisfies Record<ReadOperation, { safeParse(value: unknown): unknown }>

const READS = Object.keys(SCHEMAS) as ReadOperation[]
const MAX_PATHS = 20
/** An object with more unlisted fields than this is taken for a map, whose keys may be values of users. */
const MAX_UNLISTED = 10

const needsOf = (operation: ReadOperation) => argumentsOf(operation).filter((name) => name !== 'pid')

const shapeOf = (operation: ReadOperation): Question => ({
  id: `shapes.${operation}`,
  text: `data of ${operation}`,
  assumed: 'fits the interface',
  needs: needsOf(operation),
  async ask(check) {
    await check.read(operation)
  },
  judge(check) {
    const outcome = check.outcome(operation)
    if (!isReply(outcome) || outcome.body.kind === 'error' || outcome.status >= 400) return noData(outcome)
    const advice = "read it with responseValidation: 'report', and tell the maintainers of campaign-client"
    if (outcome.body.kind === 'other')
      return differs(`the answer has ${outcome.body.form}`, advice, { form: outcome.body.form })
    const { success, error } = SCHEMAS[operation].safeParse(outcome.body.data)
    if (success) return asAssumed()
    const found = error.issues.map(({ path }) =>
      pathOf(path.map((part) => (typeof part === 'number' ? '[]' : String(part)))),
    )
    const paths = [...new Set(found)].slice(0, MAX_PATHS)
    return differs(`wrong: ${paths.join(', ')}`, advice, { paths })
  },
})

const fieldsOf = (operation: ReadOperation): Question => ({
  id: `shapes.${operation}.unlisted`,
  text: `other fields of ${operation}`,
  assumed: 'none',
  needs: needsOf(operation),
  judge(check) {
    const data = dataOf(check.outcome(operation))
    if (data === undefined) return noData(check.outcome(operation))
    const found = new Set<string>()
    unlisted(SCHEMAS[operation] as unknown as $ZodType, data, [], found, check)
    if (found.size === 0) return asAssumed()
    const paths = [...found].slice(0, MAX_PATHS)
    return differs(paths.join(', '), 'nothing to do: unknown fields are kept, without a type', {
      paths,
      count: found.size,
    })
  },
})

/** Collects paths and types of the fields that a schema does not list. It goes no deeper than the schema. */
function unlisted(schema: $ZodType, value: unknown, path: readonly string[], found: Set<string>, check: Check): void {
  const { type } = schema._zod.def
  if (type === 'optional' || type === 'nullable') {
    unlisted((schema as $ZodOptional)._zod.def.innerType, value, path, found, check)
  } else if (type === 'array' && Array.isArray(value)) {
    for (const item of value) unlisted((schema as $ZodArray)._zod.def.element, item, [...path, '[]'], found, check)
  } else if (type === 'object' && isRecord(value)) {
    const { shape } = (schema as $ZodObject)._zod.def
    const others = Object.keys(value).filter((name) => !Object.hasOwn(shape, name))
    for (const name of others) {
      const shown = others.length <= MAX_UNLISTED && check.isFieldName(name) ? name : '*'
      found.add(`${pathOf([...path, shown])}: ${typeName(value[name])}`)
    }
    for (const [name, field] of Object.entries(shape)) {
      if (Object.hasOwn(value, name)) unlisted(field, value[name], [...path, name], found, check)
    }
  }
}

const pathOf = (parts: readonly string[]): string => parts.join('.').replaceAll('.[]', '[]') || 'data'

const LISTS = ['actions', 'quests', 'challenges'] as const

const statuses: Question = {
  id: 'shapes.statuses',
  text: 'statuses in progress',
  assumed: 'none and completed',
  needs: needsOf('getUserProgress'),
  judge(check) {
    const data = dataOf(check.outcome('getUserProgress'))
    if (!isRecord(data)) return noData(check.outcome('getUserProgress'))
    const unknown = LISTS.map((list) => {
      const items: unknown[] = Array.isArray(data[list]) ? data[list] : []
      const others = items.filter(
        (item) => isRecord(item) && typeof item.status === 'string' && !/^(?:none|completed)$/.test(item.status),
      )
      return { path: `${list}[].status`, count: others.length }
    }).filter(({ count }) => count > 0)
    if (unknown.length === 0) return asAssumed()
    const paths = unknown.map(({ path }) => path)
    const count = unknown.reduce((sum, each) => sum + each.count, 0)
    return differs(`${count} others in ${paths.join(', ')}`, 'handle other strings in your switch over status', {
      paths,
      count,
    })
  },
}

export const shapes: Group = {
  title: 'shapes',
  questions: [...READS.flatMap((operation) => [shapeOf(operation), fieldsOf(operation)]), statuses],
}
