import type { OperationName } from '../../endpoints/index.ts'
import { copyJson } from '../../shared/text.ts'
import { readOptionsOfKind } from '../option-readers.ts'
import { type DeliveredMessage, isAffected } from './delivery-fault.ts'
import { type FaultPlan, planFault } from './fault-effect.ts'
import { DELIVERY_FAULT_RULES, type DeliveryFaultOptions, FAULT_RULES, type FaultOptions } from './fault-options.ts'

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

/** A fault with the current values of `used` and `remaining`. */
export interface FaultHandle extends FaultRecord {
  /** Cancels the fault. A second call does nothing. */
  cancel(): void
}

/** How a fault changed. */
export type FaultChange = 'ordered' | 'used' | 'cancelled'

/** What a fault changes: requests have a plan, deliveries have the options. */
type Effect =
  | { readonly on: OperationName | '*'; readonly plan: FaultPlan }
  | { readonly on: 'delivery'; readonly delivery: DeliveryFaultOptions }

interface QueuedFault {
  readonly effect: Effect
  readonly handle: FaultHandle
  used: number
  remaining: number
}

/** The faults of future requests and deliveries, oldest first. */
export class FaultQueue {
  readonly #onChange: (change: FaultChange, fault: FaultRecord) => void
  #queue: QueuedFault[] = []
  #count = 0

  constructor(onChange: (change: FaultChange, fault: FaultRecord) => void) {
    this.#onChange = onChange
  }

  /** @throws TypeError or RangeError when an option is wrong */
  add(given: FaultOptions): FaultHandle {
    const options: FaultOptions = isOfDelivery(given)
      ? readOptionsOfKind('fail on delivery', given, DELIVERY_FAULT_RULES)
      : readOptionsOfKind('fail', given, FAULT_RULES)
    const { times = 1 } = options
    const handle: FaultHandle = {
      id: `fault_${++this.#count}`,
      // JSON has no Infinity.
      options: { ...copyJson(options), ...(times === Infinity && { times }) },
      get used() {
        return fault.used
      },
      get remaining() {
        return fault.remaining
      },
      cancel: () => this.#cancel(fault),
    }
    const effect: Effect = isOfDelivery(options)
      ? { on: 'delivery', delivery: options }
      : { on: options.on ?? '*', plan: planFault(options) }
    const fault: QueuedFault = { effect, handle, used: 0, remaining: times }
    this.#queue.push(fault)
    this.#onChange('ordered', handle)
    return handle
  }

  /** Uses the first fault that matches the operation, if any. */
  take(operation: OperationName | undefined): FaultPlan | undefined {
    for (const fault of this.#queue) {
      const { effect } = fault
      if (effect.on === 'delivery' || (effect.on !== '*' && effect.on !== operation)) continue
      this.#use(fault)
      return effect.plan
    }
    return undefined
  }

  /**
   * Uses the first fault that affects a delivery attempt of the message, if any.
   *
   * @param isOvertaking - whether `reorder` holds another message until this one has been sent; then it does not hold this one
   */
  takeForDelivery(message: () => DeliveredMessage, isOvertaking: boolean): DeliveryFaultOptions | undefined {
    let parsed: DeliveredMessage | undefined
    for (const fault of this.#queue) {
      const { effect } = fault
      if (effect.on !== 'delivery' || (isOvertaking && effect.delivery.kind === 'reorder')) continue
      parsed ??= message()
      if (!isAffected(parsed, effect.delivery)) continue
      this.#use(fault)
      return effect.delivery
    }
    return undefined
  }

  handles(): readonly FaultHandle[] {
    return this.#queue.map(({ handle }) => handle)
  }

  clear(): void {
    for (const fault of this.#queue) fault.remaining = 0
    this.#queue = []
  }

  #cancel(fault: QueuedFault): void {
    if (fault.remaining === 0) return
    fault.remaining = 0
    this.#drop(fault)
    this.#onChange('cancelled', fault.handle)
  }

  #use(fault: QueuedFault): void {
    fault.used++
    fault.remaining--
    if (fault.remaining === 0) this.#drop(fault)
    this.#onChange('used', fault.handle)
  }

  #drop(fault: QueuedFault): void {
    this.#queue = this.#queue.filter((queued) => queued !== fault)
  }
}

const isOfDelivery = (options: FaultOptions): options is DeliveryFaultOptions => options?.on === 'delivery'

/** Returns a copy of the fault's current state. */
export const describeFault = ({ id, options, used, remaining }: FaultRecord): FaultRecord => ({
  id,
  options: structuredClone(options),
  used,
  remaining,
})
