import * as z from 'zod/mini'
import { type $ZodError, type $ZodIssue, type $ZodType, safeParse } from 'zod/v4/core'
import {
  issuesAt,
  mustBeJson,
  mustBeObject,
  NOT_AN_OPTION,
  notAnOption,
  type OptionIssue,
  type OptionRule,
  oneOf,
  refuseOptions,
} from '../errors/option-checks.ts'
import { toIssue } from '../schemas/validate.ts'

/** A schema for every field of a type. The compiler reports a field without a schema. */
type Fields<Type> = { readonly [Name in keyof Type]-?: $ZodType<Type[Name]> }

/** An object schema that refuses unknown names: a misspelt name would silently keep the default. */
export const strictFields = <Type>(fields: Fields<Type>) =>
  z.strictObject(fields, {
    error: ({ code }) => (code === 'unrecognized_keys' ? notAnOption(Object.keys(fields)) : undefined),
  })

/** The error of a schema: the message of the option rule, which shows a wrong number. */
export const saying = (rule: OptionRule) => ({
  error: ({ input }: { readonly input?: unknown }) => String(rule(input)),
})

/** A schema for the values that an option rule accepts. */
export const byRule = <Value>(rule: OptionRule) => z.custom<Value>((value) => rule(value) === undefined, saying(rule))

/** An object that is sent or stored as JSON. */
export const jsonObject = byRule<Record<string, unknown>>((value) => mustBeObject(value) ?? mustBeJson(value))

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

/** Whether an issue has zod's own message, which says little without a locale. */
export const isDefaultMessage = ({ message }: $ZodIssue): boolean => /^Invalid input(?:: expected |$)/.test(message)

function issuesOf({ issues }: $ZodError, value: unknown): OptionIssue[] {
  /** The messages that list the options of an object. Each list is shown once. */
  const listed = new Set<string>()
  return issues.flatMap((issue) => {
    const { path, message } = toIssue(issue, value)
    // A type error with a message of its own, from `saying`.
    if (issue.code === 'invalid_type' && !isDefaultMessage(issue)) return [{ path, message: issue.message }]
    if (issue.code !== 'unrecognized_keys') return [{ path, message }]
    // zod lists unknown names in one issue; each name becomes an issue.
    return issue.keys.map((key) => {
      if (listed.has(message)) return { path: [...path, key], message: NOT_AN_OPTION }
      listed.add(message)
      return { path: [...path, key], message }
    })
  })
}

/** The options of each kind, except `kind`. */
type FieldsByKind<Options extends { readonly kind: string }> = {
  readonly [Kind in Options['kind']]: Fields<Omit<OfKind<Options, Kind>, 'kind'>>
}

type OfKind<Options, Kind> = Options extends { readonly kind: infer Kinds }
  ? Kind extends Kinds
    ? Options
    : never
  : never

/** Returns an object schema for each kind of options. The compiler reports a kind or an option without a schema. */
export const schemasByKind = <Options extends { readonly kind: string }>(fields: FieldsByKind<Options>) =>
  Object.fromEntries(
    Object.entries<object>(fields).map(([kind, others]) => [kind, strictFields({ kind: z.literal(kind), ...others })]),
  ) as unknown as Readonly<Record<Options['kind'], $ZodType<Options>>>

/**
 * Returns a copy of options whose names depend on `kind`.
 *
 * @throws ConfigurationError when the kind or another option is unknown or wrong
 */
export function readByKind<Options extends { readonly kind: string }>(
  where: string,
  schemas: Readonly<Record<Options['kind'], $ZodType<Options>>>,
  options: Options,
): Options {
  const kind: Options['kind'] = options?.kind
  refuseOptions(where, issuesAt('kind', oneOf(...Object.keys(schemas))(kind)))
  return readBySchema(`${where} of kind ${kind}`, schemas[kind], options)
}
