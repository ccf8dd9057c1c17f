import { type $ZodIssue, type $ZodType, safeParse } from 'zod/v4/core'
import { typeName } from '../shared/type-name.ts'

/** One thing that is wrong with an argument or an answer: where, and what. Never the value. */
export interface Issue {
  /** Where it is, from the root: `['actions', 3, 'xp']`. Empty for the whole. */
  readonly path: readonly (string | number)[]
  /** What was expected there. */
  readonly message: string
}

/** The value as the schema reads it, or what is wrong with it. */
export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly issues: Issue[] }

/** Whether a value is one that a schema reads as it is. */
export type CompiledCheck = (value: unknown) => boolean

/**
 * Holds a value against a schema. `at` is the path of the value in what it came from; `fits` says the same as the schema,
 * faster. What does not fit is left to zod, which says what is wrong.
 */
export function check<Value>(
  schema: $ZodType<Value>,
  value: unknown,
  at: readonly (string | number)[] = [],
  fits?: CompiledCheck,
): Checked<Value> {
  if (fits?.(value)) return { ok: true, value: value as Value }
  const result = safeParse(schema, value)
  if (result.success) return { ok: true, value: result.data }
  return { ok: false, issues: result.error.issues.map((issue) => toIssue(issue, value, at)) }
}

/** What zod found in a value, in our words. `at` is the path of the value in what it came from. */
export function toIssue(issue: $ZodIssue, root: unknown, at: readonly (string | number)[] = []): Issue {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
  return { path: [...at, ...path], message: describe(issue, path.reduce(step, root)) }
}

/** Says what was expected. zod's own messages come with a locale that every bundle would carry. */
function describe(issue: $ZodIssue, value: unknown): string {
  if (issue.code === 'invalid_type') return `expected ${expected(issue.expected)}, received ${typeName(value)}`
  if (issue.code === 'invalid_union') {
    const types = issue.errors.flatMap((branch) =>
      branch.flatMap((inner) => (inner.code === 'invalid_type' ? [expected(inner.expected)] : [])),
    )
    // Only formats have words of their own.
    const described = issue.errors.flat().find((inner) => inner.code === 'invalid_format')?.message
    return described ?? `expected ${[...new Set(types)].join(' or ')}, received ${typeName(value)}`
  }
  return issue.message
}

const expected = (type: string): string => (type === 'number' ? 'a finite number' : type)

function step(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
