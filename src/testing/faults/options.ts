import type { OperationName } from '../../endpoints/index.ts'
import { anything, type OptionRule, type OptionRules } from '../../shared/options.ts'

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

/**
 * Loses the connection without an answer (`reset`, `applied_then_reset`), or keeps it without ever answering (`hang`).
 * After `applied_then_reset` the request has taken effect.
 */
export interface ConnectionFault extends InsteadOfService {
  kind: 'reset' | 'hang' | 'applied_then_reset'
}

/**
 * Spoils the service's own answer; the request has taken effect. `truncate`: half of the body, then the connection is
 * lost. `stall`: half of the body, then nothing. `drip`: byte by byte. `delay`: complete, but late. `misshapen`: JSON
 * that is not what the interface promises.
 */
export interface AnswerFault extends FaultTarget {
  kind: 'truncate' | 'stall' | 'drip' | 'delay' | 'misshapen'
  /** `delay`: before the answer; `drip`: between two bytes. In milliseconds. Default: 100. */
  delayMs?: number | undefined
}

/** What `service.fail` takes. */
export type FaultOptions = StatusFault | GarbageFault | ConnectionFault | AnswerFault

/** The kinds of faults there are. */
export type FaultKind = FaultOptions['kind']

/** A fault that was ordered. */
export interface FaultHandle {
  /** How many requests it still waits for. */
  readonly remaining: number
  /** Takes it back. The second time it does nothing. */
  cancel(): void
}

const CONNECTION: OptionRules<ConnectionFault> = { on: anything, times: anything, kind: anything, applied: anything }
const ANSWER: OptionRules<AnswerFault> = { on: anything, times: anything, kind: anything, delayMs: anything }
const STATUS: OptionRules<StatusFault> = { ...CONNECTION, status: anything, headers: anything, body: anything }
const GARBAGE: OptionRules<GarbageFault> = { ...CONNECTION, body: anything }
/** The kinds of faults, and what each can be told. */
export const OPTIONS: { readonly [Kind in FaultKind]: Readonly<Record<string, OptionRule>> } = {
  status: STATUS,
  reset: CONNECTION,
  hang: CONNECTION,
  garbage: GARBAGE,
  applied_then_reset: CONNECTION,
  truncate: ANSWER,
  stall: ANSWER,
  drip: ANSWER,
  delay: ANSWER,
  misshapen: ANSWER,
}
