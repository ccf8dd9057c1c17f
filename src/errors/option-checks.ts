import { capped, describeAt, describeIssues, type Issue, MAX_ISSUES } from '../shared/issue.ts'
import { isDeeperThan, toVisible } from '../shared/text.ts'
import { MAX_TIMER_MS } from '../shared/timers.ts'
import { hasMethod, isRecord, isUint8Array, typeName } from '../shared/type-checks.ts'
import { ConfigurationError, type ErrorContext, InvalidRequestError } from './client-errors.ts'

/** An issue of an option object. */
export interface OptionIssue extends Issue {
  /** What to do, for the message of the error. `issues` of the error do not contain it. */
  readonly advice?: string
}

/** Checks the value of an option. */
export interface OptionRule {
  /** Returns a message about the value, or the issues inside it; `undefined` if it is valid. */
  (value: unknown): string | readonly OptionIssue[] | undefined
  /** Copies the value before it is checked, if it is an object with options or entries. */
  readonly copy?: ((value: unknown) => unknown) | undefined
}

/** A rule for every option of a type. The compiler reports an option without a rule. */
export type OptionRules<Options> = { readonly [Name in keyof Options]-?: OptionRule }

type AnyRules = Readonly<Record<string, OptionRule>>

/** Adds the copy of a value to its rule. */
export const withCopy = (rule: OptionRule, copy: OptionRule['copy']): OptionRule =>
  Object.assign((value: unknown) => rule(value), { copy })

/**
 * Checks an option object. An unknown name is an issue even if its value is `undefined`, because a misspelt option would
 * silently have no effect.
 */
export function optionIssues(options: unknown, rules: AnyRules): OptionIssue[] {
  if (!isRecord(options)) return [{ path: [], message: `must be an object, got ${typeName(options)}` }]
  const known = Object.keys(rules)
  const unknown = Object.keys(options)
    .filter((name) => !Object.hasOwn(rules, name))
    // The first issue lists the options.
    .map((name, index) => ({ path: [name], message: index === 0 ? notAnOption(known) : NOT_AN_OPTION }))
  return [...unknown, ...known.flatMap((name) => issuesAt(name, rules[name]?.(options[name])))]
}

export const NOT_AN_OPTION = 'is not an option'

export const notAnOption = (known: readonly string[]): string => `${NOT_AN_OPTION}; the options are ${known.join(', ')}`

/**
 * Copies an option object, inherited options included. It reads each option once, by its name, so that a getter or a later
 * change cannot replace a checked value. It returns a value that is not an object unchanged.
 */
export function copyOfOptions<Options>(options: Options, rules: OptionRules<NonNullable<Options>>): Options {
  return isRecord(options) ? (copyOfNamed(options, rules as AnyRules) as Options) : options
}

function copyOfNamed(options: Readonly<Record<string, unknown>>, rules: AnyRules): Record<string, unknown> {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(rules, name))
  return Object.fromEntries([
    ...unknown.map((name) => [name, undefined]),
    ...Object.entries(rules).map(([name, rule]) => [name, (rule.copy ?? copyOfValue)(options[name])]),
  ])
}

/** Copies bytes and lists. Other objects stay references: functions, signals, agents, transports, stores, databases. */
const copyOfValue = (value: unknown): unknown =>
  Array.isArray(value) ? Array.from(value, copyOfBytes) : copyOfBytes(value)

const copyOfBytes = (value: unknown): unknown => (isUint8Array(value) ? new Uint8Array(value) : value)

/** Adds the name of an option to the issues of its value. */
export function issuesAt(name: string, found: ReturnType<OptionRule>): OptionIssue[] {
  if (found === undefined) return []
  if (typeof found === 'string') return [{ path: [name], message: found }]
  return found.map((issue) => ({ ...issue, path: [name, ...issue.path] }))
}

/**
 * Describes issues in one line: `timeoutMs must be …; hooks.onRetry must be a function`. Names and values of the caller may
 * contain control characters: they are escaped.
 *
 * @param root - stands for an empty path
 */
export const describeOptionIssues = (issues: readonly OptionIssue[], root: string): string =>
  toVisible(
    describeIssues(capped(issues), MAX_ISSUES, ({ path, message, advice }) => {
      const text = describeAt(path.join('.') || root, message)
      return advice === undefined ? text : `${text}; ${advice}`
    }),
  )

/** Returns the issues for the `issues` of an error. */
export const withoutAdvice = (issues: readonly OptionIssue[]): Issue[] =>
  issues.map(({ path, message }) => ({ path, message: toVisible(message) }))

/** The rule for an option that may be `undefined`. */
export const optional = (rule: OptionRule): OptionRule =>
  withCopy((value) => (value === undefined ? undefined : rule(value)), rule.copy)

/** The rule for an option object inside another option object. */
export const nested = (rules: AnyRules): OptionRule =>
  withCopy(
    (value) => optionIssues(value, rules),
    (value) => (isRecord(value) ? copyOfNamed(value, rules) : value),
  )

/** The rule for an object with names that the caller chooses, such as headers. `rule` checks each entry. */
export const dictionary = (rule: (value: unknown, name: string) => string | undefined): OptionRule =>
  withCopy(
    (value) =>
      isRecord(value)
        ? Object.entries(value).flatMap(([name, content]) => issuesAt(name, rule(content, name)))
        : `must be an object, got ${typeName(value)}`,
    (value) => (isRecord(value) ? { ...value } : value),
  )

