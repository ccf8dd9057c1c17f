import type { OperationName } from '../../endpoints/index.ts'
import { copyJson } from '../../shared/text/json.ts'
import { isRecord } from '../../shared/types.ts'
import { readOptionsOfKind } from '../kinds.ts'
import { FAULT_RULES, type FaultOptions } from './options.ts'
import { type FaultPlan, planFault } from './plan.ts'

/** A fault that was ordered, and how much of it has been met. */
export interface FaultRecord {
  /** ID of the fault. */
  readonly id: string
  /** What was ordered, copied. */
  readonly options: FaultOptions
  /** How many requests have met it. */
  readonly used: number
  /** How many requests it still waits for; 0 once it is used up or taken back. */
  readonly remaining: number
}

/** A fault that was ordered. It goes on showing how much of it has been met. */
export interface FaultHandle extends FaultRecord {
  /** Takes it back. The second time it does nothing. */
  cancel(): void
}

/** What happened to a fault. */
export type FaultChange = 'ordered' | 'used' | 'cancelled'

interface QueuedFault {
  readonly on: OperationName | '*'
  readonly plan: FaultPlan
  readonly handle: FaultHandle
  used: number
  remaining: number
}

/** The faults that wait for a request, first come, first served. */
export class FaultQueue {
  readonly #onChange: (change: FaultChange, fault: FaultRecord) => void
  #queue: QueuedFault[] = []
  #count = 0

  constructor(onChange: (change: FaultChange, fault: FaultRecord) => void) {
    this.#onChange = onChange
  }

  /** @throws TypeError or RangeError when an option is wrong, saying which. */
  add(given: FaultOptions): FaultHandle {
    const options = readOptionsOfKind('fail', given, FAULT_RULES)
    const { on = '*', times = 1 } = options
    const handle: FaultHandle = {
      id: `fault_${++this.#count}`,
      options: ordered(options),
      get used() {
        return fault.used
      },
      get remaining() {
        return fault.remaining
      },
      cancel: () => this.#cancel(fault),
    }
    const fault: QueuedFault = { on, plan: planFault(options), handle, used: 0, remaining: times }
    this.#queue.push(fault)
    this.#onChange('ordered', handle)
    return handle
  }

  /** The fault for this request, if one waits for it. It is used up by this. */
  take(operation: OperationName | undefined): FaultPlan | undefined {
    const fault = this.#queue.find(({ on }) => on === '*' || on === operation)
    if (!fault) return undefined
    fault.used++
    fault.remaining--
    if (fault.remaining === 0) this.#drop(fault)
    this.#onChange('used', fault.handle)
    return fault.plan
  }

  /** Those that wait for a request, in their order. */
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

  #drop(fault: QueuedFault): void {
    this.#queue = this.#queue.filter((queued) => queued !== fault)
  }
}

/** What was said, and headers and body as they are now. */
function ordered(options: FaultOptions): FaultOptions {
  const said = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(said.map(([name, value]) => [name, isRecord(value) ? copyJson(value) : value])) as never
}

/** The fault as it is now, in a copy that does not change with it. */
export const describeFault = ({ id, options, used, remaining }: FaultRecord): FaultRecord => ({
  id,
  options: structuredClone(options),
  used,
  remaining,
})
