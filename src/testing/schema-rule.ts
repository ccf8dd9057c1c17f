import { type $ZodType, safeParse } from 'zod/v4/core'
import { check, toIssue } from '../schemas/check.ts'
import type { OptionProblem, OptionRule } from '../shared/options.ts'

/** An option that a schema describes, judged in the words in which the client judges an argument. */
export const fits =
  (schema: $ZodType): OptionRule =>
  (value) => {
    const { error } = safeParse(schema, value)
    return error?.issues.flatMap((issue): OptionProblem[] => {
      const { path, message } = toIssue(issue, value)
      const names = path.map(String)
      // Of names that are not known the schema gives a list, and each is a problem at a place of its own.
      if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path: [...names, key], message }))
      return [{ path: names, message }]
    })
  }

/** The value as a schema reads it, which is a copy; what the schema refuses is left for `fits` to put into words. */
export function asRead<Value>(schema: $ZodType, value: Value): Value {
  if (value === undefined) return value
  const checked = check(schema, value)
  return checked.ok ? (checked.value as Value) : value
}