export const mustBeObject: OptionRule = (value) =>
  isRecord(value) ? undefined : `must be an object, got ${typeName(value)}`

/** Deeper values would overflow the stack when they are copied or printed. */
const MAX_JSON_DEPTH = 1_000

/** The rule for a value that is sent as JSON. */
export const mustBeJson: OptionRule = (value) => {
  try {
    if (JSON.stringify(value) !== undefined) {
      return isDeeperThan(MAX_JSON_DEPTH, value) ? `must have at most ${MAX_JSON_DEPTH} nested levels` : undefined
    }
  } catch {
    // A cycle, a BigInt, or thousands of levels.
  }
  return `must be a value that JSON can represent, got ${typeName(value)}`
}

export const mustBeFunction: OptionRule = (value) =>
  typeof value === 'function' ? undefined : `must be a function, got ${typeName(value)}`

/** The rule for an object of any class with the given methods. */
export const mustHaveMethods =
  (...names: readonly string[]): OptionRule =>
  (value) => {
    if (typeof value !== 'object' || value === null) return `must be an object, got ${typeName(value)}`
    const missing = names.filter((name) => !hasMethod(value, name))
    return missing.length > 0 ? `lacks the method${missing.length > 1 ? 's' : ''} ${missing.join(', ')}` : undefined
  }

export const mustBeBoolean: OptionRule = (value) =>
  typeof value === 'boolean' ? undefined : `must be true or false, got ${typeName(value)}`

export const mustBeText: OptionRule = (value) =>
  typeof value === 'string' && value.trim() !== '' ? undefined : 'must be a non-empty string'

export const oneOf =
  (...allowed: readonly string[]): OptionRule =>
  (value) =>
    allowed.includes(value as string) ? undefined : `must be ${allowed.map((each) => `'${each}'`).join(' or ')}`

/** Whether a value has the members of an `AbortSignal`. It may come from another realm or a polyfill. */
export function isSignal(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>
  return (
    typeof aborted === 'boolean' && typeof addEventListener === 'function' && typeof removeEventListener === 'function'
  )
}

export const mustBeSignal: OptionRule = (value) => (isSignal(value) ? undefined : 'must be an AbortSignal')

/** The rule for a number above 0 and at most `max`. `unit` names the unit in the message. */
export const positive =
  (unit: string, max: number): OptionRule =>
  (value) =>
    typeof value === 'number' && value > 0 && value <= max
      ? undefined
      : outOfRange(value, `must be a number of ${unit} above 0 and at most ${max}`)

/** The rule for a number from `min` to `max`. `unit` names the unit in the message. */
export const within =
  (unit: string, min: number, max: number): OptionRule =>
  (value) =>
    typeof value === 'number' && value >= min && value <= max
      ? undefined
      : outOfRange(value, `must be a number of ${unit} from ${min} to ${max}`)

/** The rule for the delay of a timer, above 0. */
export const milliseconds: OptionRule = /* @__PURE__ */ positive('milliseconds', MAX_TIMER_MS)

/** The rule for the delay of a timer, 0 or more. */
export const nonNegativeMilliseconds: OptionRule = (value) => within('milliseconds', 0, MAX_TIMER_MS)(value)

export const wholeNumber =
  (min: number, max: number = Number.MAX_SAFE_INTEGER): OptionRule =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : outOfRange(
          value,
          `must be a whole number, ${min} or more${max < Number.MAX_SAFE_INTEGER ? ` and at most ${max}` : ''}`,
        )

/** Shows a number, but only the type of any other value, which may be a misplaced secret. */
const outOfRange = (value: unknown, expected: string): string =>
  `${expected}, got ${typeof value === 'number' ? value : typeName(value)}`

/**
 * Copies an option object and checks the copy. Every function with options uses it.
 *
 * @param where - the function to name in the error
 * @param otherIssues - issues of the options that are arguments of their own, such as a database
 * @throws ConfigurationError with all issues
 */
export function readOptions<Options>(
  where: string,
  options: Options,
  rules: OptionRules<NonNullable<Options>>,
  otherIssues: readonly OptionIssue[] = [],
): Options {
  const own = copyOfOptions(options, rules)
  refuseOptions(where, [...otherIssues, ...optionIssues(own, rules)])
  return own
}

/** Throws if there is an issue. @throws ConfigurationError with all issues */
export function refuseOptions(where: string, issues: readonly OptionIssue[]): void {
  if (issues.length > 0) throw configurationError(where, issues)
}

/** Returns the error for wrong options. */
export function configurationError(
  where: string,
  issues: readonly OptionIssue[],
  context: ErrorContext = {},
): ConfigurationError {
  const message = `${where}: ${describeOptionIssues(issues, 'the options')}`
  return new ConfigurationError(message, { ...context, issues: withoutAdvice(issues) })
}

/** Returns the error for wrong arguments. @param consequence - what follows for the request, as a phrase */
export function invalidRequestError(
  operation: string,
  issues: readonly OptionIssue[],
  consequence = 'nothing was sent',
  context: ErrorContext = { outcome: 'not_applied' },
): InvalidRequestError {
  const problems = describeOptionIssues(issues, 'the argument')
  const init = { operation, issues: withoutAdvice(issues), ...context }
  return new InvalidRequestError(`${operation}: ${problems}; ${consequence}`, init)
}
