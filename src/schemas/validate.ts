import {
  $ZodArray,
  type $ZodIssue,
  $ZodObjectJIT,
  type $ZodType,
  type $ZodTypes,
  type ParsePayload,
  safeParse,
} from 'zod/v4/core'
import { DECIMAL } from '../shared/decimals.ts'
import { type Issue, type Issues, MAX_ISSUES } from '../shared/issue.ts'
import { isRecord, typeName } from '../shared/type-checks.ts'

/** The validated value, or its issues. */
type Validated<Value> = { readonly ok: true; readonly value: Value } | ({ readonly ok: false } & Issues)

/**
 * Validates a value against a schema.
 *
 * @param path - the path of the value from the root of the argument or response
 */
export function validate<Value>(
  schema: $ZodType<Value>,
  value: unknown,
  path: readonly (string | number)[] = [],
): Validated<Value> {
  const parsed = run(schema, value)
  if (parsed?.issues.length === 0) return { ok: true, value: parsed.value as Value }
  const found = new FoundIssues()
  collect(schema, value, path, found)
  // A getter may return a different value the second time.
  if (found.count === 0) found.add({ path: [...path], message: 'cannot be read' })
  return { ok: false, issues: found.issues, moreIssues: found.count - found.issues.length }
}

const compiled = new WeakMap<$ZodType, $ZodType | 'changes values'>()

/**
 * Whether a schema accepts a value without changing it. False if the schema has transforms.
 *
 * It takes half the time of {@link validate} for a large value: zod compiles the check with `new Function` where the runtime
 * allows it, and does not copy the value.
 */
export function accepts<Value>(schema: $ZodType<Value, unknown>, value: unknown): value is Value {
  let check = compiled.get(schema)
  if (check === undefined) {
    check = changesValues(schema) ? 'changes values' : compile(schema)
    compiled.set(schema, check)
  }
  return check !== 'changes values' && run(check, value)?.issues.length === 0
}

const changesValues = (schema: $ZodType): boolean => {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'object') return Object.values(def.shape).some(changesValues)
  if (def.type === 'array') return changesValues(def.element)
  if (def.type === 'optional') return changesValues(def.innerType)
  return !UNCHANGED.has(def.type)
}

const UNCHANGED = new Set(['string', 'number', 'boolean', 'custom'])

/**
 * Returns a schema that accepts the same values, with objects that zod compiles. Compiled objects ignore unknown fields and
 * have no checks, so an object with checks stays as it is.
 */
function compile(schema: $ZodType): $ZodType {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'array') return new $ZodArray({ ...def, element: compile(def.element) })
  if (def.type !== 'object' || def.checks !== undefined) return schema
  const shape = Object.fromEntries(Object.entries(def.shape).map(([name, field]) => [name, compile(field)]))
  return new $ZodObjectJIT({ type: 'object', shape })
}

/**
 * Copies the fields that an object schema declares, except `undefined` ones. Each field is read once, so that a getter
 * cannot replace a validated value.
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

/** Runs a schema without describing the issues. Returns `undefined` if zod overflows the stack, at about 120 000 issues. */
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

/** Collects the issues field by field, because very many issues would overflow zod's stack. */
function collect(schema: $ZodType, value: unknown, path: readonly (string | number)[], found: FoundIssues): void {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'object' && isRecord(value) && def.checks === undefined) {
    for (const [name, field] of Object.entries(def.shape)) collect(field, own(value, name), [...path, name], found)
  } else if (def.type === 'array' && Array.isArray(value) && def.checks === undefined) {
    for (const [index, element] of value.entries()) collect(def.element, element, [...path, index], found)
  } else if (found.isFull) {
    found.count += run(schema, value)?.issues.length ?? 1
  } else {
    for (const issue of safeParse(schema, value).error?.issues ?? []) found.add(toIssue(issue, value, path))
  }
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
