import type { OperationName } from '../../endpoints/index.ts'
import { copyJson } from '../../shared/text.ts'
import type { EventListeners } from '../events.ts'
import { copyOfKind, readOptionsOfKind } from '../option-readers.ts'
import { isAffected } from './delivery-faults.ts'
import {
  DELIVERY_FAULT_RULES,
  type DeliveryFaultOptions,
  FAULT_RULES,
  type FaultChange,
  type FaultOptions,
  type FaultRecord,
  type RequestFaultOptions,
} from './fault-options.ts'

/** A fault with the current values of `used` and `remaining`. */
export interface FaultHandle extends FaultRecord {
  /** Cancels the fault. A second call does nothing. */
  cancel(): void
}

interface QueuedFault {
  readonly options: FaultOptions
  readonly handle: FaultHandle
  used: number
  remaining: number
}

/** The faults of future requests and deliveries, oldest first. */
export class FaultQueue {
  readonly #events: EventListeners
  #queue: QueuedFault[] = []
  #count = 0

  constructor(events: EventListeners) {
    this.#events = events
  }

  add(given: FaultOptions): FaultHandle {
    const own = copyOfKind(given, FAULT_RULES, DELIVERY_FAULT_RULES)
    const read: FaultOptions = isOfDelivery(own)
      ? readOptionsOfKind('fail on delivery', own, DELIVERY_FAULT_RULES)
      : readOptionsOfKind('fail', own, FAULT_RULES)
    const { times = 1 } = read
    // JSON has no Infinity.
    const options = { ...copyJson(read), ...(times === Infinity && { times }) }
    const handle: FaultHandle = {
      id: `fault_${++this.#count}`,
      get options() {
        return structuredClone(options)
      },
      get used() {
        return fault.used
      },
      get remaining() {
        return fault.remaining
      },
      cancel: () => this.#cancel(fault),
    }
    const fault: QueuedFault = { options, handle, used: 0, remaining: times }
    this.#queue.push(fault)
    this.#reportChange('ordered', fault)
    return handle
  }

  /** Uses the first fault that matches the operation, if any. */
  take(operation: OperationName | undefined): RequestFaultOptions | undefined {
    for (const fault of this.#queue) {
      const { options } = fault
      if (isOfDelivery(options)) continue
      const { on = '*' } = options
      if (on !== '*' && on !== operation) continue
      this.#use(fault)
      return options
    }
    return undefined
  }

  /**
   * Uses the first fault that affects a delivery attempt, if any.
   *
   * @param body - the message, as JSON
   * @param isOvertaking - whether `reorder` holds another message to the same URL until this one is sent. If so, `reorder`
   *   faults are skipped
   */
  takeForDelivery(body: string, isOvertaking: boolean): DeliveryFaultOptions | undefined {
    let message: Readonly<Record<string, unknown>> | undefined
    for (const fault of this.#queue) {
      const { options } = fault
      if (!isOfDelivery(options) || (isOvertaking && options.kind === 'reorder')) continue
      message ??= JSON.parse(body) as Record<string, unknown>
      if (!isAffected(message, options)) continue
      this.#use(fault)
      return options
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
    this.#reportChange('cancelled', fault)
  }

  #use(fault: QueuedFault): void {
    fault.used++
    fault.remaining--
    if (fault.remaining === 0) this.#drop(fault)
    this.#reportChange('used', fault)
  }

  #drop(fault: QueuedFault): void {
    this.#queue = this.#queue.filter((queued) => queued !== fault)
  }

  #reportChange(change: FaultChange, { handle }: QueuedFault): void {
    this.#events.emit(() => {
      const { id, options, used, remaining } = handle
      return { kind: 'fault_changed', change, fault: { id, options, used, remaining } }
    })
  }
}

const isOfDelivery = (options: FaultOptions): options is DeliveryFaultOptions => options?.on === 'delivery'
