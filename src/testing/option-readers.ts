import * as z from 'zod/mini'
import { type $ZodError, type $ZodType, safeParse } from 'zod/v4/core'
import { identifier } from '../schemas/fields.ts'
import { toIssue } from '../schemas/validate.ts'
import {
  describeOptionIssues,
  type OptionIssue,
  type OptionRule,
  type OptionRules,
  oneOf,
  readOptions,
} from '../shared/option-checks.ts'

/** A schema for every field of a type. The compiler reports a field without a schema. */
type Fields<Type> = { readonly [Name in keyof Type]-?: $ZodType<Type[Name]> }

/** An object schema that refuses unknown names: a misspelt name would silently keep the default. */
export const strictFields = <Type>(fields: Fields<Type>) =>
  z.strictObject(fields, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `is not an option; the options are ${Object.keys(fields).join(', ')}` : undefined,
  })

/** The option rule of an identifier: a non-empty string. */
export const mustBeIdentifier: OptionRule = (value) => {
  const { error } = safeParse(identifier, value)
  return error && issuesOf(error, value)
}

/**
 * Returns a copy of a value, as the schema reads it.
 *
 * @throws TypeError when the value does not match, with the path of each issue
 */
export function readBySchema<Value>(where: string, schema: $ZodType<Value>, value: unknown): Value {
  const { data, error } = safeParse(schema, value)
  if (error) throw new TypeError(`${where}: ${describeOptionIssues(issuesOf(error, value))}`)
  return data as Value
}

const issuesOf = ({ issues }: $ZodError, value: unknown): OptionIssue[] =>
  issues.flatMap((issue) => {
    const { path, message } = toIssue(issue, value)
    const names = path.map(String)
    // zod lists unknown names in one issue; each name becomes an issue.
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path: [...names, key], message }))
    return [{ path: names, message }]
  })

/** The rules of each kind of options. */
export type RulesByKind<Options extends { readonly kind: string }> = {
  readonly [Kind in Options['kind']]: OptionRules<Omit<OfKind<Options, Kind>, 'kind'>>
}

type OfKind<Options, Kind> = Options extends { readonly kind: infer Kinds }
  ? Kind extends Kinds
    ? Options
    : never
  : never

/**
 * Reads options whose names depend on `kind`.
 *
 * @throws TypeError when the kind or another option is unknown or wrong
 * @throws RangeError when all issues are numbers out of range
 */
export function readOptionsOfKind<Options extends { readonly kind: string }>(
  where: string,
  options: Options,
  rules: { readonly [Kind in Options['kind']]: Readonly<Record<string, OptionRule>> },
): Options {
  const mustBeKind = oneOf(...Object.keys(rules))
  const kind: Options['kind'] = options?.kind
  const problem = mustBeKind(kind)
  if (problem !== undefined) throw new TypeError(`${where}: kind ${problem}`)
  const ofKind = { kind: mustBeKind, ...rules[kind] } as never as OptionRules<NonNullable<Options>>
  return readOptions(`${where} of kind ${kind}`, options, ofKind)
}
