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
} from '../../shared/options.ts'
import { typeName } from '../../shared/types.ts'

interface FaultTarget {
  /** The operation that fails: the name of a client method, or `'*'` for any request. @defaultValue `'*'` */
  on?: OperationName | '*' | undefined
  /** How many requests fail: a positive integer or `Infinity`. @defaultValue 1 */
  times?: number | undefined
}

/** A fault that answers, or loses the connection, in place of the service. */
interface InsteadOfService extends FaultTarget {
  /** Whether the request takes effect before it fails. @defaultValue false */
  applied?: boolean | undefined
}

/** Answers with a chosen status. */
export interface StatusFault extends InsteadOfService {
  kind: 'status'
  /** 200 to 599. @defaultValue 500 */
  status?: number | undefined
  /** Headers of the answer, for example `Retry-After`. @defaultValue the `Content-Type` that fits the body */
  headers?: Readonly<Record<string, string>> | undefined
  /** The body: a string is sent as it is, other values as JSON. @defaultValue the standard error envelope */
  body?: unknown
}

/** Answers 200 with a body that is not JSON. */
export interface GarbageFault extends InsteadOfService {
  kind: 'garbage'
  /** The body. @defaultValue an HTML page */
  body?: string | undefined
}

/** Loses the connection without an answer (`reset`), or keeps it open without an answer (`hang`). */
export interface ConnectionFault extends InsteadOfService {
  kind: 'reset' | 'hang'
}

/** Loses the connection after the request has taken effect: short for `reset` with `applied: true`. */
export interface AppliedThenResetFault extends FaultTarget {
  kind: 'applied_then_reset'
}

/**
 * Damages the service's own answer; the request takes effect. `truncate`: half of the body, then the connection is
 * lost. `stall`: half of the body, then nothing. `misshapen`: JSON of a shape that the interface does not promise.
 */
export interface AnswerFault extends FaultTarget {
  kind: 'truncate' | 'stall' | 'misshapen'
}

/** Slows down the service's own answer; the request takes effect. */
export interface SlowFault extends FaultTarget {
  /** `drip`: byte by byte. `delay`: late, but in one piece. */
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

const areTimes: OptionRule = (value) => (value === Infinity ? undefined : wholeNumber(1)(value))

const areHeaders: OptionRule = (value) => {
  try {
    // Headers checks names and values.
    new Headers({ ...(value as Record<string, string>) })
    return undefined
  } catch (error) {
    return `must be headers that fetch takes: ${(error as Error).message}`
  }
}

const isString: OptionRule = (value) =>
  typeof value === 'string' ? undefined : `must be a string, got ${typeName(value)}`

type OptionsOf<Kind extends FaultKind> = Extract<FaultOptions, { kind: Kind }>

const target: OptionRules<FaultTarget> = {
  on: optional(oneOf('*', ...Object.keys(endpoints))),
  times: optional(areTimes),
}
const instead = { ...target, applied: optional(isBoolean) }

/** The kinds of faults, with the options of each. */
export const FAULT_RULES: { readonly [Kind in FaultKind]: OptionRules<Omit<OptionsOf<Kind>, 'kind'>> } = {
  status: {
    ...instead,
    status: optional(wholeNumber(200, 599)),
    headers: optional(areHeaders),
    body: optional(isJson),
  },
  reset: instead,
  hang: instead,
  garbage: { ...instead, body: optional(isString) },
  applied_then_reset: target,
  truncate: target,
  stall: target,
  misshapen: target,
  drip: { ...target, delayMs: optional(nonNegativeMilliseconds) },
  delay: { ...target, delayMs: optional(nonNegativeMilliseconds) },
}
