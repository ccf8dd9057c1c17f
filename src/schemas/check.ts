import { type $ZodIssue, type $ZodType, type $ZodTypes, type ParsePayload, safeParse } from 'zod/v4/core'
import { isRecord, typeName } from '../shared/types.ts'
import { DECIMAL } from './fields.ts'
import { type Issue, type Issues, MAX_ISSUES } from './issue.ts'

/** The value that the schema returns, or its issues. */
export type Checked<Value> = { readonly ok: true; readonly value: Value } | ({ readonly ok: false } & Issues)

/** Whether a schema accepts a value as it is. */
export type CompiledCheck = (value: unknown) => boolean

/**
 * Checks a value against a schema. `at` is the path of the value in its root. `fits` is a faster check that accepts the
 * same values; zod describes the issues of a value that it refuses.
 */
export function check<Value>(
  schema: $ZodType<Value>,
  value: unknown,
  at: readonly (string | number)[] = [],
  fits?: CompiledCheck,
): Checked<Value> {
  if (fits?.(value)) return { ok: true, value: value as Value }
  const parsed = run(schema, value)
  if (parsed?.issues.length === 0) return { ok: true, value: parsed.value as Value }
  const found = new FoundIssues()
  collect(schema, value, at, found)
  // A getter may give another value the second time.
  if (found.count === 0) found.add({ path: [...at], message: 'cannot be read' })
  return { ok: false, issues: found.issues, moreIssues: found.count - found.issues.length }
}

/**
 * Copies the fields that an object schema declares, except `undefined` ones. Each is read once, so that no getter can
 * replace a value that was checked.
 */
export function copyOfFields(schema: $ZodType, value: unknown): unknown {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type !== 'object' || !isRecord(value)) return value
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(def.shape)) {
    const field = value[name]
    if (field !== undefined) copy[name] = field
  }
  return copy
}

/**
 * Runs a schema without describing its issues. Returns `undefined` for more issues than the stack holds: some 120 000.
 */
function run(schema: $ZodType, value: unknown): ParsePayload | undefined {
  try {
    return schema._zod.run({ value, issues: [] }, { async: false }) as ParsePayload
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

class FoundIssues {
  readonly issues: Issue[] = []
  count = 0

  get isFull(): boolean {
    return this.issues.length === MAX_ISSUES
  }

  add(issue: Issue): void {
    this.count++
    if (!this.isFull) this.issues.push(issue)
  }
}

/** Collects the issues field by field, so that many of them need neither stack nor memory. */
function collect(schema: $ZodType, value: unknown, at: readonly (string | number)[], found: FoundIssues): void {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'object' && isRecord(value) && def.checks === undefined) {
    for (const [name, field] of Object.entries(def.shape)) collect(field, own(value, name), [...at, name], found)
  } else if (def.type === 'array' && Array.isArray(value) && def.checks === undefined) {
    for (const [index, element] of value.entries()) collect(def.element, element, [...at, index], found)
  } else if (found.isFull) {
    found.count += run(schema, value)?.issues.length ?? 1
  } else {
    for (const issue of safeParse(schema, value).error?.issues ?? []) found.add(toIssue(issue, value, at))
  }
}

/** Converts an issue of zod. `at` is the path of the value in its root. */
export function toIssue(issue: $ZodIssue, root: unknown, at: readonly (string | number)[] = []): Issue {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
  return { path: [...at, ...path], message: describe(issue, path.reduce(own, root)) }
}

/** Describes the expected value. The messages of zod need a locale, which every bundle would carry. */
function describe(issue: $ZodIssue, value: unknown): string {
  if (issue.code === 'invalid_type') return `expected ${expected(issue.expected)}, received ${typeName(value)}`
  if (issue.code === 'invalid_union') {
    if (typeof value === 'string' && DECIMAL.test(value)) return 'expected a finite number, received one out of range'
    const types = issue.errors.flatMap((branch) =>
      branch.flatMap((inner) => (inner.code === 'invalid_type' ? [expected(inner.expected)] : [])),
    )
    // Only formats have messages of their own.
    const described = issue.errors.flat().find((inner) => inner.code === 'invalid_format')?.message
    return described ?? `expected ${[...new Set(types)].join(' or ')}, received ${typeName(value)}`
  }
  return issue.message
}

const expected = (type: string): string => (type === 'number' ? 'a finite number' : type)

function own(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
