import type { $ZodIssue } from 'zod/v4/core'
import { DECIMAL } from '../shared/decimals.ts'
import { typeName } from '../shared/type-checks.ts'
import type { Issue } from './issue.ts'

/**
 * Converts an issue of zod.
 *
 * @param value - the validated value
 * @param path - the path of that value from the root
 */
export function toIssue(issue: $ZodIssue, value: unknown, path: readonly (string | number)[] = []): Issue {
  const inner = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
  return { path: [...path, ...inner], message: describe(issue, inner.reduce(own, value)) }
}

/** Describes the expected value. zod's own messages need a locale, which would make every bundle larger. */
function describe(issue: $ZodIssue, value: unknown): string {
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

export function own(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
