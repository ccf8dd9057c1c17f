import { endpoints, type OperationName } from '../../endpoints/index.ts'
import {
  dictionary,
  mustBeBoolean,
  mustBeJson,
  nonNegativeMilliseconds,
  type OptionRule,
  type OptionRules,
  oneOf,
  optional,
  wholeNumber,
  withCopy,
} from '../../errors/option-checks.ts'
import { typeName } from '../../shared/type-checks.ts'
import { mustBeIdentifier, type RulesByKind } from '../option-readers.ts'

interface FaultCount {
  /** How many requests or delivery attempts fail: a positive integer or `Infinity`. @defaultValue 1 */
  times?: number | undefined
}

interface FaultTarget extends FaultCount {
  /** The operation that fails: the name of a client method, or `'*'` for any request. @defaultValue `'*'` */
  on?: OperationName | '*' | undefined
}

/** A fault that replaces the service's own response. */
interface ReplacementFault extends FaultTarget {
  /** Whether the request takes effect before it fails. @defaultValue false */
  applied?: boolean | undefined
}

/** Responds with the given status. */
export interface StatusFault extends ReplacementFault {
  /** Identifies the type of the fault. */
  kind: 'status'
  /** 200 to 599. @defaultValue 500 */
  status?: number | undefined
  /** Headers of the response, for example `Retry-After`. @defaultValue a `Content-Type` for the body */
  headers?: Readonly<Record<string, string>> | undefined
  /** The body: a string is sent unchanged, other values as JSON. @defaultValue the standard error envelope */
  body?: unknown
}

/** Responds with 200 and a body that is not JSON. */
export interface GarbageFault extends ReplacementFault {
  /** Identifies the type of the fault. */
  kind: 'garbage'
  /** The body. @defaultValue an HTML page */
  body?: string | undefined
}

/** `reset`: closes the connection without a response. `hang`: keeps the connection open without a response. */
export interface ConnectionFault extends ReplacementFault {
  /** Identifies the type of the fault. */
  kind: 'reset' | 'hang'
}

/** Closes the connection after the request has taken effect: short for `reset` with `applied: true`. */
export interface AppliedThenResetFault extends FaultTarget {
  /** Identifies the type of the fault. */
  kind: 'applied_then_reset'
}

/**
 * Damages the service's own response; the request takes effect. `truncate`: sends half of the body, then closes the
 * connection. `stall`: sends half of the body, then nothing. `misshapen`: sends JSON with the wrong fields.
 */
export interface ResponseFault extends FaultTarget {
  /** Identifies the type of the fault. */
  kind: 'truncate' | 'stall' | 'misshapen'
}

/** Slows down the service's own response; the request takes effect. */
export interface SlowFault extends FaultTarget {
  /** `drip`: sends single bytes. `delay`: sends the whole response late. */
  kind: 'drip' | 'delay'
  /**
   * Milliseconds before the response (`delay`) or between two bytes (`drip`), on the service's clock. A manual clock must be
   * moved.
   *
   * @defaultValue 100
   */
  delayMs?: number | undefined
}

interface DeliveryTarget extends FaultCount {
  /** Attempts to deliver a webhook message fail. */
  on: 'delivery'
  /** Only messages with this `scope`. @defaultValue any scope */
  scope?: string | undefined
  /** Only messages whose event has this `type`. @defaultValue any type */
  type?: string | undefined
}

/**
 * A fault of a delivery attempt. A retry of the message is sent as documented, unless another fault affects it.
 * `duplicate`: sends the message again, with the same `id`, after the first response. `reorder`: holds the message until
 * the next message to the same URL has been sent, or for 5 s. `bad_signature`: sends a signature that does not match.
 */
export interface DeliveryFault extends DeliveryTarget {
  /** Identifies the type of the fault. */
  kind: 'duplicate' | 'reorder' | 'bad_signature'
}

