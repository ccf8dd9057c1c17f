import { endpoints, type OperationName } from '../../endpoints.ts'
import { anything, type OptionRule, type OptionRules, requireOptions } from '../../shared/options.ts'
import { standardError } from '../http/refusal.ts'
import { isBodyless, type ServiceAnswer } from '../http/message.ts'

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

/** How an answer gets to the client. */
export type Transmission = 'whole' | 'truncated' | 'stalled' | 'dripped'

/** What a fault makes of a request. */
export interface FaultPlan {
  readonly kind: FaultKind
  /** Whether the service handles the request. */
  readonly handle: boolean
  /** The client's view; the answer is the service's own, where it handled the request, or undefined. */
  present(answer: ServiceAnswer | undefined, operation: OperationName | undefined): FaultOutcome
}

/** What the client gets to see. */
export type FaultOutcome =
  | { readonly kind: 'lost' }
  | { readonly kind: 'silent' }
  | {
      readonly kind: 'answer'
      readonly answer: ServiceAnswer
      readonly transmission: Transmission
      readonly delayMs: number
    }

export const answered = (answer: ServiceAnswer, transmission: Transmission = 'whole', delayMs = 0): FaultOutcome => ({
  kind: 'answer',
  answer,
  transmission,
  delayMs,
})

interface QueuedFault {
  readonly on: OperationName | '*'
  readonly plan: FaultPlan
  remaining: number
}

const CONNECTION: OptionRules<ConnectionFault> = { on: anything, times: anything, kind: anything, applied: anything }
const ANSWER: OptionRules<AnswerFault> = { on: anything, times: anything, kind: anything, delayMs: anything }
const STATUS: OptionRules<StatusFault> = { ...CONNECTION, status: anything, headers: anything, body: anything }
const GARBAGE: OptionRules<GarbageFault> = { ...CONNECTION, body: anything }
/** The kinds of faults, and what each can be told. */
const OPTIONS: { readonly [Kind in FaultKind]: Readonly<Record<string, OptionRule>> } = {
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
const HTML = '<!doctype html><html><body><h1>Something went wrong</h1></body></html>\n'
const DEFAULT_DELAY_MS = 100

/** The faults that wait for a request, first come, first served. */
export class FaultQueue {
  #queue: QueuedFault[] = []

  /** @throws TypeError when an option is wrong, saying which. */
  add(options: FaultOptions): FaultHandle {
    if (!Object.hasOwn(OPTIONS, options?.kind)) {
      throw new TypeError(`fail: kind must be one of ${Object.keys(OPTIONS).join(', ')}`)
    }
    requireOptions(`fail of kind ${options.kind}`, options, OPTIONS[options.kind])
    const { on = '*', times = 1 } = options
    if (on !== '*' && !Object.hasOwn(endpoints, on)) {
      throw new TypeError(`fail: on must be '*' or one of ${Object.keys(endpoints).join(', ')}`)
    }
    if (times !== Infinity && !(Number.isInteger(times) && times > 0)) {
      throw new TypeError('fail: times must be a positive integer or Infinity')
    }
    const fault: QueuedFault = { on, plan: planFault(options), remaining: times }
    this.#queue.push(fault)
    return {
      get remaining() {
        return fault.remaining
      },
      cancel: () => {
        fault.remaining = 0
        this.#drop(fault)
      },
    }
  }

  /** The fault for this request, if one waits for it. It is used up by this. */
  take(operation: OperationName | undefined): FaultPlan | undefined {
    const fault = this.#queue.find(({ on }) => on === '*' || on === operation)
    if (!fault) return undefined
    fault.remaining--
    if (fault.remaining === 0) this.#drop(fault)
    return fault.plan
  }

  clear(): void {
    for (const fault of this.#queue) fault.remaining = 0
    this.#queue = []
  }

  #drop(fault: QueuedFault): void {
    this.#queue = this.#queue.filter((queued) => queued !== fault)
  }
}

function planFault(options: FaultOptions): FaultPlan {
  const { kind } = options
  switch (kind) {
    case 'status': {
      const answer = statusAnswer(options)
      return { kind, handle: options.applied ?? false, present: () => answered(answer) }
    }
    case 'garbage': {
      const { body = HTML } = options
      if (typeof body !== 'string') throw new TypeError('fail: the body of garbage must be a string')
      const answer = { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body }
      return { kind, handle: options.applied ?? false, present: () => answered(answer) }
    }
    case 'reset':
      return { kind, handle: options.applied ?? false, present: () => ({ kind: 'lost' }) }
    case 'applied_then_reset':
      return { kind, handle: true, present: () => ({ kind: 'lost' }) }
    case 'hang':
      return { kind, handle: options.applied ?? false, present: () => ({ kind: 'silent' }) }
    case 'truncate':
      return spoil(kind, (answer) => answered(answer, 'truncated'))
    case 'stall':
      return spoil(kind, (answer) => answered(answer, 'stalled'))
    case 'drip': {
      const delayMs = readDelay(options)
      return spoil(kind, (answer) => answered(answer, 'dripped', delayMs))
    }
    case 'delay': {
      const delayMs = readDelay(options)
      return spoil(kind, (answer) => answered(answer, 'whole', delayMs))
    }
    case 'misshapen':
      return spoil(kind, (answer, operation) => answered({ ...answer, status: 200, body: misshapenBody(operation) }))
  }
}

const spoil = (
  kind: FaultKind,
  change: (answer: ServiceAnswer, operation: OperationName | undefined) => FaultOutcome,
): FaultPlan => ({
  kind,
  handle: true,
  present: (answer, operation) => change(answer as ServiceAnswer, operation),
})

function statusAnswer({ status = 500, headers = {}, body }: StatusFault): ServiceAnswer {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new TypeError('fail: status must be an integer from 200 to 599')
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body === undefined ? standardError(status) : body)
  if (text === undefined) throw new TypeError('fail: body must be a string or something that JSON can hold')
  const type = typeof body !== 'string' ? 'application/json' : /^\s*</.test(body) ? 'text/html' : 'text/plain'
  // Headers checks names and values, and makes them comparable.
  const named = new Headers({ ...headers })
  if (isBodyless(status)) return { status, headers: Object.fromEntries(named), body: '' }
  if (!named.has('content-type')) named.set('content-type', `${type}; charset=utf-8`)
  return { status, headers: Object.fromEntries(named), body: text }
}

function readDelay({ delayMs = DEFAULT_DELAY_MS }: AnswerFault): number {
  if (!Number.isFinite(delayMs) || delayMs < 0) throw new TypeError('fail: delayMs must be at least 0 milliseconds')
  return delayMs
}

const misshapenBody = (operation: OperationName | undefined): string =>
  JSON.stringify(
    operation !== undefined && endpoints[operation].response !== undefined
      ? { success: true, data: 'not what was promised' }
      : { result: 'no envelope' },
  )
