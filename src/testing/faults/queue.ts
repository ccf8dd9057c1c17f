import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { requireOptions } from '../../shared/options.ts'
import { type FaultHandle, type FaultOptions, OPTIONS } from './options.ts'
import { type FaultPlan, planFault } from './plan.ts'

interface QueuedFault {
  readonly on: OperationName | '*'
  readonly plan: FaultPlan
  remaining: number
}

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