/** Delivers a webhook message late. */
export interface DelayedDeliveryFault extends DeliveryTarget {
  /** Identifies the type of the fault. */
  kind: 'delay'
  /** Milliseconds before the attempt, on the service's clock. @defaultValue 100 */
  delayMs?: number | undefined
}

/** Leaves a field out of a webhook message and signs the rest. Messages without the field are not affected. */
export interface MissingFieldFault extends DeliveryTarget {
  /** Identifies the type of the fault. */
  kind: 'missing_field'
  /** Path of the field, for example `event.data.xp`. */
  field: string
}

/** Faults of requests. */
export type RequestFaultOptions =
  | StatusFault
  | GarbageFault
  | ConnectionFault
  | AppliedThenResetFault
  | ResponseFault
  | SlowFault

/** Faults of webhook deliveries. */
export type DeliveryFaultOptions = DeliveryFault | DelayedDeliveryFault | MissingFieldFault

/** Options of `service.fail`. */
export type FaultOptions = RequestFaultOptions | DeliveryFaultOptions

/** A fault, and how often it was used. */
export interface FaultRecord {
  /** ID of the fault. */
  readonly id: string
  /** A copy of the options. */
  readonly options: FaultOptions
  /** How many requests or delivery attempts the fault has affected. */
  readonly used: number
  /** How many more it will affect; 0 when it is used up or cancelled. */
  readonly remaining: number
}

/** How a fault changed. */
export type FaultChange = 'ordered' | 'used' | 'cancelled'

/** The kinds of request faults. */
export type FaultKind = RequestFaultOptions['kind']

/** The kinds of delivery faults. */
export type DeliveryFaultKind = DeliveryFaultOptions['kind']

const mustBeCount: OptionRule = (value) => (value === Infinity ? undefined : wholeNumber(1)(value))

const eachHeader = dictionary((value) =>
  typeof value === 'string' ? undefined : `must be a string, got ${typeName(value)}`,
)

const mustBeHeaders: OptionRule = withCopy((value) => {
  const issues = eachHeader(value)
  if (issues === undefined || issues.length > 0) return issues
  try {
    new Headers(value as Record<string, string>)
    return undefined
  } catch (error) {
    return `must be headers that fetch accepts: ${(error as Error).message}`
  }
}, eachHeader.copy)

const mustBeString: OptionRule = (value) =>
  typeof value === 'string' ? undefined : `must be a string, got ${typeName(value)}`

const targetRules: OptionRules<FaultTarget> = {
  on: optional(oneOf('*', ...Object.keys(endpoints), 'delivery')),
  times: optional(mustBeCount),
}
const replacementRules = { ...targetRules, applied: optional(mustBeBoolean) }

export const FAULT_RULES: RulesByKind<RequestFaultOptions> = {
  status: {
    ...replacementRules,
    status: optional(wholeNumber(200, 599)),
    headers: optional(mustBeHeaders),
    body: optional(mustBeJson),
  },
  reset: replacementRules,
  hang: replacementRules,
  garbage: { ...replacementRules, body: optional(mustBeString) },
  applied_then_reset: targetRules,
  truncate: targetRules,
  stall: targetRules,
  misshapen: targetRules,
  drip: { ...targetRules, delayMs: optional(nonNegativeMilliseconds) },
  delay: { ...targetRules, delayMs: optional(nonNegativeMilliseconds) },
}

const deliveryRules: OptionRules<DeliveryTarget> = {
  on: oneOf('delivery'),
  times: optional(mustBeCount),
  scope: optional(mustBeIdentifier),
  type: optional(mustBeIdentifier),
}

export const DELIVERY_FAULT_RULES: RulesByKind<DeliveryFaultOptions> = {
  delay: { ...deliveryRules, delayMs: optional(nonNegativeMilliseconds) },
  duplicate: deliveryRules,
  reorder: deliveryRules,
  bad_signature: deliveryRules,
  missing_field: { ...deliveryRules, field: mustBeIdentifier },
}
