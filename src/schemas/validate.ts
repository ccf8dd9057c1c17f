import { type $ZodIssue, type $ZodType, type $ZodTypes, safeParse } from 'zod/v4/core'
import { type Issue, type Issues, MAX_ISSUES } from '../shared/issue.ts'
import { DECIMAL } from '../shared/text.ts'
import { isRecord, typeName } from '../shared/type-checks.ts'

/** The validated value, or its issues. */
type Validated<Value> = { readonly ok: true; readonly value: Value } | ({ readonly ok: false } & Issues)

/** From this number of list entries on, entries are checked one by one: zod makes all issues of a value at once. */
const MANY_ENTRIES = 5_000
/** The search for issues ends at this number. */
const MAX_COUNT = 100_000

/**
 * Validates a value against a schema, and returns it as the schema reads it. Lists the first {@link MAX_ISSUES} issues, and counts
 * at most about {@link MAX_COUNT}: the issues of a small compressed response could fill the memory.
 *
 * @param path - the path of the value from the root of the argument or response
 */
export function validate<Value>(schema: $ZodType<Value>, value: unknown, path: Issue['path'] = []): Validated<Value> {
  if (countEntries(value) >= MANY_ENTRIES) {
    const found = { issues: [], count: 0 }
    findIssues(schema, value, path, found)
    if (found.count > 0) return { ok: false, issues: found.issues, moreIssues: found.count - found.issues.length }
  }
  const { success, data, error } = safeParse(schema, value)
  if (success) return { ok: true, value: data }
  const issues = error.issues.slice(0, MAX_ISSUES).map((issue) => toIssue(issue, value, path))
  return { ok: false, issues, moreIssues: error.issues.length - issues.length }
}

/** Counts the entries of all lists in a value, at least up to {@link MANY_ENTRIES}. Not recursive: the value may be very deep. */
function countEntries(value: unknown): number {
  const open = [value]
  let count = 0
  while (open.length > 0 && count < MANY_ENTRIES) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next)) count += next.length
    for (const inner of Object.values(next)) if (typeof inner === 'object') open.push(inner)
  }
  return count
}

interface Found {
  readonly issues: Issue[]
  count: number
}

/** Checks a value field by field and entry by entry, until there are {@link MAX_COUNT} issues. */
function findIssues(schema: $ZodType, value: unknown, path: Issue['path'], found: Found): void {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'object' && isRecord(value)) {
    for (const [name, field] of Object.entries(def.shape)) findIssues(field, own(value, name), [...path, name], found)
  } else if (def.type === 'array' && Array.isArray(value)) {
    for (let index = 0; index < value.length && found.count < MAX_COUNT; index++) {
      findIssues(def.element, value[index], [...path, index], found)
    }
  } else {
    for (const issue of safeParse(schema, value).error?.issues ?? []) {
      found.count++
      if (found.issues.length < MAX_ISSUES) found.issues.push(toIssue(issue, value, path))
    }
  }
}

/**
 * Copies the fields that an object schema declares, except `undefined` ones. Each field is read once, so that a getter
 * cannot replace a validated value.
 */
export function copyOfFields(schema: $ZodType, value: unknown): unknown {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type !== 'object' || !isRecord(value)) return value
  const fields = Object.keys(def.shape).map((name) => [name, value[name]])
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined))
}

/**
 * Converts an issue of zod.
 *
 * @param value - the validated value
 * @param path - the path of that value from the root
 */
export function toIssue(issue: $ZodIssue, value: unknown, path: readonly (string | number)[] = []): Issue {
  const inner = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
  return { path: [...path, ...inner], message: expectation(issue, inner.reduce(own, value)) }
}

/** Describes the expected value. zod's own messages need a locale, which would make every bundle larger. */
function expectation(issue: $ZodIssue, value: unknown): string {
  if (issue.code === 'invalid_type') return `expected ${expected(issue.expected)}, received ${typeName(value)}`
  if (issue.code === 'invalid_union') {
    if (typeof value === 'string' && DECIMAL.test(value)) return 'expected a finite number, received one out of range'
    const types = issue.errors.flatMap((branch) =>
      branch.flatMap((inner) => (inner.code === 'invalid_type' ? [expected(inner.expected)] : [])),
    )
    // In a union, only the schema of a string format has its own message.
    const described = issue.errors.flat().find((inner) => inner.code === 'invalid_format')?.message
    return described ?? `expected ${[...new Set(types)].join(' or ')}, received ${typeName(value)}`
  }
  return issue.message
}

const expected = (type: string): string => (type === 'number' ? 'a finite number' : type)

function own(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
