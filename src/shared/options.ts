import { isRecord } from './record.ts'
import { LONGEST_TIMER_MS } from './timer-limit.ts'
import { typeName } from './type-name.ts'

/** One thing that is wrong with an option object: where, and what was expected there. Never the value. */
export interface OptionProblem {
  /** Where it is, from the root of the object: `['queryNames', 'getInviteCode']`. */
  readonly path: readonly string[]
  readonly message: string
  /** It is a number, and out of its range. */
  readonly isRange?: boolean
}

/** What is wrong with the value of an option: a sentence about the whole, or the problems inside it. */
export type OptionRule = (value: unknown) => string | readonly OptionProblem[] | undefined

/**
 * A rule for every name of an option object, so that the compiler asks for those that are added to its type. A table that is
 * made by a function is left out of a partner's bundle together with what asks for it; one made at the import stays.
 */
export type OptionRules<Options> = { readonly [Name in keyof Options]-?: OptionRule }

/**
 * Holds an option object against its rules. A name without a rule is a problem even where its value is undefined: a
 * misspelt option would leave the default in its place without a word.
 */
export function optionProblems(options: unknown, rules: Readonly<Record<string, OptionRule>>): OptionProblem[] {
  if (options === UNREADABLE) return [{ path: [], message: CANNOT_BE_READ }]
  if (!isRecord(options)) return [{ path: [], message: `must be an object, got ${typeName(options)}` }]
  const known = Object.keys(rules)
  const names = readable(() => Object.keys(options))
  if (names === UNREADABLE) return [{ path: [], message: CANNOT_BE_READ }]
  const unknown = names
    .filter((name) => !Object.hasOwn(rules, name))
    .map((name) => ({ path: [name], message: `is not an option; there are ${known.join(', ')}` }))
  return [...unknown, ...known.flatMap((name) => problemsAt(name, judged(rules[name], options, name)))]
}

function judged(rule: OptionRule | undefined, options: Record<string, unknown>, name: string): ReturnType<OptionRule> {
  const found = readable(() => (options[name] === UNREADABLE ? UNREADABLE : rule?.(options[name])))
  return found === UNREADABLE ? CANNOT_BE_READ : found
}

/** In the place of what threw when it was looked at: getters and Proxies may. */
const UNREADABLE = Symbol('unreadable')
const CANNOT_BE_READ = 'cannot be read: looking at it throws'

function readable<Result>(read: () => Result): Result | typeof UNREADABLE {
  try {
    return read()
  } catch {
    return UNREADABLE
  }
}

/**
 * An option object as it is now, with what it inherits: each of its names is read once. What a getter gives the second time,
 * or its owner changes later, is not what was checked. What is no option object is left for its rules to refuse.
 */
export function copyOfOptions<Options>(options: Options, rules: OptionRules<NonNullable<Options>>): Options {
  if (!isRecord(options)) return options
  const copy = readable(() => {
    const names = [...new Set([...Object.keys(options), ...Object.keys(rules)])]
    return Object.fromEntries(names.map((name) => [name, readable(() => options[name])]))
  })
  return copy as Options
}

function problemsAt(name: string, found: ReturnType<OptionRule>): OptionProblem[] {
  if (found === undefined) return []
  if (typeof found === 'string') return [{ path: [name], message: found }]
  return found.map((problem) => ({ ...problem, path: [name, ...problem.path] }))
}

/** The problems in one line: `timeoutMs must be …; hooks.onRetry must be a function`. */
export const describeProblems = (problems: readonly OptionProblem[]): string =>
  problems.map(({ path, message }) => (path.length > 0 ? `${path.join('.')} ${message}` : message)).join('; ')

/**
 * For those who report a wrong option as a programming error.
 *
 * @throws RangeError when all that is wrong are numbers out of their range; otherwise TypeError
 */
export function requireOptions(where: string, options: unknown, rules: Readonly<Record<string, OptionRule>>): void {
  const problems = optionProblems(options, rules)
  if (problems.length === 0) return
  const onlyRanges = problems.every(({ isRange }) => isRange)
  const message = `${where}: ${describeProblems(problems)}`
  throw onlyRanges ? new RangeError(message) : new TypeError(message)
}

/**
 * An option object as it is now, held against its rules: whoever goes on with this has what was checked.
 *
 * @throws as `requireOptions`
 */
export function readOptions<Options>(
  where: string,
  options: Options,
  rules: OptionRules<NonNullable<Options>>,
): Options {
  const own = copyOfOptions(options, rules)
  requireOptions(where, own, rules)
  return own
}

