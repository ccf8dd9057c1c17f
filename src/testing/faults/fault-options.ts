import * as z from 'zod/mini'
import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { mustBeJson, nonNegativeMilliseconds, type OptionRule, oneOf, wholeNumber } from '../../errors/option-checks.ts'
import { identifier } from '../../schemas/fields.ts'
import { MAX_TIMER_MS } from '../../shared/timers.ts'
import { byRule, saying, schemasByKind } from '../option-readers.ts'

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

const mustBeHeaders: OptionRule = (value) => {
  try {
    new Headers(value as Record<string, string>)
    return undefined
  } catch (error) {
    return `must be headers that fetch accepts: ${(error as Error).message}`
  }
}

const OPERATIONS = Object.keys(endpoints) as OperationName[]
const COUNT = saying(wholeNumber(1))
const STATUS = saying(wholeNumber(200, 599))
const DELAY = saying(nonNegativeMilliseconds)

/** The options that `/control/addFault` takes as well. */
export const faultFields = {
  times: z.int(COUNT).check(z.gte(1, COUNT)),
  applied: z.boolean(),
  status: z.int(STATUS).check(z.gte(200, STATUS), z.lte(599, STATUS)),
  headers: z
    .record(z.string(), z.string())
    .check(z.refine((value) => mustBeHeaders(value) === undefined, saying(mustBeHeaders))),
  delayMs: z.number(DELAY).check(z.gte(0, DELAY), z.lte(MAX_TIMER_MS, DELAY)),
}

const times = z.optional(byRule<number>((value) => (value === Infinity ? undefined : wholeNumber(1)(value))))
const ofRequest = {
  on: z.optional(z.enum(['*', ...OPERATIONS], saying(oneOf('*', ...OPERATIONS, 'delivery')))),
  times,
}
const replacement = { ...ofRequest, applied: z.optional(faultFields.applied) }
const delayMs = z.optional(faultFields.delayMs)

/** The options of each kind of fault of a request. */
export const REQUEST_FAULTS = schemasByKind<RequestFaultOptions>({
  status: {
    ...replacement,
    status: z.optional(faultFields.status),
    headers: z.optional(faultFields.headers),
    body: z.optional(byRule(mustBeJson)),
  },
  reset: replacement,
  hang: replacement,
  garbage: { ...replacement, body: z.optional(z.string()) },
  applied_then_reset: ofRequest,
  truncate: ofRequest,
  stall: ofRequest,
  misshapen: ofRequest,
  drip: { ...ofRequest, delayMs },
  delay: { ...ofRequest, delayMs },
})

const ofDelivery = {
  on: z.literal('delivery'),
  times,
  scope: z.optional(identifier),
  type: z.optional(identifier),
}

/** The options of each kind of fault of a delivery. */
export const DELIVERY_FAULTS = schemasByKind<DeliveryFaultOptions>({
  delay: { ...ofDelivery, delayMs },
  duplicate: ofDelivery,
  reorder: ofDelivery,
  bad_signature: ofDelivery,
  missing_field: { ...ofDelivery, field: identifier },
})
