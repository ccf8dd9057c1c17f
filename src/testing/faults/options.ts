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
  /** The operation that fails: the name of a method of the client, or `'*'` for any request. Default: `'*'`. */
  on?: OperationName | '*' | undefined
  /** How many requests fail: a positive integer or `Infinity`. Default: 1. */
  times?: number | undefined
}

/** The connection fails or answers instead of the service. */
interface InsteadOfService extends FaultTarget {
  /** Whether the request took effect all the same, before things went wrong. Default: false. */
  applied?: boolean | undefined
}

/** Answers with a status of your choice. */
export interface StatusFault extends InsteadOfService {
  kind: 'status'
  /** 200 to 599. Default: 500. */
  status?: number | undefined
  /** Headers of the answer, `Retry-After` for instance. Default: the `Content-Type` that fits the body. */
  headers?: Readonly<Record<string, string>> | undefined
  /** The body: a string as it is, anything else as JSON. Default: the standard error envelope with that status. */
  body?: unknown
}

/** Answers 200 with something that is not JSON. */
export interface GarbageFault extends InsteadOfService {
  kind: 'garbage'
  /** The body. Default: an HTML page. */
  body?: string | undefined
}

/** Loses the connection without an answer (`reset`), or keeps it without ever answering (`hang`). */
export interface ConnectionFault extends InsteadOfService {
  kind: 'reset' | 'hang'
}

/** Loses the connection after the request has taken effect: `reset` with `applied`, under a name of its own. */
export interface AppliedThenResetFault extends FaultTarget {
  kind: 'applied_then_reset'
}

/**
 * Spoils the service's own answer; the request has taken effect. `truncate`: half of the body, then the connection is
 * lost. `stall`: half of the body, then nothing. `misshapen`: JSON that is not what the interface promises.
 */
export interface AnswerFault extends FaultTarget {
  kind: 'truncate' | 'stall' | 'misshapen'
}

/** Slows the service's own answer down; the request has taken effect. */
export interface SlowFault extends FaultTarget {
  /** `drip`: byte by byte. `delay`: complete, but late. */
  kind: 'drip' | 'delay'
  /** `delay`: before the answer; `drip`: between two bytes. In milliseconds. Default: 100. */
  delayMs?: number | undefined
}

/** What `service.fail` takes. */
export type FaultOptions =
  | StatusFault
  | GarbageFault
  | ConnectionFault
  | AppliedThenResetFault
  | AnswerFault
  | SlowFault

/** The kinds of faults there are. */
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

/** The kinds of faults, and what each can be told. */
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
