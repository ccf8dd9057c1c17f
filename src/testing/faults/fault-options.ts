import { endpoints, type OperationName } from '../../endpoints/index.ts'
import {
  isBoolean,
  isJson,
  nonNegativeMilliseconds,
  type OptionRule,
  type OptionRules,
  oneOf,
  optional,
  wholeNumber,
} from '../../shared/option-checks.ts'
import { typeName } from '../../shared/type-checks.ts'

interface FaultTarget {
  /** The operation that fails: the name of a client method, or `'*'` for any request. @defaultValue `'*'` */
  on?: OperationName | '*' | undefined
  /** How many requests fail: a positive integer or `Infinity`. @defaultValue 1 */
  times?: number | undefined
}

/** A fault that replaces the service's own answer. */
interface ReplacementFault extends FaultTarget {
  /** Whether the request takes effect before it fails. @defaultValue false */
  applied?: boolean | undefined
}

/** Answers with the given status. */
export interface StatusFault extends ReplacementFault {
  kind: 'status'
  /** 200 to 599. @defaultValue 500 */
  status?: number | undefined
  /** Headers of the answer, for example `Retry-After`. @defaultValue a `Content-Type` for the body */
  headers?: Readonly<Record<string, string>> | undefined
  /** The body: a string is sent unchanged, other values as JSON. @defaultValue the standard error envelope */
  body?: unknown
}

/** Answers 200 with a body that is not JSON. */
export interface GarbageFault extends ReplacementFault {
  kind: 'garbage'
  /** The body. @defaultValue an HTML page */
  body?: string | undefined
}

/** `reset`: closes the connection without an answer. `hang`: keeps the connection open without an answer. */
export interface ConnectionFault extends ReplacementFault {
  kind: 'reset' | 'hang'
}

/** Closes the connection after the request has taken effect: short for `reset` with `applied: true`. */
export interface AppliedThenResetFault extends FaultTarget {
  kind: 'applied_then_reset'
}

/**
 * Damages the service's own answer; the request takes effect. `truncate`: sends half of the body, then closes the
 * connection. `stall`: sends half of the body, then nothing. `misshapen`: sends JSON with the wrong fields.
 */
export interface AnswerFault extends FaultTarget {
  kind: 'truncate' | 'stall' | 'misshapen'
}

/** Slows down the service's own answer; the request takes effect. */
export interface SlowFault extends FaultTarget {
  /** `drip`: sends single bytes. `delay`: sends the whole answer late. */
  kind: 'drip' | 'delay'
  /** Milliseconds before the answer (`delay`) or between two bytes (`drip`). @defaultValue 100 */
  delayMs?: number | undefined
}

/** Options of `service.fail`. */
export type FaultOptions =
  | StatusFault
  | GarbageFault
  | ConnectionFault
  | AppliedThenResetFault
  | AnswerFault
  | SlowFault

/** The kinds of faults. */
export type FaultKind = FaultOptions['kind']

const isCount: OptionRule = (value) => (value === Infinity ? undefined : wholeNumber(1)(value))

const isHeaders: OptionRule = (value) => {
  try {
    new Headers({ ...(value as Record<string, string>) })
    return undefined
  } catch (error) {
    return `must be headers that fetch accepts: ${(error as Error).message}`
  }
}

const isString: OptionRule = (value) =>
  typeof value === 'string' ? undefined : `must be a string, got ${typeName(value)}`

type OptionsOf<Kind extends FaultKind> = Extract<FaultOptions, { kind: Kind }>

const targetRules: OptionRules<FaultTarget> = {
  on: optional(oneOf('*', ...Object.keys(endpoints))),
  times: optional(isCount),
}
const replacementRules = { ...targetRules, applied: optional(isBoolean) }

export const FAULT_RULES: { readonly [Kind in FaultKind]: OptionRules<Omit<OptionsOf<Kind>, 'kind'>> } = {
  status: {
    ...replacementRules,
    status: optional(wholeNumber(200, 599)),
    headers: optional(isHeaders),
    body: optional(isJson),
  },
  reset: replacementRules,
  hang: replacementRules,
  garbage: { ...replacementRules, body: optional(isString) },
  applied_then_reset: targetRules,
  truncate: targetRules,
  stall: targetRules,
  misshapen: targetRules,
  drip: { ...targetRules, delayMs: optional(nonNegativeMilliseconds) },
  delay: { ...targetRules, delayMs: optional(nonNegativeMilliseconds) },
}
