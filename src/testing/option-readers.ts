import * as z from 'zod/mini'
import { type $ZodError, type $ZodType, safeParse } from 'zod/v4/core'
import {
  NOT_AN_OPTION,
  notAnOption,
  type OptionIssue,
  type OptionRule,
  type OptionRules,
  oneOf,
  optional,
  optionIssues,
  readOptions,
  refuseOptions,
} from '../errors/option-checks.ts'
import { identifier } from '../schemas/fields.ts'
import { toIssue } from '../schemas/validate.ts'
import { isRecord } from '../shared/type-checks.ts'

/** A schema for every field of a type. The compiler reports a field without a schema. */
type Fields<Type> = { readonly [Name in keyof Type]-?: $ZodType<Type[Name]> }

/** An object schema that refuses unknown names: a misspelt name would silently keep the default. */
export const strictFields = <Type>(fields: Fields<Type>) =>
  z.strictObject(fields, {
    error: ({ code }) => (code === 'unrecognized_keys' ? notAnOption(Object.keys(fields)) : undefined),
  })

/** The option rule of an identifier: a non-empty string. */
export const mustBeIdentifier: OptionRule = (value) => {
  const { error } = safeParse(identifier, value)
  return error && issuesOf(error, value)
}

/**
 * Returns a copy of a value, as the schema reads it.
 *
 * @throws ConfigurationError with the path of each issue
 */
export function readBySchema<Value>(where: string, schema: $ZodType<Value>, value: unknown): Value {
  const { data, issues } = parseBySchema(schema, value)
  refuseOptions(where, issues)
  return data as Value
}

/** Returns a copy of a value, as the schema reads it, or its issues. */
export function parseBySchema<Value>(
  schema: $ZodType<Value>,
  value: unknown,
): { readonly data: Value | undefined; readonly issues: readonly OptionIssue[] } {
  const { data, error } = safeParse(schema, value)
  return { data, issues: error ? issuesOf(error, value) : [] }
}

function issuesOf({ issues }: $ZodError, value: unknown): OptionIssue[] {
  /** The messages that list the options of an object. Each list is shown once. */
  const listed = new Set<string>()
  return issues.flatMap((issue) => {
    const { path, message } = toIssue(issue, value)
    if (issue.code !== 'unrecognized_keys') return [{ path, message }]
    // zod lists unknown names in one issue; each name becomes an issue.
    return issue.keys.map((key) => {
      if (listed.has(message)) return { path: [...path, key], message: NOT_AN_OPTION }
      listed.add(message)
      return { path: [...path, key], message }
    })
  })
}

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
 * Copies options whose names depend on `kind`, for {@link readOptionsOfKind}. Reads each option once, so that a getter can't
 * replace a checked value.
 */
export function copyOfKind<Options>(options: Options, ...rules: readonly Readonly<Record<string, object>>[]): Options {
  if (!isRecord(options)) return options
  const known = rules.flatMap(Object.values).flatMap(Object.keys)
  const names = new Set([...Object.keys(options), ...['kind', ...known].filter((name) => name in options)])
  return Object.fromEntries([...names].map((name) => [name, options[name]])) as Options
}

/**
 * Checks options whose names depend on `kind`, and returns a copy with the options of that kind.
 *
 * @param options - from {@link copyOfKind}
 * @throws ConfigurationError when the kind or another option is unknown or wrong
 */
export function readOptionsOfKind<Options extends { readonly kind: string }>(
  where: string,
  options: Options,
  rules: { readonly [Kind in Options['kind']]: Readonly<Record<string, OptionRule>> },
): Options {
  const mustBeKind = oneOf(...Object.keys(rules))
  const kind: Options['kind'] = options?.kind
  if (mustBeKind(kind) !== undefined) {
    const given = isRecord(options) ? options : {}
    refuseOptions(where, optionIssues(given, { kind: mustBeKind, ...rulesOfAnyKind(Object.values(rules)) }))
  }
  const ofKind = { kind: mustBeKind, ...rules[kind] } as never as OptionRules<NonNullable<Options>>
  return readOptions(`${where} of kind ${kind}`, options, ofKind)
}

/** Returns the rules for options of an unknown kind: a value is wrong if it is wrong for each kind. */
function rulesOfAnyKind(rules: readonly Readonly<Record<string, OptionRule>>[]): Record<string, OptionRule> {
  const names = new Set(rules.flatMap(Object.keys))
  const ruleOf = (name: string): OptionRule =>
    optional((value) => {
      const found = rules.filter((each) => Object.hasOwn(each, name)).map((each) => each[name]?.(value))
      return found.includes(undefined) ? undefined : found[0]
    })
  return Object.fromEntries([...names].map((name) => [name, ruleOf(name)]))
}
