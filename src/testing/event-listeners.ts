import { callHook } from '../shared/call-hook.ts'
import { mustBeFunction, readOptions } from '../shared/option-checks.ts'
import type { ServiceClock } from './clock/service-clock.ts'
import type { ServiceEvent } from './service-event.ts'

type Listener = (event: ServiceEvent) => void

/** The listeners of `service.subscribe`. */
export class EventListeners {
  readonly #subscriptions = new Set<{ readonly listener: Listener }>()
  readonly #queue: ServiceEvent[] = []
  readonly #clock: ServiceClock
  #isEmitting = false
  #stopWatchingClock: (() => void) | undefined

  constructor(clock: ServiceClock) {
    this.#clock = clock
  }

  /**
   * @returns a function that ends the subscription
   * @throws TypeError when `listener` is not a function
   */
  add(listener: Listener): () => void {
    readOptions('subscribe', { listener }, { listener: mustBeFunction })
    const subscription = { listener }
    this.#subscriptions.add(subscription)
    this.#watchClock()
    return () => {
      this.#subscriptions.delete(subscription)
      this.#watchClock()
    }
  }

  /** Calls every listener. If a listener causes another event, all listeners receive the current event first. */
  emit(event: () => ServiceEvent): void {
    if (this.#subscriptions.size === 0) return
    this.#queue.push(event())
    if (this.#isEmitting) return
    this.#isEmitting = true
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) this.#callListeners(next)
    this.#isEmitting = false
  }

  /** Watches the clock only while there are listeners: a clock may outlive many services. */
  #watchClock(): void {
    if (this.#subscriptions.size === 0) {
      this.#stopWatchingClock?.()
      this.#stopWatchingClock = undefined
    } else {
      this.#stopWatchingClock ??= this.#clock.onMove?.(() => {
        this.emit(() => ({ kind: 'clock_moved', at: this.#clock.now() }))
      })
    }
  }

  #callListeners(event: ServiceEvent): void {
    for (const subscription of [...this.#subscriptions]) {
      // An earlier listener may have ended this subscription.
      if (this.#subscriptions.has(subscription)) callHook(() => subscription.listener(event), throwLater)
    }
  }
}

/** A failed assertion in a listener must fail the test without affecting the service. */
function throwLater(reason: unknown): void {
  queueMicrotask(() => {
    throw reason
  })
}