/** A list as it is now; what is none is left for its rule to refuse. */
export const copyOfList = <List>(list: List): List => (Array.isArray(list) ? (Array.from(list) as List) : list)

/** The rule, for an option that may be left out or undefined. */
export const optional =
  (rule: OptionRule): OptionRule =>
  (value) =>
    value === undefined ? undefined : rule(value)

/** For an option object within another. */
export const nested =
  (rules: Readonly<Record<string, OptionRule>>): OptionRule =>
  (value) =>
    optionProblems(value, rules)

/** For an object whose names are the caller's own, such as headers: the rule is asked about each of them. */
export const dictionary =
  (rule: (value: unknown, name: string) => string | undefined): OptionRule =>
  (value) =>
    isRecord(value)
      ? Object.entries(value).flatMap(([name, content]) => problemsAt(name, rule(content, name)))
      : `must be an object, got ${typeName(value)}`

/** For a list whose members all obey one rule. */
export const listOf =
  (rule: OptionRule): OptionRule =>
  (value) =>
    Array.isArray(value)
      ? Array.from(value).flatMap((member, index) => problemsAt(String(index), rule(member)))
      : `must be a list, got ${typeName(value)}`

export const isObject: OptionRule = (value) =>
  isRecord(value) ? undefined : `must be an object, got ${typeName(value)}`

/** For what is sent as JSON. */
export const isJson: OptionRule = (value) => {
  try {
    if (JSON.stringify(value) !== undefined) return undefined
  } catch {
    // A circle, or a number that JSON does not know.
  }
  return `must be something that JSON can hold, got ${typeName(value)}`
}

export const isFunction: OptionRule = (value) =>
  typeof value === 'function' ? undefined : `must be a function, got ${typeName(value)}`

/** For an object that is used by its methods, whatever it is made of. */
export const hasMethods =
  (...names: readonly string[]): OptionRule =>
  (value) => {
    if (typeof value !== 'object' || value === null) return `must be an object, got ${typeName(value)}`
    const missing = names.filter((name) => typeof Reflect.get(value, name) !== 'function')
    return missing.length > 0 ? `lacks the method${missing.length > 1 ? 's' : ''} ${missing.join(', ')}` : undefined
  }

export const isBoolean: OptionRule = (value) =>
  typeof value === 'boolean' ? undefined : `must be true or false, got ${typeName(value)}`

export const isText: OptionRule = (value) =>
  typeof value === 'string' && value.trim() !== '' ? undefined : 'must be a non-empty string'

export const oneOf =
  (...allowed: readonly string[]): OptionRule =>
  (value) =>
    allowed.includes(value as string) ? undefined : `must be ${allowed.map((each) => `'${each}'`).join(' or ')}`

export const isFiniteNumber: OptionRule = (value) =>
  Number.isFinite(value) ? undefined : notInRange(value, 'must be a finite number')

/** A number above 0 and at most `max`, in whatever unit the sentence names. */
export const positive =
  (unit: string, max: number): OptionRule =>
  (value) =>
    typeof value === 'number' && value > 0 && value <= max
      ? undefined
      : notInRange(value, `must be a number of ${unit} above 0 and at most ${max}`)

/** A number from `min` to `max`, in whatever unit the sentence names. */
export const within =
  (unit: string, min: number, max: number): OptionRule =>
  (value) =>
    typeof value === 'number' && value >= min && value <= max
      ? undefined
      : notInRange(value, `must be a number of ${unit} from ${min} to ${max}`)

/** A delay that a timer can hold. */
export const milliseconds: OptionRule = /* @__PURE__ */ positive('milliseconds', LONGEST_TIMER_MS)

/** A delay that a timer can hold, or none. */
export const nonNegativeMilliseconds: OptionRule = (value) => within('milliseconds', 0, LONGEST_TIMER_MS)(value)

export const wholeNumber =
  (min: number, max: number = Number.MAX_SAFE_INTEGER): OptionRule =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : notInRange(
          value,
          `must be a whole number, ${min} or more${max < Number.MAX_SAFE_INTEGER ? ` and at most ${max}` : ''}`,
        )

/** A number may be shown; anything else might be a secret in the wrong place. */
function notInRange(value: unknown, expected: string): readonly OptionProblem[] {
  const isRange = typeof value === 'number'
  return [{ path: [], message: `${expected}, got ${isRange ? value : typeName(value)}`, isRange }]
}
