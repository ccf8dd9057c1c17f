import { describeAt, type Issue } from './issue.ts'
import { MAX_TIMER_MS } from './timers.ts'
import { hasMethod, isRecord, typeName } from './type-checks.ts'

/** An issue of an option object. */
export interface OptionIssue extends Issue {
  /** Whether the value is a number out of range. */
  readonly isRange?: boolean
}

/** Checks the value of an option. Returns a message about the value, or the issues inside it; `undefined` if it is valid. */
export type OptionRule = (value: unknown) => string | readonly OptionIssue[] | undefined

/** A rule for every option of a type. The compiler reports an option without a rule. */
export type OptionRules<Options> = { readonly [Name in keyof Options]-?: OptionRule }

/**
 * Checks an option object. An unknown name is an issue even if its value is `undefined`, because a misspelt option would
 * silently have no effect.
 */
export function optionIssues(options: unknown, rules: Readonly<Record<string, OptionRule>>): OptionIssue[] {
  if (!isRecord(options)) return [{ path: [], message: `must be an object, got ${typeName(options)}` }]
  const known = Object.keys(rules)
  const unknown = Object.keys(options)
    .filter((name) => !Object.hasOwn(rules, name))
    .map((name) => ({ path: [name], message: `is not an option; the options are ${known.join(', ')}` }))
  return [...unknown, ...known.flatMap((name) => issuesAt(name, rules[name]?.(options[name])))]
}

/**
 * Copies an option object, inherited options included. It reads each option once, so that a getter or a later change cannot
 * replace a checked value. It returns a value that is not an object unchanged.
 */
export function copyOfOptions<Options>(options: Options, rules: OptionRules<NonNullable<Options>>): Options {
  if (!isRecord(options)) return options
  const names = new Set([...Object.keys(options), ...Object.keys(rules)])
  return Object.fromEntries([...names].map((name) => [name, options[name]])) as Options
}

function issuesAt(name: string, found: ReturnType<OptionRule>): OptionIssue[] {
  if (found === undefined) return []
  if (typeof found === 'string') return [{ path: [name], message: found }]
  return found.map((issue) => ({ ...issue, path: [name, ...issue.path] }))
}

/** Describes issues in one line: `timeoutMs must be …; hooks.onRetry must be a function`. */
export function describeOptionIssues(issues: readonly OptionIssue[]): string {
  const listed = new Set<string>()
  const parts = issues.map(({ path, message }) => {
    // Several misspelt names list the options of their object once.
    const text = message.replace(/; the options are .*$/, (list) => (listed.size < listed.add(list).size ? list : ''))
    return path.length > 0 ? describeAt(path.join('.'), text) : text
  })
  return parts.join('; ')
}

type ErrorClass = new (message: string) => Error

/**
 * Throws if there is an issue.
 *
 * @param Refusal - the class of the error. Default: `RangeError` if all issues are numbers out of range, otherwise
 *   `TypeError`
 */
export function refuse(where: string, issues: readonly OptionIssue[], Refusal?: ErrorClass): void {
  if (issues.length === 0) return
  const Default = issues.every(({ isRange }) => isRange) ? RangeError : TypeError
  throw new (Refusal ?? Default)(`${where}: ${describeOptionIssues(issues)}`)
}

/** Copies an option object and checks the copy. @throws as {@link refuse} */
export function readOptions<Options>(
  where: string,
  options: Options,
  rules: OptionRules<NonNullable<Options>>,
  Refusal?: ErrorClass,
): Options {
  const own = copyOfOptions(options, rules)
  refuse(where, optionIssues(own, rules), Refusal)
  return own
}

/** The rule for an option that may be `undefined`. */
export const optional =
  (rule: OptionRule): OptionRule =>
  (value) =>
    value === undefined ? undefined : rule(value)

/** The rule for an option object inside another option object. */
export const nested =
  (rules: Readonly<Record<string, OptionRule>>): OptionRule =>
  (value) =>
    optionIssues(value, rules)

/** The rule for an object with names that the caller chooses, such as headers. `rule` checks each entry. */
export const dictionary =
  (rule: (value: unknown, name: string) => string | undefined): OptionRule =>
  (value) =>
    isRecord(value)
      ? Object.entries(value).flatMap(([name, content]) => issuesAt(name, rule(content, name)))
      : `must be an object, got ${typeName(value)}`

export const mustBeObject: OptionRule = (value) =>
  isRecord(value) ? undefined : `must be an object, got ${typeName(value)}`

/** The rule for a value that is sent as JSON. */
export const mustBeJson: OptionRule = (value) => {
  try {
    if (JSON.stringify(value) !== undefined) return undefined
  } catch {
    // A cycle, or a BigInt.
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

export const mustBeFiniteNumber: OptionRule = (value) =>
  Number.isFinite(value) ? undefined : outOfRange(value, 'must be a finite number')

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
function outOfRange(value: unknown, expected: string): readonly OptionIssue[] {
  const isRange = typeof value === 'number'
  return [{ path: [], message: `${expected}, got ${isRange ? value : typeName(value)}`, isRange }]
}
