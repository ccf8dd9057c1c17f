import { callHook } from '../shared/call-hook.ts'
import { isFunction, requireOptions } from '../shared/options.ts'
import type { ServiceClock } from './clock/service-clock.ts'
import type { ServiceEvent } from './service-event.ts'

type Listener = (event: ServiceEvent) => void

/** Passes events to listeners, in order. */
export class Subscribers {
  readonly #listeners = new Set<{ readonly listener: Listener }>()
  readonly #events: ServiceEvent[] = []
  readonly #clock: ServiceClock
  #isTelling = false
  #stopWatchingClock: (() => void) | undefined

  constructor(clock: ServiceClock) {
    this.#clock = clock
  }

  /**
   * @returns a function that ends the subscription
   * @throws TypeError when `listener` is not a function
   */
  add(listener: Listener): () => void {
    requireOptions('subscribe', { listener }, { listener: isFunction })
    const entry = { listener }
    this.#listeners.add(entry)
    this.#watchClock()
    return () => {
      this.#listeners.delete(entry)
      this.#watchClock()
    }
  }

  /** Passes an event to every listener. An event that a listener causes is passed on after the current one. */
  tell(event: () => ServiceEvent): void {
    if (this.#listeners.size === 0) return
    this.#events.push(event())
    if (this.#isTelling) return
    this.#isTelling = true
    for (let next = this.#events.shift(); next; next = this.#events.shift()) this.#tellAll(next)
    this.#isTelling = false
  }

  /** Watches the clock only while there are listeners: a clock may outlive many services. */
  #watchClock(): void {
    if (this.#listeners.size === 0) {
      this.#stopWatchingClock?.()
      this.#stopWatchingClock = undefined
    } else {
      this.#stopWatchingClock ??= this.#clock.onMove?.(() => {
        this.tell(() => ({ kind: 'clock_moved', at: this.#clock.now() }))
      })
    }
  }

  #tellAll(event: ServiceEvent): void {
    for (const entry of [...this.#listeners]) {
      // An earlier listener may have ended this subscription.
      if (this.#listeners.has(entry)) callHook(() => entry.listener(event), throwLater)
    }
  }
}

/** A failed assertion in a listener must fail the test without disturbing the service. */
function throwLater(reason: unknown): void {
  queueMicrotask(() => {
    throw reason
  })
}
